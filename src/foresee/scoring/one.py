"""One network: score it, by one proxy or by several that share what they have in common."""

from __future__ import annotations

import copy
import gc
import math
import statistics
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import nn

from foresee.devices import usable
from foresee.errors import DataError, InputError, UnknownNameError, UnsupportedError
from foresee.handed import read
from foresee.probes.coverage import LEAST, NEARLY_ALL, Coverage
from foresee.probes.draws import Draws
from foresee.probes.looks import SCRIPTED
from foresee.probes.losses import Loss
from foresee.probes.outputs import Outputs
from foresee.probes.probe import Probe, out_of_memory
from foresee.proxies.base import Proxy, RankDeficientError, Score, Status, get, names_of
from foresee.quantities import parse_bytes
from foresee.registry import tidy
from foresee.scoring.several import Scores
from foresee.seeds import derive, random_states_kept

#: a network, or a function without arguments that makes one
Model = nn.Module | Callable[[], nn.Module]


def score(
    model: Model,
    batch: Any,
    proxy: str | Proxy = "foresee",
    *,
    seed: int = 0,
    repeats: int = 1,
    settings: Mapping[str, Any] | None = None,
    loss: Loss | str | None = None,
    device: torch.device | str | None = None,
    initialise: str | None = None,
    outputs: Outputs | None = None,
    memory: str | float | None = None,
) -> Score:
    """One number for one network, without training it.

    Args:
        model: any module (left exactly as found), or a function that makes one (its weights come from the seed then).
        batch: a tensor or array, `(inputs, labels)`, a mapping of named inputs (an entry `labels` is the labels), a
            `DataLoader` (its first batches, as many as the proxy asks for), a `Dataset` (samples drawn by the seed, as many
            as the proxy asks for), a `Batch`, or a list of these for proxies that want several; see
            `foresee.handed.as_batches`.
        proxy: a name, `name:variant`, or a `Proxy`.
        seed: decides every draw; the same for all networks that are to be compared.
        repeats: draws to average over; the score's `spread` is their standard deviation.
        settings: settings of the proxy.
        loss: None (chosen from labels and outputs), "cross_entropy", "bce", "mse", or a function of (outputs, labels).
        device: where to run; a network that is elsewhere is copied. None: where the network is.
        initialise: the weights to look at: "default" (the network's own), "lecun", "xavier", "he" or "normal", drawn from the
            seed. None: what the proxy wants, mostly the network's own.
        outputs: which output of the network counts, where it returns several: a function (`lambda out: out.logits`), a key or
            attribute, or a place in a tuple. None: the logits, found as in `foresee.probes.outputs`.
        memory: what the proxy may take beside the network and the batch, "8GiB" or a number of bytes; one that would take
            more is not begun, and its status is `out_of_memory`. None: half of what is free on the device.

    Returns:
        A `Score`. What goes wrong in the network is its status with the reason, never an exception: `unsupported` (the
        proxy does not apply), `partial` (it saw less than half of the weights), `nan`, `rank_deficient`, `out_of_memory`,
        `failed` (the network raised). A mistake in what was handed in (an unknown name, labels out of range) is an exception.

    >>> net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 10))
    >>> score(net, torch.randn(1, 3, 8, 8)).status, score(net, torch.randn(1, 3, 8, 8), "snip").status
    ('ok', 'unsupported')
    """
    chosen = get(proxy, {**_weights(initialise), **(settings or {})})
    how: dict[str, Any] = {"loss": loss, "device": device, "outputs": outputs, "memory": memory}
    return scores(model, batch, [chosen], seed=seed, repeats=repeats, **how)[chosen.full_name]


