"""Ours beside theirs: when they agree, what an empty cell says, and what is written."""

from __future__ import annotations

import csv
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.errors import InputError, UnknownNameError
from foresee.papers import base
from foresee.papers.base import Cell, Line, Scatter, compare, find, names, reproduce, reproduction
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
    undefined = Cell("a", "b", Estimate(math.nan))
    assert undefined.estimate is None
    assert "undefined" in undefined.reason


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


def test_every_name_can_be_shown_without_a_workshop():
    for name in names():
        page = reproduce(name)
        assert page.caption
        assert all(one.ours is None for one in page.lines), "ours is empty unless computed in this run"
        assert all(one.reason for one in page.lines)
        assert page.verdict == "nothing computed in this run"


def test_unknown_names_get_suggestions():
    with pytest.raises(UnknownNameError, match="dextr-table-1"):
        find("dextr-table1")


def test_registering(monkeypatch):
    monkeypatch.setattr(base, "reproductions", dict(base.load_all()))

    with pytest.raises(InputError, match="say what it shows"):
        reproduction("dextr-figure-99")(lambda workshop: iter(()))
    with pytest.raises(InputError, match="already"):
        reproduction("dextr-table-1")(lambda workshop: iter(()))

    @reproduction("dextr-figure-99", also=("dextr-figure-98",), caption="nothing much")
    def both(workshop):
        """How it is done."""
        yield Cell("a", "b", Estimate(1.0, 0.5, 1.5, 3))
        yield Scatter("dots", "some dots", "x", "y", (1.0, 2.0), (3.0, 4.0))

    assert find("dextr-figure-98")[1].how == "How it is done."
    assert find("dextr-figure-98")[0] is None
    assert {"dextr-figure-98", "dextr-figure-99"} <= set(names())


def test_a_page_is_written_as_json_and_csv(tmp_path, monkeypatch):
    monkeypatch.setattr(base, "reproductions", dict(base.load_all()))
    seen = []

    @reproduction("dextr-figure-99", caption="nothing much")
    def one(workshop):
        yield Cell("a", "b", Estimate(1.0, 0.5, 1.5, 3))
        yield Cell.missing("c", "b", "no table")
        yield Scatter("dots", "some dots", "x", "y", (1.0,), (3.0,))

    class Shop:
        notes, rows = ["by hand"], ()

        def settings(self):
            return {"seed": 3}

    page = reproduce("dextr-figure-99", Shop(), on_found=seen.append)
    assert len(seen) == 3
    assert [path.name for path in page.write(tmp_path / "new")] == ["dextr-figure-99.json", "dextr-figure-99.csv"]
    plain = json.loads((tmp_path / "new/dextr-figure-99.json").read_text())
    assert plain["settings"] == {"seed": 3}
    assert plain["notes"] == ["by hand"]
    assert plain["figures"][0]["y"] == [3.0]
    with (tmp_path / "new/dextr-figure-99.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["row"], row["ours"], row["reason"]) for row in rows] == [("a", "1.0", ""), ("c", "", "no table")]
