"""How much of the spread of some numbers goes with what they are labelled: a variance decomposition with its interval.

The share is Kelley's epsilon squared: the between-group share of the variance, less what groups of that size explain by
chance. Few numbers in many groups would otherwise always look as if the groups mattered.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresee.seeds import derive
from foresee.statistics.bootstrap import draws
from foresee.statistics.estimate import CONFIDENCE, Estimate


def share_explained(
    values: ArrayLike, groups: ArrayLike, *, bootstrap: int = 1000, seed: int = 0, confidence: float = CONFIDENCE
) -> Estimate:
    """The share of the variance of `values` that goes with `groups` (labels), between 0 and 1, with a bootstrap interval.

    Resamples hold some numbers twice, which makes groups look more different than they are; the interval is moved back by
    that. NaN where there is one group, one number in every group, or no variance.

    >>> share_explained([1.0, 1.1, 0.9, 5.0, 5.1, 4.9], ["a", "a", "a", "b", "b", "b"]).value > 0.95
    True
    """
    found, labels = np.asarray(values, dtype=np.float64), _labels(groups)
    n = len(found)
    value = float(_epsilon(found[None], labels[None])[0]) if n else math.nan
    if math.isnan(value):
        return Estimate(math.nan, n=n)
    chosen = draws(n, bootstrap, seed, "share", n)
    resampled = _epsilon(found[chosen], labels[chosen])
    there = resampled[~np.isnan(resampled)]
    moved = np.clip(there - (there.mean() - value), 0.0, 1.0) if len(there) else there
    return Estimate.of(min(max(value, 0.0), 1.0), moved, n, confidence)


def share_by_chance(
    values: ArrayLike, groups: ArrayLike, *, shuffles: int = 1000, seed: int = 0, confidence: float = CONFIDENCE
) -> float:
    """The share that shuffled labels reach in all but 5 % of the cases: a share below it may be luck."""
    found, labels = np.asarray(values, dtype=np.float64), _labels(groups)
    if not len(found):
        return math.nan
    rng = np.random.default_rng(derive(seed, "shuffle", len(found)))
    shuffled = rng.permuted(np.broadcast_to(labels, (shuffles, len(labels))), axis=1)
    shares = _epsilon(np.broadcast_to(found, shuffled.shape), shuffled)
    shares = shares[~np.isnan(shares)]
    return float(np.quantile(shares, confidence)) if len(shares) else math.nan


def _labels(groups: ArrayLike) -> NDArray[np.int64]:
    return np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1)


def _epsilon(values: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Epsilon squared of each row; NaN where it does not exist."""
    n = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    total = (centred**2).sum(axis=1)
    between, groups = np.zeros(len(values)), np.zeros(len(values))
    for label in range(int(labels.max(initial=0)) + 1):
        held = labels == label
        count = held.sum(axis=1)
        between += np.where(count > 0, (centred * held).sum(axis=1) ** 2 / np.maximum(count, 1), 0.0)
        groups += count > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (total - between) / (n - groups)
        share = (between - (groups - 1) * within) / total
    exists = (groups > 1) & (groups < n) & (total > 1e-12 * np.maximum((values**2).sum(axis=1), 1e-300))
    return np.where(exists, share, np.nan)
