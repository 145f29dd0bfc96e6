"""Ranks and places: where each number of a list stands among the others. Whatever orders anything asks here.

A *rank* counts from below, 1 for the smallest; a *place* from above, 1 for the best. Ties share the mean of theirs.

>>> ranks_of([10.0, 30.0, 20.0, 20.0])
array([1. , 4. , 2.5, 2.5])
>>> places_of([10.0, 30.0, float("nan"), 20.0])
array([3., 1., 4., 2.])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresee.errors import InputError

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


def ranks_of(values: ArrayLike, axis: int = -1) -> Array:
    """The rank of each value along one axis, in the shape of `values`. Infinities have ranks, NaN has none and is refused."""
    found = np.asarray(values, dtype=np.float64)
    if np.isnan(found).any():
        raise InputError("a value is NaN: what is not a number has no rank")
    lists = np.moveaxis(found, axis, -1)
    order, first, after = _ties(lists)
    mean = np.empty(lists.shape)
    np.put_along_axis(mean, order, (first + after + 1) / 2, axis=-1)
    return np.moveaxis(mean, -1, axis)


def places_of(merits: ArrayLike, axis: int = -1) -> Array:
    """The place of each merit, larger being better; what is not finite has failed, and failures share the last places."""
    found = np.asarray(merits, dtype=np.float64)
    return np.asarray(found.shape[axis] + 1 - ranks_of(np.where(np.isfinite(found), found, -np.inf), axis))


def ranks_of_draws(values: Array, counts: Counts) -> Array:
    """The rank of each value within resamples in which it was drawn `counts` times, (n,) and (n, resamples).

    Copies of a value are ties. With every count 1 these are the `ranks_of` the values.
    """
    order, first, after = _ties(values)
    drawn = np.zeros((len(values) + 1, counts.shape[1]), np.int64)
    np.cumsum(counts[order], axis=0, out=drawn[1:])
    mean = np.empty(counts.shape)
    mean[order] = (drawn[first] + drawn[after] + 1) / 2  # those drawn below, plus half of those drawn alike
    return mean


def codes_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """0 for the smallest value, 1 for the next, ...: equal values have equal codes."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _ties(values: Array) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The rising order along the last axis; for each place in it where its run of equal values begins, and where the next."""
    n = values.shape[-1]
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    new = np.ones((*values.shape[:-1], n + 1), np.bool_)
    new[..., 1:-1] = ordered[..., 1:] != ordered[..., :-1]
    here = np.arange(n)
    first = np.maximum.accumulate(np.where(new[..., :-1], here, 0), axis=-1)
    after = np.minimum.accumulate(np.where(new[..., 1:], here + 1, n)[..., ::-1], axis=-1)[..., ::-1]
    return order, first, after
