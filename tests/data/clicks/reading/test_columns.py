"""Columns of the engine, beside plain texts."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.data.clicks.reading.columns import ArrowTexts, as_text
from foresee.data.clicks.reading.texts import Texts
from foresee.errors import DataError

WORDS = st.sampled_from(
    ["1", "-2.5", "", "x", "+7", "1e3", "1e-400", "inf", "nan", "1_0", ".5", "5.", "NA", "1e39", "0x1"]
)


@examples(80)
@given(st.lists(WORDS | st.floats(width=64, allow_nan=False).map(repr) | st.integers().map(str), max_size=20))
def test_the_same_numbers_and_keys(texts: list[str]) -> None:
    plain, column = Texts.of(texts), ArrowTexts(pa.array(texts, pa.string()), strip=True)
    missing = plain.among(("", "NA"))
    assert np.array_equal(plain.numbers(missing), column.numbers(missing), equal_nan=True)
    assert np.array_equal(plain.keys(), column.keys())
    assert [column[row] for row in range(len(column))] == [plain[row] for row in range(len(plain))]


COMMAS = st.sampled_from(
    ["1,5", "-1.234,5", "1.5", "12.345", "1.23,4", "7", "", "3,", "+2,5e3", "1,2,3", "x,1", "1e39"]
)


@examples(40)
@given(st.lists(COMMAS, max_size=12))
def test_the_same_numbers_with_decimal_commas(texts: list[str]) -> None:
    plain, column = Texts.of(texts), ArrowTexts(pa.array(texts, pa.string()), strip=True)
    missing = plain.among(("",))
    found = plain.numbers(missing, commas=True)
    assert np.array_equal(found, column.numbers(missing, commas=True), equal_nan=True)
    said = {"1,5": 1.5, "-1.234,5": -1234.5, "12.345": 12345.0, "7": 7.0, "3,": 3.0, "+2,5e3": 2500.0}
    assert np.array_equal(found, [said.get(text, np.nan) for text in texts], equal_nan=True)


def test_slices_and_chunks() -> None:
    array = pa.array(["a", "bc", "", "def"])
    assert [ArrowTexts(array.slice(1, 2), strip=False)[row] for row in range(2)] == ["bc", ""]
    column = ArrowTexts(pa.chunked_array([array, array.slice(3)]), strip=False)
    assert [column[row] for row in range(5)] == ["a", "bc", "", "def", "def"]
    assert np.array_equal(column.keys(), Texts.of(["a", "bc", "", "def", "def"]).keys())
    assert len(ArrowTexts(pa.chunked_array([], pa.string()), strip=False)) == 0


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array([1, None, -3]), ["1", "", "-3"]),
        (pa.array([1.0, None, 0.5]), ["1", "", "0.5"]),
        (pa.array([True, None, False]), ["1", "", "0"]),
        (pa.array([dt.date(2014, 10, 21)]), ["2014-10-21"]),
        (pa.array(["x", None]).dictionary_encode(), ["x", ""]),
        (pa.array(["y"], pa.large_string()), ["y"]),
    ],
)
def test_types_as_texts(array: pa.Array, texts: list[str]) -> None:
    column = ArrowTexts(array, strip=True)
    assert [column[row] for row in range(len(column))] == texts


def test_lists_are_written_as_json() -> None:
    column = ArrowTexts(pa.array([["a", "ü"], [], None]), strip=True)
    assert [column[row] for row in range(3)] == ['["a","ü"]', "[]", ""]
    column = ArrowTexts(pa.array([{"size": 2, "on": dt.date(2014, 10, 21)}]), strip=True)
    assert column[0] == '{"size":2,"on":"2014-10-21"}'


def test_bytes_are_no_texts_and_their_column_is_named() -> None:
    with pytest.raises(DataError, match="column 'hash' of type binary has no form as text"):
        ArrowTexts(pa.array([b"\xff\xfe"]), strip=True, name="hash")


def test_numbers_of_floats_are_exact() -> None:
    values = np.array([0.1, np.nan, 1e39, -np.inf, np.float64(np.float32(0.3))])
    column = ArrowTexts(pa.array(values), strip=True)
    assert np.array_equal(column.numbers(np.zeros(5, bool)), [0.1, np.nan, np.nan, np.nan, values[4]], equal_nan=True)
    assert as_text(1e300) == repr(1e300)
