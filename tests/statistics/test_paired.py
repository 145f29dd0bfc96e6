"""The gain of one list over another, against correlations taken one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.properties import examples

from foresee.errors import InputError
from foresee.statistics import correlate, gain
from foresee.statistics.bootstrap import draws


@examples(20)
@given(seed=st.integers(0, 10**6), n=st.integers(5, 30), coefficient=st.sampled_from(["spearman", "kendall"]))
def test_it_is_the_difference_over_the_same_resamples(seed, n, coefficient):
    rng = np.random.default_rng(seed)
    truth, before, after = rng.normal(size=n), rng.normal(size=n), rng.integers(0, 4, n).astype(float)
    take = stats.spearmanr if coefficient == "spearman" else stats.kendalltau
    found = gain(before, after, truth, coefficient=coefficient, bootstrap=30, seed=seed)
    if len(set(after)) == 1:
        assert math.isnan(found.value)
        return
    assert found.value == pytest.approx(take(after, truth).statistic - take(before, truth).statistic)
    each = [
        take(after[row], truth[row]).statistic - take(before[row], truth[row]).statistic
        for row in draws(n, 30, seed, "bootstrap", n)
        if len(set(after[row])) > 1 and len(set(truth[row])) > 1
    ]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(each, [0.025, 0.975])))
    assert found.n == n


@examples(20)
@given(seed=st.integers(0, 10**6))
def test_nothing_is_gained_by_the_same_list_and_turning_it_turns_the_sign(seed):
    rng = np.random.default_rng(seed)
    truth, one, other = rng.normal(size=(3, 12))
    same = gain(one, np.exp(one), truth, bootstrap=50)
    assert (same.value, same.low, same.high) == (0, 0, 0)
    there, back = gain(one, other, truth, bootstrap=50), gain(other, one, truth, bootstrap=50)
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))


def test_it_is_surer_than_the_two_apart():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=100)
    before = truth + rng.normal(size=100)
    after = before + 0.3 * (truth - before)
    apart = [correlate(one, truth, top=()).spearman.half_width for one in (before, after)]
    assert gain(before, after, truth).half_width < math.hypot(*apart) / 2


def test_failures_are_last_and_what_has_no_truth_is_left_out():
    truth = [1.0, 2.0, 3.0, 4.0, math.nan]
    found = gain([1, 2, 3, math.nan, 5], [0, 1, 2, 3, -9], truth, bootstrap=0)
    assert found.value == pytest.approx(1 - stats.spearmanr([1, 2, 3, 0], truth[:4]).statistic)
    assert found.n == 4
    assert math.isnan(gain([1], [2], [3]).value)
    with pytest.raises(InputError, match="one each"):
        gain([1, 2], [1], [1, 2])
