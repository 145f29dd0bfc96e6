"""Small mathematics of a report: improvements, and a correlation where there is one worth showing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from foresee.statistics import spearman

#: fewer points than this have no correlation worth a word
LEAST = 3


def improvements(values: Sequence[float], sign: float = 1.0) -> tuple[int, ...]:
    """Positions that beat everything before them.

    >>> improvements([1.0, 3.0, 2.0, 3.0, 4.0])
    (0, 1, 4)
    """
    found: list[int] = []
    for i, value in enumerate(values):
        if not found or sign * value > sign * values[found[-1]]:
            found.append(i)
    return tuple(found)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's; None for fewer than three points or a constant side.

    >>> rank_correlation([1, 2, 3, 4], [1, 3, 2, 4])
    0.8
    """
    found = spearman(first, second) if len(first) >= LEAST else math.nan
    return None if math.isnan(found) else found
