"""The settings of a search: all that decides its result, and nothing else.

Engine, number of workers and output folder are not here: they do not change what is found. The same values travel as
command-line options, as Python arguments, as a TOML file and inside the run's store.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from foresee.budgets import Limits
from foresee.errors import InputError, UnknownNameError


@dataclass(frozen=True)
class SearchSettings:
    """What was asked. `proxies[0]` steers the search; the others are recorded beside it.

    Args:
        space: registered name, or `module:function` for an own space.
        space_settings: settings of the space.
        proxies: names (with variants) of the proxies; the first one steers.
        proxy_settings: per proxy, settings that differ from the defaults.
        searcher: registered name.
        searcher_settings: settings of the searcher.
        limits: hard limits, `{"params": {"max": 600000}}`.
        evaluations: how many candidates to score.
        seed: decides everything that is random.
        data: what the proxies look at: `digits`, `synthetic`, or a path.
        inputs: shape of one sample; by default the data's own.
        outputs: outputs of the networks; by default the data's classes.
        batch_size: samples per batch; by default what the proxies need.
        repeats: draws (and initialisations) to average a score over.
        memory_batch: samples per batch that a limit on memory is for.
        latency_table: file made by `foresee latency`; without it latency is measured.
        window: how many candidates may be asked for ahead of the results told; also how many can be scored at once.
        threads: torch threads per worker; rounding depends on it, so it belongs to the settings.
        device: where networks are scored.
    """

    space: str
    space_settings: Mapping[str, Any] = field(default_factory=dict)
    proxies: tuple[str, ...] = ("foresee",)
    proxy_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    searcher: str = "evolution"
    searcher_settings: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    evaluations: int = 100
    seed: int = 0
    data: str = "digits"
    inputs: tuple[int, ...] | None = None
    outputs: int | None = None
    batch_size: int | None = None
    repeats: int = 1
    memory_batch: int = 1
    latency_table: str | None = None
    window: int = 8
    threads: int = 1
    device: str = "cpu"

    def __post_init__(self) -> None:
        object.__setattr__(self, "proxies", tuple(self.proxies))
        if self.inputs is not None:
            object.__setattr__(self, "inputs", tuple(self.inputs))
        if not self.proxies:
            raise InputError("proxies: at least one is needed")
        if len(set(self.proxies)) < len(self.proxies):
            raise InputError(f"proxies {', '.join(self.proxies)}: one is named twice")
        for name in ("evaluations", "repeats", "window", "threads", "batch_size", "memory_batch"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} = {value}: at least 1 is needed")
        Limits.from_json(self.limits)

    def to_json(self) -> dict[str, Any]:
        """Plain values, in the order of the fields; what is not set is left out."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return {key: _plain(value) for key, value in plain.items() if value is not None}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], *, where: str = "settings") -> SearchSettings:
        """Checked inverse of `to_json`: unknown names and wrong types are named, with the nearest known name."""
        known = {f.name: f for f in fields(cls)}
        for name, value in plain.items():
            if name not in known:
                raise UnknownNameError(f"setting in {where}", name, known)
            _check_type(where, name, value)
        if "space" not in plain:
            raise InputError(f"{where}: space is missing")
        return cls(**plain)

    @classmethod
    def load(cls, path: str | Path, changes: Mapping[str, Any] | None = None) -> SearchSettings:
        """Read a TOML file; `changes` (given on the command line) win over it."""
        try:
            with Path(path).open("rb") as file:
                plain = tomllib.load(file)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: not valid TOML: {error}") from error
        return cls.from_json({**plain, **(changes or {})}, where=str(path))

    def differences(self, other: Mapping[str, Any]) -> list[str]:
        """What differs from another run's settings, one line each: `seed: 2 here, 1 in the run`."""
        mine, theirs = _flat(self.to_json()), _flat(SearchSettings.from_json(other).to_json())
        return [
            f"{key}: {mine.get(key, 'unset')} here, {theirs.get(key, 'unset')} in the run"
            for key in sorted(mine.keys() | theirs.keys())
            if mine.get(key) != theirs.get(key)
        ]


_NUMBERS = ("evaluations", "seed", "outputs", "batch_size", "repeats", "memory_batch", "window", "threads")
_TABLES = ("space_settings", "proxy_settings", "searcher_settings", "limits")
_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "space": (str, "a name"),
    "searcher": (str, "a name"),
    "data": (str, "a name or path"),
    "latency_table": (str, "a path"),
    "device": (str, "a device such as cpu or cuda"),
    "proxies": ((list, tuple), "a list of names"),
    "inputs": ((list, tuple), "a list of sizes such as [3, 32, 32]"),
    **dict.fromkeys(_NUMBERS, (int, "a whole number")),
    **dict.fromkeys(_TABLES, (Mapping, "a table")),
}


def _check_type(where: str, name: str, value: Any) -> None:
    kind, words = _KINDS[name]
    right = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    if right and name in ("proxies", "inputs"):
        right = all(isinstance(part, str if name == "proxies" else int) for part in value)
    if not right:
        raise InputError(f"{where}: {name} = {value!r}: expected {words}")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value


def _flat(plain: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in plain.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


assert all(
    f.default is not MISSING or f.default_factory is not MISSING or f.name == "space" for f in fields(SearchSettings)
)
assert _KINDS.keys() == {f.name for f in fields(SearchSettings)}
