"""Rows and how they are measured: ways in turn, the first round thrown away."""

from __future__ import annotations

import math

import pytest
from perf.harness import How, Row, SkippedError


def test_a_ratio_and_a_promise():
    row = Row("sums", value=3.0, base=2.0, at_most=1.4)
    assert row.ratio == 1.5
    assert row.broken
    assert not Row("sums", 3.0, 2.0, at_most=1.5).broken
    assert not Row("sums", 3.0, 2.0).broken


@pytest.mark.parametrize("number", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("what", ["value", "base"])
def test_what_is_no_measurement_is_refused(what, number):
    with pytest.raises(ValueError, match=f"sums: {what} is"):
        Row(**{"name": "sums", "value": 1.0, "base": 1.0, what: number})


def test_ways_are_taken_in_turn_and_the_first_round_warms_up():
    order = []
    ways = {name: lambda name=name: order.append(name) or len(order) for name in ("ours", "plain")}
    times = How(repeats=3).compare(ways)
    assert order == ["ours", "plain"] * 4
    assert times["plain"].result == 8
    assert all(one.low <= one.middle <= one.high for one in times.values())


def test_the_processor_does_not_count_sleep(monkeypatch):
    now = iter([10.0, 20.0, 20.25])  # the first round warms up, and its end is not asked for
    monkeypatch.setattr("time.process_time", lambda: next(now))
    monkeypatch.setattr("time.perf_counter", lambda: pytest.fail("the wall was asked"))
    times = How(repeats=1).compare({"one": lambda: None})
    assert times["one"].middle == 0.25


def test_two_ways_that_disagree_are_not_compared():
    How().check(True, "alike")
    with pytest.raises(AssertionError, match="other numbers"):
        How().check(False, "other numbers")
    with pytest.raises(SkippedError, match="no disk"):
        How().skip("no disk")


def test_the_floor_is_what_takes_longer():
    how = How(quick=True)
    how.__dict__["_rates"] = (100.0, 10.0)
    assert how.floor(flops=200.0, bytes=10.0) == 2.0
    assert how.floor(bytes=50.0) == 5.0


def test_rates_of_this_machine_are_positive():
    assert all(rate > 0 for rate in How(quick=True)._rates)
