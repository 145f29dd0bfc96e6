"""Ours beside theirs: when they agree, and what an empty cell says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.papers.cells import Cell
from foresee.papers.comparing import Line, compare
from foresee.papers.numbers import published
from foresee.statistics import Estimate


def line(paper, ours, tolerance=0.03):
    return Line("", "row", "column", paper, None, ours, tolerance)


@given(st.floats(-1, 1), st.floats(-0.5, 0.5), st.floats(0, 0.3), st.sampled_from([0.03, 3.0]))
def test_agreement_is_tolerance_plus_half_the_interval(paper, difference, half, tolerance):
    value = paper + difference
    found = line(paper, Estimate(value, value - half, value + half, 10), tolerance)
    if abs(abs(difference) - tolerance - half) > 1e-9:
        assert found.agrees is (abs(difference) < tolerance + half)
    assert found.difference == pytest.approx(difference, abs=1e-12)


def test_agreement_without_an_interval_a_number_or_a_judge():
    assert line(0.5, Estimate(0.52)).agrees is True
    assert line(0.5, Estimate(0.54)).agrees is False
    assert line(None, Estimate(0.5)).agrees is None
    assert line(0.5, None).agrees is None
    assert line(0.5, Estimate(0.5), None).agrees is None


def test_compare_keeps_every_published_cell_and_adds_ours():
    table = published("dextr-table-5")
    column = table.columns[0].name
    cells = [
        Cell("nasbench101", column, Estimate(97.0, 96.5, 97.5, 8)),
        Cell.missing("nasbench201", column, "no table of nasbench201"),
        Cell("mine", column, Estimate(50.0, 40.0, 60.0, 8)),
    ]
    found = {one.row: one for one in compare(table, cells, empty="not asked")}
    assert list(found) == ["nasbench101", "nasbench201", "nasbench301", "mine"]
    assert found["nasbench101"].tolerance == 3.0
    assert found["nasbench101"].agrees
    assert found["nasbench201"].ours is None
    assert found["nasbench201"].reason == "no table of nasbench201"
    assert found["nasbench301"].ours is None
    assert found["nasbench301"].reason == "not asked"
    assert found["mine"].paper is None
    assert found["mine"].agrees is None


def test_compare_says_why_the_paper_has_no_number():
    lines = compare(published("dextr-figure-2"), [])
    assert any(one.paper is None and one.reason.startswith("paper: unreadable") for one in lines)


def test_rows_in_groups_have_their_own_cells():
    cells = [Cell("realizable/snip", "nasbench101:spearman", Estimate(0.1, 0.0, 0.2, 5))]
    ours = [one for one in compare(published("thesis-table-7.1"), cells) if one.ours is not None]
    assert [(one.group, one.row.lower()) for one in ours] == [("realizable", "snip")]
