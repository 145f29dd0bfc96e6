"""One proxy of one network: its values over the repeats, and what can go wrong as a status with its reason."""

from __future__ import annotations

import gc
import math
import statistics
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from foresee.errors import DataError, InputError, UnsupportedError
from foresee.probes.coverage import LEAST, NEARLY_ALL, Coverage
from foresee.probes.draws import Draws
from foresee.probes.looks import SCRIPTED
from foresee.probes.probe import Probe, out_of_memory
from foresee.proxies.base import Proxy, RankDeficientError, Score, Status


@dataclass(frozen=True)
class Outcome:
    """What an attempt gave: a value, or a status with its reason."""

    value: Any = None
    status: Status = "ok"
    reason: str = ""


def attempt(action: Callable[[], Any]) -> Outcome:
    """Do it; turn what a network can do wrong into a status. The caller's own mistakes stay exceptions."""
    try:
        return Outcome(action())
    except UnsupportedError as error:
        return Outcome(status="unsupported", reason=str(error))
    except (InputError, DataError):
        raise
    except RankDeficientError as error:
        return Outcome(status="rank_deficient", reason=str(error))
    except (ArithmeticError, torch.linalg.LinAlgError) as error:  # type: ignore[attr-defined]
        return Outcome(status="nan", reason=_first_line(error))
    except (Exception, SystemExit) as error:  # a stranger's network may raise anything
        traceback.clear_frames(error.__traceback__)  # what the failed run had in hand is let go
        reason = _first_line(error)
        if not out_of_memory(error):
            return Outcome(status="failed", reason=f"{type(error).__name__}: {reason}")
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return Outcome(status="out_of_memory", reason=reason)


def _first_line(error: BaseException) -> str:
    if isinstance(error, RecursionError):  # what it says depends on how deep the caller was
        return "maximum recursion depth exceeded"
    try:
        return (str(error).strip() or f"{type(error).__name__} without a message").splitlines()[0]
    except Exception:  # of an error that cannot say what it is
        return f"{type(error).__name__} with a message that cannot be shown"


class Tally:
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
            outcome = _covered(attempt(lambda: self._value(probe, memory)), probe)
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


def _covered(outcome: Outcome, probe: Probe) -> Outcome:
    """The outcome, unless most of the network was out of sight; with what has to be said beside a value."""
    if outcome.status == "unsupported" and probe.scripted and SCRIPTED not in outcome.reason:
        return replace(outcome, reason=f"{outcome.reason} ({SCRIPTED})")
    if outcome.status != "ok":
        return outcome
    seen = [one for one in probe.remarks if isinstance(one, Coverage)]
    least = min(seen, key=lambda one: one.share, default=Coverage())
    if least.share < LEAST:
        return Outcome(status="partial", reason=str(least))
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
