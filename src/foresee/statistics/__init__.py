"""How well one list of numbers orders another: correlations, the foremost few, and how sure we are.

Larger is better on both sides. `single` are the numbers, `counted` the same of a thousand resamples at once, `estimate` a
number with its interval, `correlations` all of them together. A statistic that does not exist is NaN.

>>> correlate([1.0, 2.0, 3.0, 4.0], [10.0, 30.0, 20.0, 40.0], bootstrap=0).spearman.value
0.8
"""

from __future__ import annotations

from foresee.statistics.correlations import TOP, Correlations, correlate
from foresee.statistics.estimate import CONFIDENCE, Estimate, interval
from foresee.statistics.single import (
    kendall,
    pearson,
    regret,
    resamples_of,
    spearman,
    top_overlap,
    weighted_tau,
)

__all__ = [
    "CONFIDENCE",
    "Correlations",
    "Estimate",
    "TOP",
    "correlate",
    "interval",
    "kendall",
    "pearson",
    "regret",
    "resamples_of",
    "spearman",
    "top_overlap",
    "weighted_tau",
]
