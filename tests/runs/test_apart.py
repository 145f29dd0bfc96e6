"""Pieces of work that know nothing of each other."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from foresee.errors import RunError
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


def wait(piece: tuple[Path, float]) -> float:
    path, seconds = piece
    path.write_text(str(os.getpid()))
    time.sleep(seconds)
    return seconds


def test_what_still_works_is_ended_at_once(tmp_path):
    pieces = each(wait, [(tmp_path / "short", 0.0), (tmp_path / "long", 600.0)], 2)
    assert next(pieces) == 0.0
    while not (tmp_path / "long").exists() or not (tmp_path / "long").read_text():
        time.sleep(0.05)
    pid = int((tmp_path / "long").read_text())
    start = time.monotonic()
    pieces.close()  # as at Ctrl-C
    assert time.monotonic() - start < 60
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def die(number: int) -> int:
    os._exit(3)


def test_a_piece_whose_process_dies_is_said():
    with pytest.raises(RunError, match="the worker died 2 times"):
        list(each(die, [1, 2], 2))
