"""How much better one list of merits orders the truth than another: the difference, over the same resamples."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from foresee.errors import InputError
from foresee.statistics.bootstrap import draws
from foresee.statistics.counted import Statistic, kendalls, resampled, spearmans
from foresee.statistics.estimate import CONFIDENCE, Estimate
from foresee.statistics.ranks import Array, codes_of
from foresee.statistics.single import vector

_STATISTICS: dict[str, Statistic] = {"spearman": spearmans, "kendall": kendalls}


def gain(
    before: ArrayLike,
    after: ArrayLike,
    truth: ArrayLike,
    *,
    coefficient: Literal["spearman", "kendall"] = "spearman",
    bootstrap: int = 1000,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """correlation(after, truth) - correlation(before, truth), with the interval of the difference.

    The three are of the same architectures, (n,) each, larger being better. They are resampled together: what a resample
    does to both correlations cancels, so the interval is narrower than those of the two would suggest. A merit that is not
    finite is ranked last; a pair without truth is left out.

    >>> gain([1, 3, 2, 4], [1, 2, 3, 4], [10, 20, 30, 40], bootstrap=0).value
    0.19999999999999996
    """
    first, second, truths = vector(before, "before"), vector(after, "after"), vector(truth, "truth")
    if not len(first) == len(second) == len(truths):
        raise InputError(f"{len(first)} and {len(second)} merits for {len(truths)} truths: one each is needed")
    known = np.isfinite(truths)
    n, y, statistic = int(known.sum()), truths[known], _STATISTICS[coefficient]
    lists = [_last(one[known]) for one in (first, second)]
    if n < 2:
        return Estimate(math.nan, n=n)
    once = [float(statistic(x, y, np.ones((n, 1), np.int64))[0]) for x in lists]
    drawn = draws(n, bootstrap, seed, "bootstrap", n)
    low, high = (resampled(statistic, x, y, drawn) for x in lists)
    return Estimate.of(once[1] - once[0], high - low, n, confidence)


def _last(merits: Array) -> Array:
    """Places in place of merits, those without a merit below all others."""
    valid = np.isfinite(merits)
    places = np.full(len(merits), -1.0)
    places[valid] = codes_of(merits[valid])
    return places
