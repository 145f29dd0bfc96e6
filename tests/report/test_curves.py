from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.report.curves import front, improvements, spearman

scipy_stats = pytest.importorskip("scipy.stats")
small = st.integers(-4, 4).map(float)


@examples(50)
@given(st.lists(small, max_size=25), st.sampled_from([1.0, -1.0]))
def test_improvements_are_the_strict_records(values: list[float], sign: float) -> None:
    slow = [i for i, v in enumerate(values) if all(sign * v > sign * u for u in values[:i])]
    assert list(improvements(values, sign)) == slow


@examples(50)
@given(st.lists(st.tuples(small, small), max_size=25))
def test_front_holds_one_of_each_point_that_nothing_dominates(points: list[tuple[float, float]]) -> None:
    chosen = front([c for c, _ in points], [m for _, m in points])
    undominated = {(c, m) for c, m in points if not any((d <= c and n >= m) and (d, n) != (c, m) for d, n in points)}
    assert {points[i] for i in chosen} == undominated
    assert len(chosen) == len(undominated)
    costs = [points[i][0] for i in chosen]
    assert costs == sorted(costs)


@examples(50)
@given(st.lists(st.tuples(small, small), min_size=3, max_size=25))
def test_spearman_agrees_with_scipy(points: list[tuple[float, float]]) -> None:
    x, y = [p[0] for p in points], [p[1] for p in points]
    found = spearman(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found is None
    else:
        assert found is not None
        assert math.isclose(found, scipy_stats.spearmanr(x, y).statistic, abs_tol=1e-12)


def test_spearman_needs_three_points() -> None:
    assert spearman([1.0, 2.0], [1.0, 2.0]) is None
