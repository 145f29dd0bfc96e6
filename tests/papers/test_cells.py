"""Cells: a number, or the reason why there is none."""

from __future__ import annotations

import math

from foresee.papers.cells import Cell, missing
from foresee.statistics import Estimate


def test_what_does_not_exist_is_no_number():
    undefined = Cell("a", "b", Estimate(math.nan))
    assert undefined.estimate is None
    assert "undefined" in undefined.reason
    said = Cell("a", "b", Estimate(math.nan), "one network only")
    assert said.reason == "one network only"
    assert Cell("a", "b", Estimate(0.5)).estimate == Estimate(0.5)


def test_many_cells_stay_empty_for_one_reason():
    found = list(missing(["a", "b"], (column for column in "xy"), ValueError("no table")))
    assert [(cell.row, cell.column) for cell in found] == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert all(cell.estimate is None and cell.reason == "no table" for cell in found)
