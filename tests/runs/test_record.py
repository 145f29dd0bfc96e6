from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError
from foresee.runs import CandidateRow, Objective, Record

OBJECTIVES = (Objective("accuracy", "higher"), Objective("latency", "lower"))


def row(number, objectives=None, merit=None):
    status = "failed" if objectives is None and merit is None else "scored"
    return CandidateRow(number, "a", "a", None, status, "", merit, {}, 1, 0.0, 0.0, 0.0, objectives or {})


def record(rows, objectives=OBJECTIVES):
    return Record("search", "finished", 0.0, {}, {}, tuple(rows), objectives=objectives)


def test_a_value_is_turned_so_that_more_is_better():
    assert [one.merit(2.0) for one in OBJECTIVES] == [2.0, -2.0]
    with pytest.raises(InputError, match="objective params: direction 'smaller', expected 'higher' or 'lower'"):
        Objective("params", "smaller")


def test_the_front_by_hand():
    points = [(0.9, 5.0), (0.8, 5.0), (0.7, 1.0), (0.95, 9.0), (0.7, 1.0), (math.nan, 0.0), (0.6, 0.5)]
    rows = [row(number, {"accuracy": a, "latency": b}) for number, (a, b) in enumerate(points)]
    rows += [row(7), row(8, {"accuracy": 1.0})]  # failed; measured in one objective only
    assert [one.id for one in record(rows).front] == [0, 2, 3, 4, 6]


def test_the_front_of_one_objective_is_its_best():
    rows = [row(0, {"loss": 2.0}), row(1, {"loss": 1.0}), row(2), row(3, {"loss": 1.0})]
    assert [one.id for one in record(rows, (Objective("loss", "lower"),)).front] == [1, 3]
    assert record([row(0)], (Objective("loss", "lower"),)).front == ()


def test_without_objectives_the_merit_is_the_one():
    rows = [row(0, merit=1.0), row(1, merit=3.0), row(2), row(3, merit=3.0)]
    assert [one.id for one in record(rows, ()).front] == [1, 3]
    assert record([], ()).front == ()


def test_nan_merits_are_on_no_front():
    rows = [row(0, merit=math.nan), row(1, merit=-math.inf), row(2, merit=math.nan)]
    assert [one.id for one in record(rows, ()).front] == [1]
    assert record(rows[::2], ()).front == ()


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=12))
@examples(100)
def test_the_front_is_what_the_definition_says(points):
    names = ("a", "b", "c")
    sought = (Objective("a", "higher"), Objective("b", "lower"), Objective("c", "higher"))
    rows = [row(number, dict(zip(names, map(float, point), strict=True))) for number, point in enumerate(points)]

    def beats(other, one):
        merits = [(s.merit(other.objectives[s.name]), s.merit(one.objectives[s.name])) for s in sought]
        return all(o >= m for o, m in merits) and any(o > m for o, m in merits)

    assert list(record(rows, sought).front) == [one for one in rows if not any(beats(other, one) for other in rows)]
