"""Times."""

from __future__ import annotations

import math

import pytest

from foresee.data.clicks.reading.times import TAKE, moment, place


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("14102123", "%y%m%d%H"),
        ("2014-10-21 23:00:00", "iso"),
        ("2014-10-21T23:00", "iso"),
        ("1413932400", "unix"),
        ("1413932400000", "unix_ms"),
    ],
)
def test_one_time_in_many_forms(text: str, form: str) -> None:
    found = moment(text, form)
    assert found is not None
    assert [take(found) for take in TAKE.values()] == [23, 1, 21, 10]
    assert place(text, form) == 1413932400.0


@pytest.mark.parametrize(
    ("text", "form"), [("", "iso"), ("x", "unix"), ("14", "%y%m%d%H"), ("1e30", "unix"), ("99", "iso")]
)
def test_what_is_no_time(text: str, form: str) -> None:
    assert moment(text, form) is None
    assert math.isnan(place(text, form))


def test_without_a_form() -> None:
    assert place("7", None) == 7.0
    assert place("1970-01-02", None) == 86400.0
    assert math.isnan(place("soon", None))
