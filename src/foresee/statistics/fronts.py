"""Fronts: which points are not surpassed when several objectives count at once, and how well a front is filled.

Points are (n, objectives), and `directions` says for each objective whether "higher" (by default) or "lower" is better. One
point *dominates* another if it is nowhere worse and somewhere better; so equal points do not dominate each other, and either
all of them are on a front or none. What has failed has no point: NaN is refused.

>>> cost_and_merit = [[3.0, 9.0], [1.0, 5.0], [2.0, 4.0], [2.0, 7.0]]
>>> front(cost_and_merit, ["lower", "higher"])
array([1, 3, 0])
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresee.errors import InputError
from foresee.statistics.directions import turned

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def front(points: ArrayLike, directions: Sequence[str] | None = None, *, distinct: bool = False) -> Places:
    """The places of the points that no point dominates: best in the first objective first, then in the second, ...

    Equal points stand together in their order; with `distinct` only the first of them is named.
    """
    merits = turned(points, directions)
    found = _front(merits, _best_first(merits))
    if not distinct or not len(found):
        return found
    new = (merits[found][1:] != merits[found][:-1]).any(axis=1)
    return np.asarray(found[np.concatenate([[True], new])])


def successive_fronts(points: ArrayLike, directions: Sequence[str] | None = None) -> list[Places]:
    """All points in successive fronts: the first is `front`, the next the front of what is left, and so on."""
    merits = turned(points, directions)
    left, found = _best_first(merits), []
    while len(left):
        found.append(_front(merits, left))
        left = left[~np.isin(left, found[-1])]
    return found


def crowding(points: ArrayLike) -> Floats:
    """How far each point of one front is from its neighbours: more is lonelier, infinite at the ends. (n, k) to (n,).

    The sum over the objectives of the gap between the next larger and the next smaller value on the front, as a share of
    the front's extent there (Deb et al., A Fast and Elitist Multiobjective Genetic Algorithm: NSGA-II, 2002). Points that
    are at an end of any objective are infinite; an objective in which all are alike says nothing. Of equal points the first
    counts, and the others have 0: a copy adds nothing to a front. So nothing but copies depends on the order of the points.

    >>> crowding([[0.0, 4.0], [1.0, 3.0], [1.0, 3.0], [4.0, 0.0]])
    array([inf,  2.,  0., inf])
    """
    values = _finite(turned(points), "a crowding distance")
    distances = np.zeros(len(values))
    if not len(values):
        return distances
    unlike, first = np.unique(values, axis=0, return_index=True)
    if len(unlike) == 1:
        distances[first] = math.inf
        return distances
    for column in unlike.T:
        steps, at = np.unique(column, return_inverse=True)
        if len(steps) > 1:
            gaps = np.full(len(steps), math.inf)
            gaps[1:-1] = (steps[2:] - steps[:-2]) / (steps[-1] - steps[0])
            distances[first] += gaps[at]
    return distances


def hypervolume(points: ArrayLike, reference: ArrayLike, directions: Sequence[str] | None = None) -> float:
    """The exact volume of what the points dominate, up to a reference point that is worse than them; more is better.

    A point that is not better than the reference in every objective adds nothing; neither do copies. The work goes with
    n log n for two objectives, n^2 for three, and with the (number of objectives - 1)-th power of n in general.

    >>> hypervolume([[3.0, 1.0], [2.0, 2.0], [1.0, 1.0]], [0.0, 0.0])
    5.0
    """
    merits = _finite(turned(points, directions), "a hypervolume")
    worst = _finite(turned(np.atleast_2d(np.asarray(reference, dtype=np.float64)), directions), "a hypervolume")
    if not len(merits):
        return 0.0
    if worst.shape != (1, merits.shape[1]) or not merits.shape[1]:
        raise InputError(f"reference of {worst.size} numbers for {merits.shape[1]} objectives: one each is needed")
    above = merits - worst
    return _volume(above[(above > 0).all(axis=1)])


def filled(points: ArrayLike, directions: Sequence[str] | None = None) -> Floats:
    """How much of their box the points have filled after the first, the second, ...: the hypervolume as a share, (n,).

    The box goes from the worst to the best value of each objective among all of the points, so 1 would be one point that
    is best in everything. An objective in which all are alike says nothing.

    >>> filled([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0]])
    array([0.  , 0.5 , 0.75])
    """
    merits = _finite(turned(points, directions), "a hypervolume")
    if not merits.size:
        return np.zeros(len(merits))
    extent = np.ptp(merits, axis=0)
    scaled = (merits - merits.min(axis=0))[:, extent > 0] / extent[extent > 0]
    if not scaled.shape[1]:
        return np.ones(len(merits))
    shares, best = np.zeros(len(merits)), scaled[:0]
    for at, point in enumerate(scaled):
        if (best >= point).all(axis=1).any():  # nothing new
            shares[at] = shares[at - 1]
            continue
        best = np.vstack([best[~(best <= point).all(axis=1)], point])
        shares[at] = _volume(best[(best > 0).all(axis=1)])
    return shares


def knee(points: ArrayLike, directions: Sequence[str] | None = None) -> int:
    """The place of the knee of the front: where giving up a little of one objective no longer gains much of another.

    Each objective is scaled to 0 (the worst on the front) to 1 (the best), and the knee is the point of the front with the
    greatest sum. For two objectives that is the one furthest from the straight line between the ends of the front (Das 1999;
    Branke et al. 2004). Of equals it is the one that is better in the first objective.

    >>> knee([[0.0, 1.0], [0.7, 0.8], [1.0, 0.0]])
    1
    """
    merits = _finite(turned(points, directions), "a knee")
    if not merits.size:
        raise InputError("no points: there is no knee of none")
    places = front(merits)
    there = merits[places]
    extent = np.ptp(there, axis=0)
    scaled = (there - there.min(axis=0)) / np.where(extent > 0, extent, 1.0)
    return int(places[np.argmax(scaled.sum(axis=1))])


def _volume(sides: Floats) -> float:
    """The volume of the union of boxes from the origin to `sides`, all positive: slices along the last objective."""
    if not len(sides):
        return 0.0
    if sides.shape[1] == 1:
        return float(sides.max())
    sides = sides[np.argsort(-sides[:, -1], kind="stable")]
    thickness = sides[:, -1] - np.append(sides[1:, -1], 0.0)
    if sides.shape[1] == 2:  # the slice below the i-th is as wide as the widest of the first i
        return float(np.maximum.accumulate(sides[:, 0]) @ thickness)
    return math.fsum(_volume(sides[:many, :-1]) * one for many, one in enumerate(thickness.tolist(), 1) if one > 0)


def _best_first(merits: Floats) -> Places:
    """Places by falling first objective, ties by the next ones, equal points as they come."""
    return np.lexsort(-merits.T[::-1]) if merits.size else np.arange(0)


def _front(merits: Floats, left: Places) -> Places:
    """Of the places `left`, best first, those that no other dominates, in that order.

    With two objectives a point is new to the front where its second is above all seconds before it. With more, the first
    that is left can be dominated by nothing after it: whatever it equals is on the front with it, and whatever it dominates
    is dropped.
    """
    if 1 <= merits.shape[1] <= 2 and len(left):
        last = merits[left, -1]
        new = np.concatenate([[True], last[1:] > np.maximum.accumulate(last)[:-1]])
        opener = left[np.flatnonzero(new)[np.cumsum(new) - 1]]  # the newest point of the front so far
        return np.asarray(left[(merits[left] == merits[opener]).all(axis=1)])
    found = [left[:0]]
    while len(left):
        first, others = merits[left[0]], merits[left]
        alike = (others == first).all(axis=1)
        found.append(left[alike])
        left = left[(others > first).any(axis=1)]
    return np.concatenate(found)


def _finite(values: Floats, what: str) -> Floats:
    if not np.isfinite(values).all():
        raise InputError(f"a point is infinite: {what} needs finite ones")
    return values
