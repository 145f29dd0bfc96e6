"""Numbers with their intervals: in words, and as small bars on an axis that a whole table shares."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from foresee.statistics import Estimate


@dataclass(frozen=True)
class Axis:
    """From `low` to `high`; correlations end at 1."""

    low: float
    high: float = 1.0

    @classmethod
    def around(cls, estimates: Iterable[Estimate]) -> Axis:
        """From 0, or from below where an interval reaches there, in steps of a tenth.

        >>> Axis.around([Estimate(0.2, -0.13, 0.5, 30)])
        Axis(low=-0.2, high=1.0)
        """
        ends = [end for one in estimates for end in (one.value, one.low) if math.isfinite(end)]
        return cls(math.floor(10 * min([0.0, *ends])) / 10)

    @property
    def ticks(self) -> list[tuple[float, bool]]:
        """Where lines are drawn, in percent of the axis, and whether it is that of 0."""
        return [(self.place(at), at == 0) for at in (-1.0, -0.5, 0.0, 0.5, 1.0) if self.low <= at <= self.high]

    def place(self, value: float) -> float:
        """A number in percent of the axis."""
        return round(100 * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low), 2)

    def bar(self, estimate: Estimate) -> dict[str, float] | None:
        """Where an interval is drawn: its left end, its width and its point. None where there is none."""
        if math.isnan(estimate.value):
            return None
        low, high = (estimate.value if math.isnan(end) else end for end in (estimate.low, estimate.high))
        left = self.place(low)
        return {"left": left, "width": max(self.place(high) - left, 0.4), "point": self.place(estimate.value)}


def in_words(estimate: Estimate) -> str:
    """A number with its interval, with a true minus."""
    return str(estimate).replace("-", "−")
