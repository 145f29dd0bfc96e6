"""Means of a handful: Student's interval keeps its promise where resamples do not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresee.statistics import mean_of, mean_of_few


@pytest.mark.parametrize(("n", "t"), [(2, 12.7062), (3, 4.3027), (4, 3.1824), (5, 2.7764), (31, 2.0423)])
def test_the_quantiles_are_those_of_the_tables(n, t):
    values = np.arange(n, dtype=float)
    found = mean_of_few(values)
    assert found.half_width == pytest.approx(t * values.std(ddof=1) / math.sqrt(n), rel=1e-4)
    assert (found.value, found.n) == (values.mean(), n)


def test_one_number_has_no_interval_and_none_has_no_mean():
    assert (mean_of_few([3.0]).value, math.isnan(mean_of_few([3.0]).low)) == (3.0, True)
    assert math.isnan(mean_of_few([]).value)


def test_equal_numbers_have_an_interval_without_width():
    found = mean_of_few([2.0, 2.0, 2.0])
    assert (found.low, found.high) == (2.0, 2.0)


def test_it_covers_the_truth_as_often_as_it_says_and_a_bootstrap_does_not():
    draws = np.random.default_rng(0).normal(size=(600, 4))
    covers = [found.low < 0 < found.high for found in map(mean_of_few, draws)]
    resampled = [found.low < 0 < found.high for found in (mean_of(one, bootstrap=200) for one in draws)]
    assert np.mean(covers) > 0.92
    assert np.mean(resampled) < 0.88
