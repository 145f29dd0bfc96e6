"""Which way is better: "higher" or "lower", and numbers turned so that more is better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresee.errors import InputError, UnknownNameError

DIRECTIONS = ("higher", "lower")


def sign(direction: str) -> float:
    """1 where higher is better, -1 where lower is: what to multiply by so that more is better."""
    if direction not in DIRECTIONS:
        raise UnknownNameError("direction", str(direction), DIRECTIONS)
    return 1.0 if direction == "higher" else -1.0


def signs(directions: Sequence[str] | None, many: int, of: str) -> list[float]:
    """One sign for each of so many columns; `of` names them in an error. None is "higher" for all."""
    found = [1.0] * many if directions is None else [sign(way) for way in directions]
    if len(found) != many:
        raise InputError(f"{len(found)} directions for {many} {of}: one each is needed")
    return found


def turned(points: ArrayLike, directions: Sequence[str] | None = None) -> NDArray[np.float64]:
    """Points in several objectives, (n, objectives), turned so that more is better in each. No point is NaN anywhere.

    >>> turned([[3.0, 0.9], [1.0, 0.8]], ["lower", "higher"])
    array([[-3. ,  0.9],
           [-1. ,  0.8]])
    """
    found = np.asarray(points, dtype=np.float64)
    if found.shape == (0,):  # an empty list says nothing of its objectives
        found = found.reshape(0, len(directions or ()))
    if found.ndim != 2 or (len(found) and not found.size):
        raise InputError(f"points of shape {found.shape}: expected (points, objectives)")
    if np.isnan(found).any():
        raise InputError("a point is NaN in an objective: leave out what has failed")
    return found * signs(directions, found.shape[1], "objectives") + 0.0  # no -0, which is another value to some sorts
