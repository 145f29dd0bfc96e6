"""Correlations of many resamples at once, from how often each pair was drawn.

Everywhere x and y are (n,), `counts` (n, resamples), and the result is (resamples,): a thousand resamples are a few array
operations, and nothing is sorted again. A correlation that does not exist (a constant list has no order) is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.statistics.ranks import Array, Counts, codes_of, ranks_of_draws

#: x, y, counts to one number for each resample
Statistic = Callable[[Array, Array, Counts], Array]

#: entries of one (n, resamples) array at a time
_CHUNK = 2**21


def resampled(statistic: Statistic, x: Array, y: Array, draws: NDArray[np.int64]) -> Array:
    """The statistic of each resample; `draws` (resamples, n) are the pairs of each. None of fewer than two pairs."""
    n = len(x)
    if n < 2 or not len(draws):
        return np.empty(0)
    step = max(1, _CHUNK // n)
    parts = []
    for start in range(0, len(draws), step):
        part = draws[start : start + step]
        columns = np.arange(len(part))[:, None]
        counts = np.bincount((part * len(part) + columns).ravel(), minlength=n * len(part))
        parts.append(statistic(x, y, counts.reshape(n, len(part))))
    return np.concatenate(parts)


def pearsons(x: Array, y: Array, counts: Counts) -> Array:
    """Linear correlation."""
    return _linear(_scaled(x)[:, None], _scaled(y)[:, None], counts)


def spearmans(x: Array, y: Array, counts: Counts) -> Array:
    """Linear correlation of the ranks."""
    return _linear(ranks_of_draws(x, counts), ranks_of_draws(y, counts), counts)


def kendalls(x: Array, y: Array, counts: Counts) -> Array:
    """Tau with pair weight 1: half of a pair's weight to each of its two members."""
    return _tau(x, y, counts, counts / 2)


def weighted_taus(x: Array, y: Array, counts: Counts) -> Array:
    """Mean of the two taus whose pairs weigh 1/place + 1/place, by x and by y."""
    return (_tau(x, y, counts, _hyperbolic(x, y, counts)) + _tau(x, y, counts, _hyperbolic(y, x, counts))) / 2


def _linear(x: Array, y: Array, counts: Counts) -> Array:
    """Pearson's r of values that were drawn `counts` times; values are (n, 1) or (n, resamples)."""
    total = counts.sum(0)
    mean_x, mean_y = (counts * x).sum(0) / total, (counts * y).sum(0) / total
    from_x, from_y = x - mean_x, y - mean_y
    squares_x, squares_y = (counts * from_x**2).sum(0), (counts * from_y**2).sum(0)
    rounding = 1e-26 * total
    varies = (squares_x > rounding * mean_x**2) & (squares_y > rounding * mean_y**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (counts * from_x * from_y).sum(0) / np.sqrt(squares_x * squares_y)
    return np.where(varies, np.clip(r, -1, 1), math.nan)


def _tau(x: Array, y: Array, counts: Counts, weights: Array) -> Array:
    """Sum over pairs of sign(dx) sign(dy) w / sqrt(sum over dx != 0 of w * sum over dy != 0 of w).

    A pair's weight w is the sum of its members' weights; `weights` (n, resamples) are summed over the copies of a member.
    """
    codes_x, codes_y = codes_of(x), codes_of(y)
    both = codes_x * (codes_y.max() + 1) + codes_y

    def tied(codes: NDArray[np.int64]) -> Array:  # a member of a group of m meets m - 1 others there
        return np.asarray(((_grouped(codes, counts) - 1) * _grouped(codes, weights)).sum(0))

    pairs = (counts.sum(0) - 1) * weights.sum(0)
    tied_x, tied_y = tied(codes_x), tied(codes_y)
    untied = pairs - tied_x - tied_y + tied(codes_of(both))
    concordant = _concordant(codes_x, codes_y, counts, weights)
    scale = np.sqrt(np.maximum(pairs - tied_x, 0)) * np.sqrt(np.maximum(pairs - tied_y, 0))
    exists = (pairs - tied_x > 1e-9 * pairs) & (pairs - tied_y > 1e-9 * pairs)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(exists, np.clip((2 * concordant - untied) / scale, -1, 1), math.nan)


def _concordant(codes_x: NDArray[np.int64], codes_y: NDArray[np.int64], counts: Counts, weights: Array) -> Array:
    """Sum of the weights of the pairs with x_i < x_j and y_i < y_j, in O(n log n) for all resamples.

    In order of x, ties by falling y, these are the pairs i before j with y_i < y_j. They differ first in some bit of y: go
    down the bits, keep those that agree so far together and in order, and in each group let every 1 meet the 0s before it.
    """
    order = np.lexsort((-codes_y, codes_x))
    both = np.stack([counts, weights]).astype(float)
    total = np.zeros(counts.shape[1])
    for bit in reversed(range(int(codes_y.max()).bit_length())):
        codes = codes_y[order]
        group, one = codes >> (bit + 1), (codes >> bit) & 1 == 1
        before = np.concatenate([[0], np.cumsum(~one)])  # how many 0s stand before each place
        zeros = np.zeros((2, before[-1] + 1, counts.shape[1]))
        np.cumsum(both[:, order[~one]], axis=1, out=zeros[:, 1:])
        starts = np.searchsorted(group, group)  # groups are in rising order: where each one's begins
        met_counts, met_weights = zeros[:, before[:-1][one]] - zeros[:, before[starts[one]]]
        own_counts, own_weights = both[:, order[one]]
        total += np.einsum("ij,ij->j", met_counts, own_weights) + np.einsum("ij,ij->j", met_weights, own_counts)
        order = order[np.argsort(codes >> bit, kind="stable")]
    return total


def _hyperbolic(first: Array, second: Array, counts: Counts) -> Array:
    """Sum of 1/place over the copies of each pair, the places by falling `first`, ties by falling `second`."""
    order = np.lexsort((-second, -first))
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, int(counts.sum(0).max()) + 1))])
    ends = np.cumsum(counts[order], axis=0)
    weights = np.empty(counts.shape)
    weights[order] = harmonic[ends] - harmonic[ends - counts[order]]
    return weights


# -- small things -------------------------------------------------------------------------------------------------------
def _grouped(codes: NDArray[np.int64], values: NDArray[Any]) -> Array:
    """Sum of the rows of `values` that have the same code: (n, resamples) to (codes, resamples)."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return np.asarray(np.add.reduceat(values[order], starts, axis=0))


def _scaled(values: Array) -> Array:
    """At most 1 in size, so that squares neither overflow nor vanish."""
    largest = np.abs(values).max(initial=0.0)
    return values / largest if largest > 0 else values
