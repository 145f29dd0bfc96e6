from __future__ import annotations

import sys

import pytest

from foresee.errors import UnknownNameError
from foresee.runs import engines
from foresee.runs.engines.base import attempt, device_of


def half(payload):
    return payload / 2


def test_engines_by_name():
    assert {"serial", "processes"} <= set(engines.engines.names())
    for name, kind in (("serial", engines.Serial), ("processes", engines.Processes)):
        assert type(engines.make(name, half, 2)) is kind
        assert engines.engines[name].summary


def test_work_says_itself_where_it_computes():
    class OnCards:
        device = "cuda"

    assert device_of(OnCards()) == "cuda"
    assert device_of(half) == "cpu"


def test_the_nearest_name_is_said():
    with pytest.raises(UnknownNameError, match="unknown engine 'proceses': did you mean processes"):
        engines.make("proceses", half)


def test_an_exception_is_an_outcome():
    assert attempt(half, 3, 5) == engines.Outcome(3, 2.5)
    assert attempt(half, 3, "a") == engines.Outcome(
        3, None, "TypeError: unsupported operand type(s) for /: 'str' and 'int'"
    )
    assert attempt(leave, 3, "enough") == engines.Outcome(3, None, "SystemExit: enough")
    with pytest.raises(KeyboardInterrupt):  # Ctrl-C is the user's word to us, not to the job
        attempt(stop, 0, None)


def leave(payload):
    sys.exit(payload)


def stop(payload):
    raise KeyboardInterrupt
