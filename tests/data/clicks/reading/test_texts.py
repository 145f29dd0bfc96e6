"""Keys and numbers of texts, beside the slow obvious versions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.data.clicks.reading.texts import BLANKS, Texts, key, mixed, number

MASK = 2**64 - 1


def slow_key(text: str) -> int:
    raw = text.strip(BLANKS).encode()
    found = len(raw) * 0x9E3779B97F4A7C15 & MASK
    for at in range(0, len(raw), 8):
        found ^= int.from_bytes(raw[at : at + 8].ljust(8, b"\0"), "little")
        found = (found ^ found >> 30) * 0xBF58476D1CE4E5B9 & MASK
        found = (found ^ found >> 27) * 0x94D049BB133111EB & MASK
        found ^= found >> 31
    return found or 1


@examples(60)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=40), max_size=12))
def test_keys_are_those_of_the_definition(texts: list[str]) -> None:
    assert Texts.of(texts).keys().tolist() == [slow_key(text) for text in texts]


def test_keys_are_the_same_everywhere() -> None:
    assert key("68fd1e64") == 0x9EE448FF0B64D69B
    assert key("São Paulo, a longer text") == 0xD3FC56252E1EA1AC


def test_few_keys_meet() -> None:
    texts = [f"{n:x}" for n in range(50_000)] + [f"{n:040d}" for n in range(50_000)]
    keys = Texts.of(texts).keys()
    assert len(np.unique(keys)) == len(texts)
    per_bit = ((keys[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).mean(0)
    assert (np.abs(per_bit - 0.5) < 0.02).all()


def test_mixing_loses_nothing() -> None:
    assert len(np.unique(mixed(np.arange(10_000, dtype=np.uint64)))) == 10_000


@given(st.lists(st.sampled_from(["", "NA", "nan", "x", "NAN", "longer than any of them"])))
def test_among(texts: list[str]) -> None:
    some = ("", "NA", "nan")
    assert Texts.of(texts).among(some).tolist() == [text in some for text in texts]
    assert not Texts.of(texts).among(()).any()


@pytest.mark.parametrize("text", ["1", "-1", "+1", "1.", ".5", "1e3", "1E-3", "007", "3.4e38", "0.1", "-0"])
def test_numbers(text: str) -> None:
    assert number(text) == float(text)


@pytest.mark.parametrize(
    "text", ["", "x", "1_000", "1,5", "inf", "nan", "0x1", "1e400", "3.5e38", "١", "1 2", "--1", "e5"]
)
def test_what_is_no_number(text: str) -> None:
    assert np.isnan(number(text))


def test_texts_by_row() -> None:
    texts = Texts.of([" a ", "bé", ""])
    assert [texts[row] for row in range(3)] == ["a", "bé", ""]
    assert len(Texts.of([])) == 0
    assert len(Texts.of([]).keys()) == 0
