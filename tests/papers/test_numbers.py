"""The published numbers: all there, well formed, found by name."""

from __future__ import annotations

import math

import pytest

from foresee.errors import UnknownNameError
from foresee.papers.base import load_all
from foresee.papers.numbers import DOCUMENTS, WHY_EMPTY, names, published


def test_all_tables_are_there():
    assert len(names()) == 61
    assert {name.partition("-")[0] for name in names()} == set(DOCUMENTS)
    tables = [published(name) for name in names()]
    numbers = [value for table in tables for row in table.rows for value in row.values.values() if value is not None]
    assert len(numbers) == 2614
    assert all(isinstance(value, (int, float)) and math.isfinite(value) for value in numbers)


@pytest.mark.parametrize("name", names())
def test_every_table_is_well_formed(name):
    table = published(name)
    columns = {column.name for column in table.columns}
    assert table.caption
    assert table.where
    assert ".txt" not in table.where
    assert len({row.address for row in table.rows}) == len(table.rows), "a row can be named"
    for row in table.rows:
        assert set(row.values) == columns
        assert set(row.std) <= columns
        assert {column for column, value in row.values.items() if value is None} == set(row.missing)


def test_numbers_as_printed():
    assert published("dextr-table-1").row("zico").values["nasbench101"] == 0.41
    assert published("dextr-table-1").row("dextr").std["nasbench101"] == 0.01
    assert published("thesis-table-7.5").row("nasbench201-cifar10/non-realizable").values["grad:spearman"] == 0.75
    assert published("dextr-table-5").column("layers-with-sigma-max-ge-1").unit == "%"


def test_every_table_is_computed_or_says_why_not():
    computed = set(load_all())
    assert set(WHY_EMPTY) | computed >= set(names())
    assert not set(WHY_EMPTY) & computed, "a table that is computed has no excuse"


def test_unknown_names_get_suggestions():
    with pytest.raises(UnknownNameError, match="did you mean dextr-table-1"):
        published("dexter-table-1")
    with pytest.raises(UnknownNameError, match="nasbench101"):
        published("dextr-table-1").column("nasbench-101")
    with pytest.raises(UnknownNameError, match="dextr"):
        published("dextr-table-1").row("dexter")
