"""An estimate: a number, and between which bounds it lies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

#: the interval holds this share of the resamples
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval (bootstrap percentiles; Student's for a handful) and how many it comes from."""

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0

    @property
    def half_width(self) -> float:
        """Half the interval's width."""
        return (self.high - self.low) / 2

    def within(self, least: float, most: float) -> Estimate:
        """The same with an interval that ends where the number itself must; Student's knows of no such end.

        >>> print(Estimate(0.9, 0.2, 1.6, 2).within(0.0, 1.0))
        0.900 [0.200, 1.000]
        """
        if math.isnan(self.low):
            return self
        return replace(self, low=max(self.low, least), high=min(self.high, most))

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "undefined"
        return f"{self.value:.3f}" + ("" if math.isnan(self.low) else f" [{self.low:.3f}, {self.high:.3f}]")

    def to_json(self) -> dict[str, Any]:
        """Plain values; what does not exist is None."""
        plain = {name: _or_none(getattr(self, name)) for name in ("value", "low", "high")}
        return {**plain, "n": self.n}

    @classmethod
    def of(cls, value: float, resampled: ArrayLike, n: int, confidence: float = CONFIDENCE) -> Estimate:
        """A value with the interval of its resamples, those that exist; without one where none does."""
        low, high = interval(resampled, confidence) if not math.isnan(value) else (math.nan, math.nan)
        return cls(value, low, high, n)

    @classmethod
    def mean(cls, estimates: Iterable[Estimate]) -> Estimate:
        """The mean of estimates that come from the same resamples: so the ends of their intervals are averaged too."""
        found = list(estimates)
        value, low, high = np.mean([(one.value, one.low, one.high) for one in found], axis=0).tolist()
        return cls(value, low, high, found[0].n)


def interval(values: ArrayLike, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The percentile interval of resampled values; NaN where there are none."""
    found = np.asarray(values, dtype=np.float64)
    found = found[~np.isnan(found)]
    if not len(found):
        return math.nan, math.nan
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
