"""How well one list of numbers orders another: correlations, the foremost few, and how sure we are.

Larger is better on both sides. `ranks` says where each number stands, `single` are the correlations, `counted` the same of
a thousand resamples at once, `bootstrap` the resamples, `estimate` a number with its interval, `correlations` all of them
together, `paired` the difference of two. A statistic that does not exist is NaN. `fronts` are for several objectives at
once, `directions` for which way is better, `separation` for how well scores tell yes from no.

>>> correlate([1.0, 2.0, 3.0, 4.0], [10.0, 30.0, 20.0, 40.0], bootstrap=0).spearman.value
0.8
"""

from __future__ import annotations

from foresee.statistics.bootstrap import mean_of
from foresee.statistics.correlations import TOP, Correlations, correlate
from foresee.statistics.estimate import CONFIDENCE, Estimate, interval
from foresee.statistics.fronts import crowding, filled, front, hypervolume, knee, successive_fronts
from foresee.statistics.paired import gain
from foresee.statistics.ranks import places_of, ranks_of
from foresee.statistics.separation import auc
from foresee.statistics.shares import share_by_chance, share_explained
from foresee.statistics.single import (
    kendall,
    known_pairs,
    pearson,
    regret,
    resamples_of,
    spearman,
    top_overlap,
    weighted_tau,
)
from foresee.statistics.student import mean_of_few

__all__ = [
    "CONFIDENCE",
    "Correlations",
    "Estimate",
    "TOP",
    "auc",
    "correlate",
    "crowding",
    "filled",
    "front",
    "gain",
    "hypervolume",
    "interval",
    "kendall",
    "knee",
    "known_pairs",
    "mean_of",
    "mean_of_few",
    "pearson",
    "places_of",
    "ranks_of",
    "regret",
    "resamples_of",
    "share_by_chance",
    "share_explained",
    "spearman",
    "successive_fronts",
    "top_overlap",
    "weighted_tau",
]
