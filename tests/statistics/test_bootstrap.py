"""Resamples: decided by seed and use, and means beside scipy's bootstrap."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from foresee.statistics import interval, mean_of
from foresee.statistics.bootstrap import draws


def test_seed_and_use_decide():
    first = draws(50, 20, 1, "a")
    assert first.shape == (20, 50)
    assert set(np.unique(first)) == set(range(50))
    np.testing.assert_array_equal(first, draws(50, 20, 1, "a"))
    assert (first != draws(50, 20, 1, "b")).any()
    assert (first != draws(50, 20, 2, "a")).any()
    assert draws(0, 7, 0, "none").shape == (7, 0)


def test_the_mean_and_its_interval():
    values = np.random.default_rng(0).normal(size=40)
    found = mean_of(values, bootstrap=2000, seed=3)
    again = [values[draw].mean() for draw in draws(40, 2000, 3, "mean", 40)]
    assert (found.value, found.low, found.high, found.n) == pytest.approx((values.mean(), *interval(again), 40))
    exact = scipy.stats.bootstrap((values,), np.mean, n_resamples=2000, method="percentile", rng=1).confidence_interval
    assert (found.low, found.high) == pytest.approx(tuple(exact), abs=0.05)


def test_no_numbers_have_no_mean_and_no_resamples_no_interval():
    assert math.isnan(mean_of([]).value)
    bare = mean_of([1.0, 3.0], bootstrap=0)
    assert bare.value == 2.0
    assert math.isnan(bare.low)
