"""A click log with a planted interaction: yes where two categories are equal, which no sum of single weights can say."""

from __future__ import annotations

import numpy as np

from foresee.data.features import Features
from foresee.task import Task

TASK = Task((2,), 1, vocabularies=(4, 4, 3))


def planted(rows: int = 1200, seed: int = 0) -> Features:
    draws = np.random.default_rng(seed)
    sparse = np.stack([draws.integers(0, size, rows) for size in TASK.vocabularies], 1)
    dense = draws.normal(size=(rows, 2))
    labels = ((sparse[:, 0] % 2 == sparse[:, 1] % 2) ^ (draws.random(rows) < 0.05)).astype(int)
    return Features(dense, sparse, labels, vocabularies=TASK.vocabularies, name="planted")
