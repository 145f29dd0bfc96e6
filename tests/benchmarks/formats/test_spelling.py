"""Spellings: what is refused is told with its row and column. The spaces' own texts are in `test_compact`."""

from __future__ import annotations

import pytest

from foresee.benchmarks.formats.base import File
from foresee.benchmarks.formats.spelling import looks_macro, looks_nasbench201, looks_widths, restored, texts
from foresee.errors import DataError, InputError


def spell(a, b):
    if a == "bad":
        raise InputError("it is bad")
    return a + b


@pytest.fixture
def file(tmp_path):
    def make(text):
        (tmp_path / "t.csv").write_text(text)
        return File(tmp_path / "t.csv")

    return make


def test_entries_are_joined_row_by_row(file):
    assert list(texts(file("a,b\n1, 2\n3 ,4\n"), ("a", "b"), spell)) == ["12", "34"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\nbad,2\n", "t.csv, row 3, column a and b: it is bad"),
        ("a,b\n1,2\n,\n", "t.csv, row 3, column a and b: no architecture"),
        ("a,b\n1,2\n3,4\n\n1,2\n", "t.csv, row 5, column a and b: 12 comes twice, first in row 2"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(file, text, message):
    with pytest.raises(DataError, match=message):
        list(texts(file(text), ("a", "b"), spell))


def test_looks():
    assert looks_macro("01201201")
    assert not looks_macro("0120120")
    assert looks_widths("8:16:24:8:64")
    assert not looks_widths("8:16")
    assert looks_nasbench201("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|")
    assert not restored(["00000001"], 8)
    assert restored(["1"], 8)
