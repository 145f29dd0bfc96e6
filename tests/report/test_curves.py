from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.report.curves import improvements, rank_correlation
from foresee.statistics import spearman

small = st.integers(-4, 4).map(float)


@examples(50)
@given(st.lists(small, max_size=25), st.sampled_from([1.0, -1.0]))
def test_improvements_are_the_strict_records(values: list[float], sign: float) -> None:
    slow = [i for i, v in enumerate(values) if all(sign * v > sign * u for u in values[:i])]
    assert list(improvements(values, sign)) == slow


@examples(50)
@given(st.lists(st.tuples(small, small), max_size=8))
def test_a_correlation_is_shown_where_there_is_one_of_three_points_or_more(points: list[tuple[float, float]]) -> None:
    x, y = [p[0] for p in points], [p[1] for p in points]
    found = rank_correlation(x, y)
    if len(points) < 3 or len(set(x)) == 1 or len(set(y)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(spearman(x, y))
