"""How well scores set two groups apart: the area under the curve of receivers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from foresee.errors import InputError
from foresee.statistics.ranks import ranks_of


def auc(scores: ArrayLike, answers: ArrayLike) -> float:
    """The probability that a random yes has a larger score than a random no, a tie counting half.

    With `R` the sum of the ranks of the n₁ that are yes, among all: `(R - n₁ (n₁ + 1) / 2) / (n₁ n₀)` (Mann and Whitney).
    Where one of the groups is empty there is none: NaN.

    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]), auc([0.5, 0.5], [0, 1])
    (0.75, 0.5)
    """
    found, yes = np.asarray(scores, np.float64).reshape(-1), np.asarray(answers).reshape(-1) > 0.5
    if len(found) != len(yes):
        raise InputError(f"auc: {len(found)} scores for {len(yes)} answers; expected one each")
    positive, negative = int(yes.sum()), int((~yes).sum())
    if not positive or not negative:
        return math.nan
    total = float(ranks_of(found)[yes].sum())
    return (total - positive * (positive + 1) / 2) / (positive * negative)