def scores(
    model: Model,
    batch: Any,
    proxies: str | Proxy | Iterable[str | Proxy] = "all",
    *,
    seed: int = 0,
    repeats: int = 1,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    loss: Loss | str | None = None,
    device: torch.device | str | None = None,
    initialise: str | None = None,
    outputs: Outputs | None = None,
    memory: str | float | None = None,
) -> Scores:
    """Several proxies of one network; what they have in common is computed once.

    `proxies` are names, wildcards (`grad*`), "all" (those that take a few runs), "every" (the expensive ones too: `foresee
    proxies` says which), or `Proxy` objects; `settings` go by proxy name. The time of a look that
    several proxies share is in the `seconds` of the first that asks for it. `peak_bytes` is measured on CUDA devices, and 0
    on others. The other arguments are those of `score`; a proxy's own setting `initialise` comes before the argument.

    >>> found = scores(nn.Linear(4, 3), (torch.randn(6, 4), torch.arange(6) % 3), ["snip", "grad_*", "params"])
    >>> list(found), found["params"].value
    (['snip', 'grad_norm', 'params'], 15.0)
    """
    chosen = chosen_proxies(proxies, settings or {}, initialise)
    if repeats < 1:
        raise InputError(f"repeats {repeats}: at least 1 is needed")
    if memory is not None:
        memory = parse_bytes(memory)
    handed = read(batch, map(wants, chosen), seed)
    groups: dict[int, list[Proxy]] = {}  # proxies that look at the same batches share their looks
    for one in chosen:
        groups.setdefault(id(handed.wanted(*wants(one))), []).append(one)
    network = _attempt(lambda: _network(model, seed, device))
    tallies: list[tuple[_Tally, Any]] = []
    for group in groups.values():
        batches, looks = handed.wanted(*wants(group[0])), [look for one in group for look in one.looks]
        make = partial(Probe, network.value, batches, loss=loss, seed=seed, looks=looks, outputs=outputs)
        made = _attempt(make) if network.status == "ok" else network
        for one in group:
            blank = Score(one.full_name, None, made.status, made.reason, one.direction, seed=seed, repeats=repeats)
            tallies.append((_Tally(one, blank), made.value))
    for repeat in range(repeats):  # repeats outside: proxies share what one draw costs
        for tally, probe in tallies:
            tally.add(probe, repeat, memory)
    found = {tally.proxy.full_name: tally.score() for tally, _ in tallies}
    return Scores({one.full_name: found[one.full_name] for one in chosen})


def wants(proxy: Proxy) -> tuple[int, int]:
    """How many batches of how many samples a proxy looks at, where there are as many as one likes."""
    return proxy.needs.batches, proxy.needs.batch


# -- one proxy ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Outcome:
    """What an attempt gave: a value, or a status with its reason."""

    value: Any = None
    status: Status = "ok"
    reason: str = ""


def _attempt(action: Callable[[], Any]) -> _Outcome:
    """Do it; turn what a network can do wrong into a status. The caller's own mistakes stay exceptions."""
    try:
        return _Outcome(action())
    except UnsupportedError as error:
        return _Outcome(status="unsupported", reason=str(error))
    except (InputError, DataError):
        raise
    except RankDeficientError as error:
        return _Outcome(status="rank_deficient", reason=str(error))
    except (ArithmeticError, torch.linalg.LinAlgError) as error:  # type: ignore[attr-defined]
        return _Outcome(status="nan", reason=_first_line(error))
    except (Exception, SystemExit) as error:  # a stranger's network may raise anything
        traceback.clear_frames(error.__traceback__)  # what the failed run had in hand is let go
        reason = _first_line(error)
        if not out_of_memory(error):
            return _Outcome(status="failed", reason=f"{type(error).__name__}: {reason}")
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return _Outcome(status="out_of_memory", reason=reason)


def _first_line(error: BaseException) -> str:
    if isinstance(error, RecursionError):  # what it says depends on how deep the caller was
        return "maximum recursion depth exceeded"
    try:
        return (str(error).strip() or f"{type(error).__name__} without a message").splitlines()[0]
    except Exception:  # of an error that cannot say what it is
        return f"{type(error).__name__} with a message that cannot be shown"


