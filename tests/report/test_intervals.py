"""Numbers with intervals, as bars and in words."""

from __future__ import annotations

import math

import pytest

from foresee.report.intervals import Axis, in_words
from foresee.statistics import Estimate


@pytest.mark.parametrize(
    ("estimate", "axis", "expected"),
    [
        (Estimate(0.5, 0.25, 0.75), Axis(0.0), {"left": 25, "width": 50, "point": 50}),
        (Estimate(0.0, -0.5, 0.5), Axis(-1.0), {"left": 25, "width": 50, "point": 50}),
        (Estimate(0.5), Axis(0.0), {"left": 50, "width": 0.4, "point": 50}),
        (Estimate(-3.0, -4.0, -2.0), Axis(0.0), {"left": 0, "width": 0.4, "point": 0}),
        (Estimate(math.nan), Axis(0.0), None),
    ],
)
def test_bars_lie_where_their_numbers_are(estimate, axis, expected):
    assert axis.bar(estimate) == expected


def test_the_axis_reaches_as_far_down_as_an_interval():
    assert Axis.around([Estimate(0.9, 0.8, 0.95), Estimate(math.nan)]).low == 0
    assert Axis.around([Estimate(0.1, -0.31, 0.5)]).low == -0.4
    assert Axis(-0.5).ticks == [(0.0, False), (33.33, True), (66.67, False), (100.0, False)]


def test_a_true_minus():
    assert in_words(Estimate(-0.1, -0.2, 0.3)) == "−0.100 [−0.200, 0.300]"
