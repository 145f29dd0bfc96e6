"""Single numbers: how well one list orders another, and what its foremost few are worth.

Larger is better on both sides. What does not exist is NaN: a constant list has no order, fewer than two pairs no correlation.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresee.errors import InputError
from foresee.statistics.counted import (
    Statistic,
    kendalls,
    pearsons,
    resampled,
    spearmans,
    weighted_taus,
)
from foresee.statistics.ranks import Array


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Linear correlation."""
    return _alone(pearsons, x, y)


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Linear correlation of the ranks; ties share the mean of theirs."""
    return _alone(spearmans, x, y)


def kendall(x: ArrayLike, y: ArrayLike) -> float:
    """Tau-b: (concordant - discordant pairs) / sqrt(pairs not tied in x * pairs not tied in y)."""
    return _alone(kendalls, x, y)


def weighted_tau(x: ArrayLike, y: ArrayLike) -> float:
    """Tau in which a pair weighs 1/place + 1/place, so the order of the best counts most (Vigna, WWW 2015).

    Places are by x (ties by y) and by y (ties by x), and the value is the mean of the two, as in scipy's `weightedtau`.
    """
    return _alone(weighted_taus, x, y)


def resamples_of(statistic: Callable[..., float], x: ArrayLike, y: ArrayLike, draws: NDArray[np.int64]) -> Array:
    """`pearson`, `spearman`, `kendall` or `weighted_tau` of each resample; `draws` (resamples, n) are the pairs of each.

    For comparisons over the same resamples, such as the difference between two correlations.

    >>> resamples_of(spearman, [1.0, 2.0, 3.0], [1.0, 3.0, 2.0], np.array([[0, 1, 2], [0, 1, 1]]))
    array([0.5, 1. ])
    """
    many = {pearson: pearsons, spearman: spearmans, kendall: kendalls, weighted_tau: weighted_taus}
    return resampled(many[statistic], vector(x, "x"), vector(y, "y"), draws)


# -- the foremost -------------------------------------------------------------------------------------------------------
def top_overlap(x: ArrayLike, y: ArrayLike, k: int) -> float:
    """Share of the k best by y that are among the k best by x. Where a tie crosses the border, its expected value."""
    a, b = _pairs(x, y)
    k = min(k, len(a))
    return float((_membership(a, k) * _membership(b, k)).sum() / k) if k else math.nan


def regret(x: ArrayLike, y: ArrayLike, k: int) -> float:
    """The best y of all, minus the best y among the k foremost by x: what trusting x costs. Expected value over ties."""
    a, b = _pairs(x, y)
    k = min(k, len(a))
    if not k:
        return math.nan
    border = np.partition(a, -k)[-k]
    sure, tied = b[a > border], np.sort(b[a == border])[::-1]
    left, chance, best = k - len(sure), 1.0, sure.max(initial=-math.inf)
    expected = 0.0
    for index, value in enumerate(tied):  # the largest of `left` out of `tied`, drawn at random
        if value <= best or len(tied) - index < left:
            break
        drawn = left / (len(tied) - index)
        expected, chance = expected + chance * drawn * value, chance * (1 - drawn)
    return float(b.max() - (expected + chance * best if chance > 0 else expected))


def _membership(values: Array, k: int) -> Array:
    """The chance of each to be among the k largest when ties are broken at random."""
    border = np.partition(values, -k)[-k]
    above, tied = values > border, values == border
    return np.asarray(above + tied * ((k - above.sum()) / tied.sum()))


# -- what comes in ------------------------------------------------------------------------------------------------------
def _alone(statistic: Statistic, x: ArrayLike, y: ArrayLike) -> float:
    a, b = _pairs(x, y)
    return float(statistic(a, b, np.ones((len(a), 1), np.int64))[0]) if len(a) > 1 else math.nan


def known_pairs(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """The pairs of which both numbers are finite: where a proxy failed, or nothing was measured, there is no pair.

    >>> known_pairs([1.0, math.nan, 3.0, 4.0], [5.0, 6.0, math.inf, 8.0])
    (array([1., 4.]), array([5., 8.]))
    """
    a, b = _aligned(x, y)
    both = np.isfinite(a) & np.isfinite(b)
    return a[both], b[both]


def _pairs(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    a, b = _aligned(x, y)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InputError("a value is not finite: `correlate` counts failures, this function wants none")
    return a, b


def _aligned(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    a, b = vector(x, "x"), vector(y, "y")
    if a.shape != b.shape:
        raise InputError(f"{len(a)} values of x for {len(b)} of y: one each is needed")
    return a, b


def vector(values: ArrayLike, name: str) -> Array:
    """One number for each architecture, in float64."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1:
        raise InputError(f"{name} of shape {found.shape}: expected one number per architecture")
    return found
