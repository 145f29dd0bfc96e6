"""Resamples: so many lists drawn from a list with replacement, decided by a seed and by what they are for."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresee.seeds import derive
from foresee.statistics.estimate import CONFIDENCE, Estimate


def draws(n: int, resamples: int, seed: int, *use: int | str) -> NDArray[np.int64]:
    """Which of n things each resample holds, (resamples, n). Other uses of a seed have other resamples.

    >>> draws(3, 2, 0, "example").shape
    (2, 3)
    """
    return np.random.default_rng(derive(seed, *use)).integers(0, max(n, 1), (resamples, n))


def mean_of(values: ArrayLike, *, bootstrap: int = 1000, seed: int = 0, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of some numbers with its bootstrap interval."""
    found = np.asarray(values, dtype=np.float64)
    n = len(found)
    if not n:
        return Estimate(math.nan)
    return Estimate.of(float(found.mean()), found[draws(n, bootstrap, seed, "mean", n)].mean(axis=1), n, confidence)
