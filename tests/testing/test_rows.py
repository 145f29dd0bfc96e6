from __future__ import annotations

import math
from dataclasses import replace

import pytest

from foresee.runs import Store
from foresee.testing.rows import SCORE, difference, fill, made


@pytest.mark.parametrize(
    ("found", "expected", "message"),
    [
        (0.0, -0.0, "record is 0.0, expected -0.0"),
        (1, 1.0, "record is 1, expected 1.0"),
        (1, True, "record is 1, expected True"),
        ([1], (1,), "record is [1], expected (1,)"),
        ([1], [1, 2], "record is [1], expected [1, 2]"),
        ({"a": {"b": [0.1]}}, {"a": {"b": [0.2]}}, "record['a']['b'][0] is 0.1, expected 0.2"),
        ({"a": 1}, {"a": 1, "b": None}, "record is {'a': 1}, expected {'a': 1, 'b': None}"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ""),
        ([math.nan, "\ud800"], [math.nan, "\ud800"], ""),
        (None, SCORE, f"record is None, expected {SCORE!r:.100}"),
        (replace(SCORE, parts={"a": 1.0}), SCORE, "record.parts is {'a': 1.0}, expected {}"),
    ],
)
def test_the_first_difference_is_named(found, expected, message):
    assert difference(found, expected) == message


def test_of_times_it_matters_only_whether_there_is_one():
    with made(Store, ":memory:") as store:
        expected = fill(store)
        record = store.record()
    assert record != expected
    assert difference(record, expected) == ""
    assert difference(replace(record, created=0.0), expected) == "record.created is False, expected True"
