"""What is measured: a row, with its ratio; and how: ways taken in turn, by the processor's clock."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any


class SkippedError(Exception):
    """What a file needs is not here; there is nothing to measure, and nothing is wrong."""


@dataclass(frozen=True)
class Row:
    """One measurement: what foresee takes, and what the straightforward implementation takes in the same run.

    Args:
        name: unique in its file and the same in every run; the history goes by it.
        value: what foresee takes, in `unit`.
        base: what the straightforward implementation takes.
        beside: what that is, in words.
        at_most: the ratio that is promised; None: none is.
        floor: the least it could take here; None: not known.
        unit: of value, base and floor.
        low: the least value seen.
        high: the greatest value seen.
        note: whatever else is to be said.

    >>> Row("sums", value=0.5, base=2.0, at_most=0.2).ratio
    0.25
    """

    name: str
    value: float
    base: float
    beside: str = ""
    at_most: float | None = None
    floor: float | None = None
    unit: str = "s"
    low: float | None = None
    high: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        for what in ("value", "base"):
            number = getattr(self, what)
            if not (math.isfinite(number) and number > 0):
                raise ValueError(f"{self.name}: {what} is {number}, expected a number above 0")

    @property
    def ratio(self) -> float:
        """What foresee takes, in units of the straightforward implementation: less is better."""
        return self.value / self.base

    @property
    def broken(self) -> bool:
        """Whether more is taken than was promised."""
        return self.at_most is not None and self.ratio > self.at_most


@dataclass(frozen=True)
class Times:
    """Seconds of several rounds: the median, the least, the most, and what the last round gave."""

    middle: float
    low: float
    high: float
    result: Any = None


@dataclass(frozen=True)
class How:
    """How a measurement is made: where, by how many threads, in how many rounds; `quick` is for tests."""

    device: str = "cpu"
    threads: int = 1
    repeats: int = 5
    quick: bool = False

    def compare(
        self, ways: Mapping[str, Callable[[], Any]], *, repeats: int | None = None, clock: str | None = None
    ) -> dict[str, Times]:
        """Take the ways in turn, so that other load on the machine meets all of them; the first round warms up.

        The clock is the processor's (all threads of this process) on a CPU, because machines are busy; the wall's, waiting
        for the device, elsewhere or where it is asked for: `clock="wall"`.
        """
        wall = clock == "wall" or self.device != "cpu"
        now = time.perf_counter if wall else time.process_time
        rounds = (1 if self.quick else self.repeats) if repeats is None else repeats
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        results: dict[str, Any] = {}
        for number in range(rounds + 1):
            for name, way in ways.items():
                self._wait()
                start = now()
                results[name] = way()
                self._wait()
                if number:
                    seconds[name].append(max(now() - start, 1e-9))
        return {
            name: Times(statistics.median(found), min(found), max(found), results[name])
            for name, found in seconds.items()
        }

    def check(self, holds: bool, what: str) -> None:
        """The two ways give the same numbers, or there is nothing to compare."""
        if not holds:
            raise AssertionError(what)

    def skip(self, why: str) -> None:
        """There is nothing to measure here: what is needed is not there."""
        raise SkippedError(why)

    def floor(self, *, flops: float = 0.0, bytes: float = 0.0) -> float:
        """Seconds for so many operations and bytes, whichever takes longer, at the rates of this device today."""
        return max(flops / self._rates[0], bytes / self._rates[1])

    @cached_property
    def _rates(self) -> tuple[float, float]:
        """Operations a second of a product of large matrices (float32), and bytes a second of a copy, read and written."""
        import torch

        size, many = (256, 2**20) if self.quick else (1024 if self.device == "cpu" else 8192, 2**24)
        one = torch.randn(size, size, device=self.device)
        row = torch.randn(many, device=self.device)
        times = self.compare({"product": lambda: one @ one, "copy": lambda: row.clone()}, repeats=5)
        return 2.0 * size**3 / times["product"].low, 2.0 * 4 * many / times["copy"].low

    def _wait(self) -> None:
        if self.device != "cpu":
            import torch

            torch.cuda.synchronize()
