"""Delimiters, header lines, columns by name and by position."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.data.clicks.logs import SMALL, write

from foresee.data.clicks.reading.layout import layout
from foresee.data.clicks.schema import Schema, schema
from foresee.errors import DataError


@pytest.mark.parametrize("mark", ["\t", ",", ";", "|", "\x01"])
def test_the_delimiter_is_found(tmp_path: Path, mark: str) -> None:
    path = write(tmp_path / "t.csv", f"\n{mark.join(['n', 'c', 'y'])}\n{mark.join(['1', 'a,b;c d', '0'])}\n")
    found = layout(path, SMALL)
    assert (found.delimiter, found.header, found.fields) == (mark, 2, 3)
    assert found.places == {"y": 2, "n": 0, "c": 1}


def test_a_stated_delimiter_wins(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "y,n;c,d\n")
    assert layout(path, Schema(label="y,n", categories=("c,d",), delimiter=";")).fields == 2


def test_names_in_other_letters(tmp_path: Path) -> None:
    assert layout(write(tmp_path / "t.csv", ' Y ,"N",C\n'), SMALL).places == {"y": 0, "n": 1, "c": 2}


def test_by_position_where_no_names_are_there(tmp_path: Path) -> None:
    known = SMALL.but(columns=("y", "x", "n", "c"))
    found = layout(write(tmp_path / "t.csv", "1,2,3,4\n1,2\n"), known)
    assert (found.header, found.places) == (0, {"y": 0, "n": 2, "c": 3})


def test_a_broken_first_row_decides_nothing(tmp_path: Path) -> None:
    known = SMALL.but(columns=("y", "n", "c"))
    assert layout(write(tmp_path / "t.csv", "1,2\n" + "1,2,3\n" * 5), known).fields == 3


def test_columns_that_may_be_lacking(tmp_path: Path) -> None:
    found = layout(write(tmp_path / "k.txt", "\t".join("0123456789ab") + "\n"), schema("kdd2012"))
    assert found.fields == 12
    assert (found.places["Gender"], found.places["UserID"]) == (None, 11)


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"does not name the columns of the schema: n missing .*did you mean nn"):
        layout(write(tmp_path / "t.csv", "y,nn,c\n1,2,3\n"), SMALL)
    with pytest.raises(DataError, match="nor has it the 40 columns"):
        layout(write(tmp_path / "t.csv", "1\t2\t3\n"), schema("criteo"))
    with pytest.raises(DataError, match="no row in it"):
        layout(write(tmp_path / "t.csv", "\n\n"), SMALL)
