"""Derived columns that cannot be; the rest is in test_schema.py."""

from __future__ import annotations

from typing import Any

import pytest

from foresee.data.clicks.schema import Schema
from foresee.errors import InputError


def hour(**changes: Any) -> Schema:
    derived = {"h": {"from": "t", "take": "hour", "format": "%y%m%d%H", **changes}}
    return Schema(label="y", numeric=("h",), derived=derived, columns=("y", "t"))


@pytest.mark.parametrize("form", ["iso", "unix", "unix_ms", "%Y-%m-%d", ""])
def test_forms_of_times(form: str) -> None:
    assert hour(format=form).sources == ("y", "t")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "%Q"}, "bad directive"),
        ({"format": "%"}, "stray %"),
        ({"format": 3}, "from, take and format"),
        ({"from": "u"}, "not in columns"),
        ({"more": "x"}, "from, take and format"),
    ],
)
def test_what_cannot_be(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        hour(**changes)


def test_derived_is_a_table_of_tables() -> None:
    with pytest.raises(InputError, match="from, take and format"):
        Schema(label="y", numeric=("h",), derived={"h": 3}, columns=("y", "h"))  # type: ignore[dict-item]
