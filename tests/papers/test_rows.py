"""Rows: those made of others, those not asked for, and those without a table."""

from __future__ import annotations

import pytest
from tests.papers.made_up import shop

from foresee.papers.asked import Asked, Measured
from foresee.papers.rows import Made, correlation_cells


def test_rows_that_were_not_asked_for_stay_empty(tables):
    rows = {"params": Asked("params"), "minus": Made(("params",), lambda one: Measured(-one.values)), "x": Asked("x")}
    workshop = shop(tables, benchmarks=["nats-sss-cifar10"], rows=["minus"])
    cells = {cell.row: cell for cell in correlation_cells(workshop, "nats-sss-cifar10", rows)}
    assert cells["minus"].estimate is not None, "made of a row that was not asked for"
    assert all(cells[row].estimate is None and "--row" in cells[row].reason for row in ("params", "x"))
    for changes in ({"benchmarks": ["nasbench101"]}, {"rows": ["other"]}):
        left_out = list(correlation_cells(shop(tables, **changes), "nats-sss-cifar10", rows))
        assert [cell.row for cell in left_out] == list(rows)
        assert all(cell.estimate is None and "not asked for" in cell.reason for cell in left_out)


def test_rows_can_be_made_of_rows(tables):
    rows = {
        "params": Asked("params"),
        "minus": Made(("params",), lambda params: Measured(-params.values)),
        "hidden": Asked("macs"),
    }
    cells = list(correlation_cells(shop(tables, sample=0), "nats-sss-cifar10", rows, hidden=("hidden",)))
    assert [cell.row for cell in cells] == ["params", "minus"]
    assert cells[0].estimate.value == pytest.approx(-cells[1].estimate.value)
    empty = list(correlation_cells(shop(tables), "nasbench101", rows, {"a": "spearman", "b": "kendall"}))
    assert {(cell.row, cell.column) for cell in empty} == {(row, column) for row in rows for column in "ab"}
    assert all(cell.estimate is None and "no table" in cell.reason for cell in empty)