class _Tally:
    """The values of one proxy over the repeats, with what they took."""

    def __init__(self, proxy: Proxy, blank: Score) -> None:
        self.proxy, self._found, self._over = proxy, blank, not blank.ok
        self._values: list[float] = []
        self._notes: list[Mapping[str, float]] = []

    def add(self, probe: Probe, repeat: int, memory: float | None) -> None:
        """One more value, unless it failed before, there is nothing random in it, or no room for it."""
        if self._over:
            return
        with _Meter(probe.device) as meter:
            probe.draws, probe.notes, probe.remarks = Draws(probe.seed, repeat=repeat), {}, set()
            outcome = _covered(_attempt(lambda: self._value(probe, memory)), probe)
        self._found = replace(
            self._found,
            status=outcome.status,
            reason=outcome.reason,
            seconds=self._found.seconds + meter.seconds,
            peak_bytes=max(self._found.peak_bytes, meter.peak_bytes),
        )
        self._over = outcome.status != "ok" or not probe.draws.used
        if outcome.status == "ok":
            self._values.append(outcome.value)
            self._notes.append(probe.notes)

    def _value(self, probe: Probe, memory: float | None) -> float:
        if not self._values:
            self.proxy.check_room(probe, memory)
        return _finite(float(self.proxy(probe)))

    def score(self) -> Score:
        """Their mean and spread, or the status."""
        if not self._found.ok:
            return self._found
        values, notes = self._values, self._notes
        spread = None if self._found.repeats == 1 else statistics.stdev(values) if len(values) > 1 else 0.0
        parts = {name: statistics.fmean(one[name] for one in notes) for name in notes[0]}
        return replace(self._found, value=statistics.fmean(values), spread=spread, parts=parts)


def _covered(outcome: _Outcome, probe: Probe) -> _Outcome:
    """The outcome, unless most of the network was out of sight; with what has to be said beside a value."""
    if outcome.status == "unsupported" and probe.scripted and SCRIPTED not in outcome.reason:
        return replace(outcome, reason=f"{outcome.reason} ({SCRIPTED})")
    if outcome.status != "ok":
        return outcome
    seen = [one for one in probe.remarks if isinstance(one, Coverage)]
    least = min(seen, key=lambda one: one.share, default=Coverage())
    if least.share < LEAST:
        return _Outcome(status="partial", reason=str(least))
    if least.share < 1:
        probe.note(coverage=least.share)
    texts = [
        *(one for one in probe.remarks if isinstance(one, str)),
        *([str(least)] if least.share < NEARLY_ALL else []),
    ]
    return replace(outcome, reason="; ".join(sorted(texts)))


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise FloatingPointError(f"the value is {value}")
    return value


class _Meter:
    """Seconds, and the most bytes in use on a CUDA device beyond those at the start."""

    def __init__(self, device: torch.device) -> None:
        self._device, self.peak_bytes = device, 0

    def __enter__(self) -> _Meter:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
            torch.cuda.reset_peak_memory_stats(self._device)
            self._bytes = torch.cuda.memory_allocated(self._device)
        self._start = time.perf_counter()
        return self

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self._start

    def __exit__(self, *_: object) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
            self.peak_bytes = torch.cuda.max_memory_allocated(self._device) - self._bytes


# -- what was handed in -------------------------------------------------------------------------------------------------
def _weights(initialise: str | None) -> dict[str, str]:
    return {} if initialise is None else {"initialise": initialise}


def chosen_proxies(
    wanted: str | Proxy | Iterable[str | Proxy],
    settings: Mapping[str, Mapping[str, Any]],
    initialise: str | None = None,
) -> list[Proxy]:
    """The proxies, each once, with their settings."""
    found: dict[str, Proxy] = {}
    for one in [wanted] if isinstance(wanted, str | Proxy) else wanted:
        if isinstance(one, Proxy):
            found[one.full_name] = one
        else:
            found.update({name: get(name) for name in names_of(one)})
    if not found:
        raise InputError("no proxy was asked for")
    by_name = {tidy(name): own for name, own in settings.items()}
    for name in by_name:
        if name not in found and name not in {one.name for one in found.values()}:
            raise UnknownNameError("proxy in settings", name, found)
    every = _weights(initialise)
    return [get(one, {**every, **by_name.get(one.name, {}), **by_name.get(name, {})}) for name, one in found.items()]


def _network(model: Model, seed: int, device: torch.device | str | None) -> nn.Module:
    """The module, or the one a function makes; a copy where it has to move."""
    if not callable(model):
        raise InputError(
            f"model of type {type(model).__name__}: expected a torch.nn.Module, or a function that makes one"
        )
    if not isinstance(model, nn.Module):
        with random_states_kept(derive(seed, "weights")):
            model = model()
        if not isinstance(model, nn.Module):
            raise InputError(f"the model function returned {type(model).__name__}: expected a torch.nn.Module")
    if device is None:
        return model
    there = usable(device)
    places = {tensor.device for tensor in (*model.parameters(), *model.buffers())}
    if places <= {there}:
        return model
    return copy.deepcopy(model).to(there)
