"""Small mathematics of a report: improvements, Pareto fronts, rank correlation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence


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


def front(costs: Sequence[float], merits: Sequence[float]) -> tuple[int, ...]:
    """Positions on the Pareto front (more merit, less cost), cheapest first; of equal points the first one.

    >>> front([3, 1, 2, 2], [9.0, 5.0, 4.0, 7.0])
    (1, 3, 0)
    """
    order = sorted(range(len(costs)), key=lambda i: (costs[i], -merits[i], i))
    return tuple(order[i] for i in improvements([merits[i] for i in order]))


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation with ties averaged; None for fewer than three points or a constant side.

    >>> round(spearman([1, 2, 3, 4], [1, 3, 2, 4]), 3)
    0.8
    """
    if len(first) < 3:
        return None
    a, b = _ranks(first), _ranks(second)
    mean = (len(first) + 1) / 2
    spread = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    return sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True)) / spread if spread else None


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(values)
    first: dict[float, int] = {}
    many = Counter(order)
    for position, value in enumerate(order, 1):
        first.setdefault(value, position)
    return [first[value] + (many[value] - 1) / 2 for value in values]
