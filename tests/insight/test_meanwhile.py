"""Work in other processes goes on beside ours, and ends when nobody waits for it."""

from __future__ import annotations

import threading
import time

import pytest

from foresee.insight.meanwhile import meanwhile
from foresee.runs.events import Announcer, Event


@pytest.mark.parametrize("apart", [False, True])
def test_the_result_is_what_the_work_gives(apart):
    with meanwhile(lambda heard: heard(Event("scored")) or "made", apart=apart) as wait:
        assert wait() == "made"


def test_it_goes_on_beside_ours():
    begun, go = threading.Event(), threading.Event()

    def work(heard):
        begun.set()
        return go.wait(30)

    with meanwhile(work, apart=True) as wait:
        assert begun.wait(30)
        go.set()
        assert wait()


def test_in_this_process_it_begins_when_it_is_waited_for():
    called = []
    with meanwhile(lambda heard: called.append(1), apart=False) as wait:
        assert not called
        wait()
    assert called == [1]


@pytest.mark.parametrize("apart", [False, True])
def test_a_failure_is_that_of_whoever_waits(apart):
    def work(heard):
        raise ValueError("no")

    with meanwhile(work, apart=apart) as wait, pytest.raises(ValueError, match="no"):
        wait()


def test_left_early_it_ends_with_its_next_event_through_an_announcer():
    ended = threading.Event()

    def work(heard):
        tell = Announcer([heard])
        try:
            while True:
                tell(Event("scored"))
                time.sleep(0.01)
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt), meanwhile(work, apart=True):
        raise KeyboardInterrupt
    assert ended.is_set()
