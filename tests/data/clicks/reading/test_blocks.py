"""Bytes in blocks: records are never cut, damage is named and passed over."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.clicks.logs import write
from tests.properties import examples

from foresee.data.clicks.reading import blocks as module
from foresee.data.clicks.reading.blocks import Record, blocks, scan
from foresee.errors import DataError


def records(path: Path, size: int = 2**20) -> list[Record]:
    found: list[Record] = []
    for block in blocks(path, ",", size):
        found += scan(block.content, block.line, ",", final=True)[0] if block.records is None else block.records
    return found


FIELD = st.text(st.sampled_from('ab1,"\n é'), max_size=5)
ROWS = st.lists(st.lists(FIELD, min_size=2, max_size=3), max_size=12)


@examples(80)
@given(ROWS, st.sampled_from(["\n", "\r\n"]), st.integers(1, 40), st.booleans())
def test_any_table_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], end: str, size: int, all_quoted: bool
) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator=end, quoting=csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL).writerows(rows)
    path = write(tmp_path_factory.mktemp("b") / "t.csv", written.getvalue())
    found = records(path, size)
    assert [one.fields for one in found] == rows
    line, expected = 1, []
    for row in rows:
        expected.append(line)
        line += 1 + sum(field.count("\n") for field in row)
    assert [one.line for one in found] == expected


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_one_open_quote_costs_one_row(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINES", 20)
    path = write(tmp_path / "q.csv", '1,a\n2,"open\n' + "".join(f"{n},b\n" for n in range(60)) + '9,"fine"\n')
    found = records(path, size)
    assert [one.line for one in found if one.fields is None] == [2]
    assert [one.reason for one in found if one.fields is None] == ["a quote is opened and never closed"]
    assert len(found) == 63


def test_an_open_quote_at_the_end(tmp_path: Path) -> None:
    found = records(write(tmp_path / "q.csv", '1,a\n2,"b'))
    assert [(one.line, one.fields) for one in found] == [(1, ["1", "a"]), (2, None)]


def test_quotes_where_they_do_not_belong(tmp_path: Path) -> None:
    found = records(write(tmp_path / "q.csv", '5" screen,a\n"b"c,d\n"e""",f\n'))
    assert [one.fields for one in found] == [['5" screen', "a"], None, ['e"', "f"]]
    assert found[1].reason == "text after a closing quote"


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    found = records(write(tmp_path / "l.csv", b"1,a\n2,S\xe3o\n3,b\n"))
    assert [(one.line, one.fields is None) for one in found] == [(1, False), (2, True), (3, False)]
    assert "0xe3" in found[1].reason


def test_a_field_without_an_end(tmp_path: Path) -> None:
    found = records(write(tmp_path / "f.csv", '1,"' + "x" * 200_000 + '"\n2,b\n'))
    assert [one.fields is None for one in found] == [True, False]


@pytest.mark.parametrize("size", [3, 10_000])
def test_gzip(tmp_path: Path, size: int) -> None:
    text = "".join(f"{n},a\n" for n in range(500)).encode()
    path = tmp_path / "g.gz"
    path.write_bytes(gzip.compress(text[:1000]) + gzip.compress(text[1000:]) + b"\0" * 8)
    found = records(path, size)
    assert [one.fields for one in found] == [[str(n), "a"] for n in range(500)]


@pytest.mark.parametrize("cut", [15, 300, -4])
def test_gzip_that_ends_too_soon(tmp_path: Path, cut: int) -> None:
    rows = "".join(f"{n},{n * 7919 % 1000}\n" for n in range(500))
    path = tmp_path / "g.gz"
    path.write_bytes(gzip.compress(rows.encode())[:cut])
    found = records(path)
    assert found[-1].fields is None
    assert "ends in the middle" in found[-1].reason
    assert found[-1].line == len(found)
    assert [one.fields for one in found[:-1]] == [[str(n), str(n * 7919 % 1000)] for n in range(len(found) - 1)]


def test_gzip_that_is_damaged(tmp_path: Path) -> None:
    raw = bytearray(gzip.compress("".join(f"{n},{n * 7919 % 1000}\n" for n in range(5000)).encode()))
    raw[len(raw) // 2] ^= 0xFF
    path = tmp_path / "g.gz"
    path.write_bytes(raw)
    assert "damaged here" in records(path)[-1].reason


def test_a_mark_at_the_beginning_blank_lines_and_no_end(tmp_path: Path) -> None:
    found = records(write(tmp_path / "b.csv", b"\xef\xbb\xbf1,a\n\n\r\n2,b"), 5)
    assert [(one.line, one.fields) for one in found] == [(1, ["1", "a"]), (4, ["2", "b"])]


@pytest.mark.parametrize("start", module.STRANGERS)
def test_other_kinds_of_files(tmp_path: Path, start: bytes) -> None:
    with pytest.raises(DataError, match="expected text in UTF-8"):
        list(blocks(write(tmp_path / "x.csv", start + b"123456"), ","))


def test_one_endless_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 100)
    with pytest.raises(DataError, match="line 1 is longer"):
        list(blocks(write(tmp_path / "x.csv", b"\0" * 1000), ",", 50))
