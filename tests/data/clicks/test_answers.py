"""Labels as texts; more of them in test_schema.py."""

from __future__ import annotations

from foresee.data.clicks.answers import answers


def test_numbers_are_the_same_however_they_are_written() -> None:
    answer = answers(("1",), (), "s")
    assert [answer(text) for text in ("1", "1.0", "1e0", "+1", "01")] == [True] * 5
    assert [answer(text) for text in ("0", "0.0", "-0")] == [False] * 3
    assert [answer(text) for text in ("", "nan", "inf", "yes")] == [None] * 4


def test_words_are_not_numbers() -> None:
    answer = answers(("yes", "1"), ("no", "0"), "s")
    assert [answer(text) for text in ("yes", "1", "no", "0", "maybe")] == [True, True, False, False, None]
