"""Pieces of work that know nothing of each other."""

from __future__ import annotations

import os

import pytest

from foresee.runs.apart import each


def who(number: int) -> tuple[int, int]:
    if number < 0:
        raise ValueError(f"no piece {number}")
    return number, os.getpid()


def test_in_order_and_elsewhere_where_several_are_to_work():
    here, there = list(each(who, [3, 1, 2], 1)), list(each(who, [3, 1, 2], 2))
    assert [number for number, _ in here] == [number for number, _ in there] == [3, 1, 2]
    assert {pid for _, pid in here} == {os.getpid()}
    assert os.getpid() not in {pid for _, pid in there}
    assert list(each(who, [5], 8)) == [(5, os.getpid())]  # one piece needs no process of its own
    assert list(each(who, [], 8)) == []


def test_an_error_goes_on_its_way_after_what_came_before():
    pieces = each(who, [1, -1, 2], 2)
    assert next(pieces)[0] == 1
    with pytest.raises(ValueError, match="no piece -1"):
        next(pieces)
