from __future__ import annotations

import contextlib
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.data.clicks.guessing.sampling import sample
from foresee.errors import DataError, ForeseeError


def write(tmp_path, text, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "delimiter", "names"),
    [
        ("a,b,c\n1,2,3\n4,5,6\n", ",", ("a", "b", "c")),
        ("a;b;c\n1;2,5;3\n4;5,5;6\n", ";", ("a", "b", "c")),
        ("a;b;c;d\n1;2,5;3,1;4,4\n4;5,5;6,7;8,9\n", ";", ("a", "b", "c", "d")),  # commas are as regular as semicolons
        ("a\tb\n1\tx,y\n2\tz\n", "\t", ("a", "b")),
        ("a|b\n1|2\n", "|", ("a", "b")),
        ('a,b\n"1,5",2\n"3,5",4\n', ",", ("a", "b")),
        ("1,2\n3,4\n", ",", ("column_1", "column_2")),
        ("x,y\nx,z\nx,y\ny,z\n", ",", ("column_1", "column_2")),  # its first line has values of the others
        ("\ufeffa,b\r\n1,2\r\n", ",", ("a", "b")),
        (",a,b\n0,1,2\n1,3,4\n", ",", ("", "a", "b")),  # a frame's index without a name
    ],
)
def test_delimiters_and_header_lines(tmp_path, text, delimiter, names):
    found = sample(write(tmp_path, text))
    assert (found.delimiter, found.names) == (delimiter, names)
    assert found.header == (not names[0].startswith("column_"))
    assert found.whole


def test_a_header_line_with_names_that_lack_or_come_twice(tmp_path):
    found = sample(write(tmp_path, "click,a,a,b,\n" + "1,0.5,x,3,\n0,0.25,y,4,\n" * 9))
    assert found.header
    assert (found.names, found.again) == (("click", "a", "b", ""), ("a",))
    assert found.columns[1][:2] == ("0.5", "0.25")
    assert not sample(write(tmp_path, "x,a,a\ny,b,b\nz,c,d\n" * 9)).header  # words all along: a row like the others


def test_a_header_line_that_is_no_utf8_is_named_in_the_error(tmp_path):
    text = "Gerät;Preis\n" + "iPhone;1,5\nDesktop;2,5\n" * 9
    with pytest.raises(DataError, match=r"names of its columns are not UTF-8 text \(byte 0xe4\).*iconv"):
        sample(write(tmp_path, text.encode("cp1252")))
    rows = "1;Köln;2\n".encode("cp1252") + b"0;Bonn;3\n" * 9  # a row like that is malformed, and no more
    assert sample(write(tmp_path, rows)).rows == 9


def test_a_quote_that_is_never_closed_costs_its_row_alone(tmp_path):
    found = sample(write(tmp_path, 'a,b\n1,2\n3,"4\n' + "5,6\n" * 50))
    assert found.columns[0] == ("1", *["5"] * 50)


def test_rows_that_do_not_fit_are_passed_over(tmp_path):
    found = sample(write(tmp_path, "a,b\n1,2\n3\n4,5,6\n7,8\n"))
    assert found.columns == (("1", "7"), ("2", "8"))


def test_a_large_file_is_seen_from_all_over(tmp_path):
    path = write(tmp_path, "a,b\n" + "".join(f"{k},x\n" for k in range(20_000)))
    found = sample(path, 400)
    seen = [int(value) for value in found.columns[0]]
    assert not found.whole
    assert seen[:100] == list(range(100))
    assert max(seen) > 18_000
    assert len(seen) == len(set(seen))
    packed = write(tmp_path, gzip.compress(path.read_bytes()), "a.csv.gz")
    assert sample(packed, 400).columns[0][-1] == "399"


def test_a_damaged_archive_is_read_up_to_the_damage(tmp_path):
    content = gzip.compress("".join(f"{k},{k * 7919 % 1000}\n" for k in range(5000)).encode())
    found = sample(write(tmp_path, content[: len(content) // 2], "a.csv.gz"))
    assert 100 < found.rows < 5000


@pytest.mark.parametrize(("start", "kind"), [(b"PK\x03\x04", "zip"), (b"BZh91", "bzip2"), (b"\xff\xfea\0", "UTF-16")])
def test_other_kinds_of_files_are_named(tmp_path, start, kind):
    with pytest.raises(DataError, match=kind):
        sample(write(tmp_path, start + b"x" * 50))


@given(st.binary(max_size=300))
def test_any_bytes_are_a_table_or_one_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "a.csv"
    path.write_bytes(content)
    with contextlib.suppress(ForeseeError):
        found = sample(path)
        assert len(found.names) == len(found.columns)
