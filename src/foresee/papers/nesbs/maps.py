"""A map of predictions: networks as points of a plane, as far apart as they disagree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.papers.samples import Floats


def distances(answers: NDArray[Any]) -> Floats:
    """The share of samples on which two networks differ, (networks, networks), from their answers (networks, samples).

    >>> distances(np.array([[0, 1], [0, 2]])).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    return np.asarray((answers[:, None] != answers[None]).mean(-1), dtype=np.float64)


def laid_out(apart: Floats) -> tuple[Floats, float]:
    """Points (networks, 2) whose distances are as nearly these as a plane allows, and how much of them that is (0 to 1).

    Classical scaling (Torgerson, 1952): the two largest eigenvectors of the centred squares. The share is of the eigenvalues
    above zero. An eigenvector's sign is chosen so that its largest coordinate is positive: the map is the same everywhere.

    >>> points, shown = laid_out(np.array([[0.0, 3.0], [3.0, 0.0]]))
    >>> round(float(np.linalg.norm(points[0] - points[1])), 6), round(shown, 6)
    (3.0, 1.0)
    """
    squares = apart**2
    centred = -(squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()) / 2
    values, vectors = np.linalg.eigh(centred)
    order = np.argsort(values)[::-1]
    values, vectors = np.clip(values[order], 0, None), vectors[:, order]
    points = np.zeros((len(apart), 2))
    for axis in range(min(2, len(apart))):
        vector = vectors[:, axis]
        points[:, axis] = np.sign(vector[np.argmax(np.abs(vector))]) * vector * np.sqrt(values[axis])
    total = float(values.sum())
    return points, float(values[:2].sum()) / total if total else 1.0
