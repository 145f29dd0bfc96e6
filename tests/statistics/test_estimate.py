"""Estimates: their words, and intervals that hold what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresee.statistics import Estimate, interval, pearson, resamples_of


def test_words_of_an_estimate():
    assert str(Estimate(0.5, 0.4, 0.6, 9)) == "0.500 [0.400, 0.600]"
    assert str(Estimate(0.5)) == "0.500"
    assert str(Estimate(math.nan)) == "undefined"
    assert Estimate(0.5, 0.4, 0.7, 9).half_width == pytest.approx(0.15)


def test_resamples_that_do_not_exist_are_left_out():
    found = Estimate.of(0.5, [math.nan, *np.linspace(0, 1, 101)], 9)
    assert (found.low, found.high) == pytest.approx((0.025, 0.975))
    assert Estimate.of(0.5, [math.nan], 9).to_json() == {"value": 0.5, "low": None, "high": None, "n": 9}
    assert math.isnan(Estimate.of(math.nan, [0.1, 0.2], 9).low)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """300 samples of 80 pairs with correlation 0.6: a percentile interval holds it in about 95 %."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        x = rng.normal(size=80)
        y = 0.6 * x + 0.8 * rng.normal(size=80)
        draws = rng.integers(0, 80, (300, 80))
        low, high = interval(resamples_of(pearson, x, y, draws))
        held += low <= 0.6 <= high
    assert 0.90 <= held / 300 <= 0.985


def test_the_mean_of_estimates_averages_the_ends_too():
    found = Estimate.mean([Estimate(0.2, 0.1, 0.4, 7), Estimate(0.4, 0.2, 0.5, 7)])
    assert (found.value, found.low, found.high, found.n) == pytest.approx((0.3, 0.15, 0.45, 7))
