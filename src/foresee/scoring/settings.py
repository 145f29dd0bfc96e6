"""The settings of a score: all that it depends on beside the architecture.

Built once, where a person says what is wanted, and handed on whole: a search, a bench and a calibration hold one of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from foresee.errors import InputError, UnknownNameError
from foresee.quantities import format_share, parse_bytes, parse_share
from foresee.registry import tidy
from foresee.settings import Kind, Settings, name, names, setting, sizes, table, whole
from foresee.task import MOST, Task

#: a seed, and those of its repeats, can be kept in 64 bits
MOST_SEED = 2**62
#: who is trained before it is looked at
WARMUPS = ("supernet", "network")
#: more torch threads than any machine has use for
MOST_THREADS = 4096


@dataclass(frozen=True)
class ScoringSettings(Settings):
    """How networks are looked at.

    Args:
        proxies: names (with variants) of the proxies; the first one steers a search.
        proxy_settings: per proxy, settings that differ from the defaults.
        data: what the proxies look at: `digits`, `synthetic`, or a path.
        schema: what the columns of a click log are: criteo, avazu, kdd2012, or a TOML file; by default it is guessed.
        inputs: shape of one sample; by default the data's own.
        outputs: outputs of the networks; by default the data's classes.
        tokens: inputs are token ids, whole numbers below this; by default numbers.
        batch_size: samples per batch; by default what each proxy needs.
        repeats: how often to look: draws that a score of a search is the mean of, seeds of a bench.
        seed: decides weights, draws and batches, alike for all architectures.
        threads: torch threads per worker; rounding depends on it, so it belongs to the settings.
        device: where networks are scored.
        stacked: look at many architectures at once (true; an error where that is impossible) or one by one (false); by
            default many at once on an accelerator, where proxy and space allow it.
        memory: what a stack of architectures may take on the device, such as `8GiB`; by default half of what is free.
        warmup: train a little before looking: a share of the training samples, such as `10%`; by default nothing is trained.
        warmup_by: `supernet` (one for all, from which each network inherits its weights) or `network` (each by itself); by
            default the supernet, where the space has one.
        warmup_recipe: how it is trained: a recipe's name or file; by default one pass of the recipe `warmup`; of click logs
            `ctr_warmup`, or `ctr` where there are 4 million rows or more.

    >>> ScoringSettings(proxies=("grad-norm",), inputs=[3, 8, 8]).to_json()["proxies"]
    ['grad_norm']
    """

    proxies: tuple[str, ...] = setting(("foresee",), names())
    proxy_settings: Mapping[str, Mapping[str, Any]] = setting({}, table())
    data: str = setting("digits", name("a name or path"))
    schema: str | None = setting(None, name("a schema's name or file"))
    inputs: tuple[int, ...] | None = setting(None, sizes())
    outputs: int | None = setting(None, whole(1, MOST))
    tokens: int | None = setting(None, whole(1, MOST))
    batch_size: int | None = setting(None, whole(1, MOST))
    repeats: int = setting(1, whole(1, most=10_000))
    seed: int = setting(0, whole(-MOST_SEED, MOST_SEED))
    threads: int = setting(1, whole(1, MOST_THREADS))
    device: str = setting("cpu", name("a device such as cpu or cuda"))
    stacked: bool | None = setting(None, Kind("true or false", lambda value: isinstance(value, bool)))
    memory: str | None = setting(None, name("memory such as 8GiB"))
    warmup: str | None = setting(None, Kind("a share such as 10%", lambda value: isinstance(value, str | float | int)))
    warmup_by: str | None = setting(None, name("supernet or network"))
    warmup_recipe: str | None = setting(None, name("a recipe's name or file"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.warmup is not None:
            object.__setattr__(self, "warmup", format_share(parse_share(self.warmup)))
        if self.memory is not None:
            parse_bytes(self.memory)
        if self.warmup_by not in (None, *WARMUPS):
            raise UnknownNameError("way to warm up", str(self.warmup_by), WARMUPS)
        if self.warmup is None and (self.warmup_by or self.warmup_recipe):
            raise InputError("warmup_by and warmup_recipe: say how much too (warmup; --warmup 10%)")
        # A name is resolved once, here: people may write hyphens, everything behind this door has underscores.
        object.__setattr__(self, "proxies", tuple(map(tidy, self.proxies)))
        object.__setattr__(self, "proxy_settings", {tidy(key): own for key, own in self.proxy_settings.items()})
        if not self.proxies:
            raise InputError("proxies: at least one is needed")
        if len(set(self.proxies)) < len(self.proxies):
            raise InputError(f"proxies {', '.join(self.proxies)}: one is named twice")
        if self.tokens is not None and self.inputs is None:
            raise InputError(f"tokens {self.tokens}: say how many a sample has too (inputs; --input 128)")

    @property
    def warms(self) -> bool:
        """Whether anything is trained before it is looked at."""
        return self.warmup is not None and parse_share(self.warmup) > 0

    def fitted(self, task: Task) -> Task:
        """The data's task with what is asked for instead."""
        inputs, outputs = self.inputs or task.inputs, self.outputs or task.outputs
        return replace(task, inputs=inputs, outputs=outputs, tokens=self.tokens or task.tokens)
