"""Single numbers against scipy, laws, ties, and the foremost few."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from tests.statistics.lists import SCIPY, every, pairs, quiet

from foresee.errors import InputError
from foresee.statistics import kendall, known_pairs, pearson, regret, resamples_of, spearman, top_overlap, weighted_tau

ranked = pytest.mark.parametrize("statistic", [spearman, kendall, weighted_tau], ids=lambda one: one.__name__)
distinct = st.integers(3, 20).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n))))


@every
@examples(60)
@given(both=pairs)
def test_equals_scipy_with_ties_and_constants(statistic, both):
    assert statistic(*both) == pytest.approx(quiet(SCIPY[statistic], *both), abs=1e-12, nan_ok=True)


@every
def test_equals_scipy_on_a_large_sample(statistic):
    rng = np.random.default_rng(0)
    x = rng.normal(size=700)
    y = np.round(x + rng.normal(size=700), 1)
    assert statistic(x, y) == pytest.approx(SCIPY[statistic](x, y), abs=1e-12)


@every
def test_each_resample_is_the_number_of_the_pairs_it_drew(statistic):
    rng = np.random.default_rng(2)
    x, y, draws = rng.normal(size=12), rng.normal(size=12), rng.integers(0, 12, (7, 12))
    expected = [statistic(x[draw], y[draw]) for draw in draws]
    np.testing.assert_allclose(resamples_of(statistic, x, y, draws), expected, atol=1e-12)


# -- laws ---------------------------------------------------------------------------------------------------------------
@ranked
@examples(30)
@given(both=pairs)
def test_rising_maps_change_no_rank_statistic(statistic, both):
    x, y = map(np.array, both)
    assert statistic(np.exp(x), y**3) == pytest.approx(statistic(x, y), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("statistic", [spearman, kendall, pearson], ids=lambda one: one.__name__)
@examples(30)
@given(both=pairs)
def test_symmetric_and_turned_by_the_sign(statistic, both):
    x, y = map(np.array, both)
    found = statistic(x, y)
    assert statistic(y, x) == pytest.approx(found, abs=1e-12, nan_ok=True)
    assert statistic(-x, y) == pytest.approx(-found, abs=1e-12, nan_ok=True)
    assert math.isnan(found) or -1 <= found <= 1


@every
@given(order=st.permutations(range(6)))
@examples(20)
def test_the_same_order_is_one_the_other_way_round_minus_one(statistic, order):
    values = np.array(order, float)
    assert statistic(values, values) == pytest.approx(1)
    if statistic is not weighted_tau:
        assert statistic(values, -values) == pytest.approx(-1)


@every
@pytest.mark.parametrize("x", [[3.0, 3.0, 3.0], [1e300, 1e300, 1e300], [0.1, 0.1, 0.1]])
def test_a_constant_has_no_correlation(statistic, x):
    assert math.isnan(statistic(x, [1.0, 2.0, 3.0]))
    assert math.isnan(statistic([1.0, 2.0, 3.0], x))


def test_fewer_than_two_pairs_have_none_either():
    assert math.isnan(spearman([], []))
    assert math.isnan(kendall([1.0], [2.0]))


def test_values_of_any_size():
    x = np.array([1e-300, 2e-300, 4e-300, 3e-300])
    assert pearson(x, x * 1e300) == pytest.approx(1)
    assert pearson(x * 1e300 * 1e305, x) == pytest.approx(1)


def test_what_is_not_a_pair_of_lists_is_refused():
    with pytest.raises(InputError, match="2 values of x for 3 of y"):
        spearman([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="not finite"):
        spearman([1, math.nan], [1, 2])
    with pytest.raises(InputError, match="expected one number per architecture"):
        spearman([[1, 2]], [[1, 2]])


# -- the foremost -------------------------------------------------------------------------------------------------------
@examples(40)
@given(both=distinct, k=st.integers(1, 30))
def test_top_and_regret_without_ties(both, k):
    x, y = both
    n = len(x)
    first = set(sorted(range(n), key=lambda i: -x[i])[:k])
    best = set(sorted(range(n), key=lambda i: -y[i])[:k])
    assert top_overlap(x, y, k) == pytest.approx(len(first & best) / min(k, n))
    assert regret(x, y, k) == max(y) - max(y[i] for i in first)


@examples(60)
@given(
    both=st.integers(1, 4).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, 2).map(float), min_size=n, max_size=n)] * 2)
    ),
    k=st.integers(1, 4),
)
def test_top_and_regret_are_the_mean_over_all_ways_to_break_ties(both, k):
    x, y = both
    n = len(x)
    k = min(k, n)
    orders = list(itertools.permutations(range(n)))

    def foremost(values, order):
        return set(sorted(range(n), key=lambda i: (-values[i], order[i]))[:k])

    regrets = [max(y) - max(y[i] for i in foremost(x, order)) for order in orders]
    assert regret(x, y, k) == pytest.approx(np.mean(regrets))
    overlaps = [len(foremost(x, a) & foremost(y, b)) / k for a in orders for b in orders]
    assert top_overlap(x, y, k) == pytest.approx(np.mean(overlaps))


def test_knowing_nothing_finds_the_best_by_luck_alone():
    y = np.arange(100.0)
    assert top_overlap(np.zeros(100), y, 10) == pytest.approx(0.1)
    assert regret(np.zeros(100), y, 100) == 0
    assert regret(np.zeros(100), y, 1) == pytest.approx(y.max() - y.mean())


@examples(30)
@given(st.lists(st.tuples(*[st.sampled_from([1.0, 2.0, math.nan, math.inf, -math.inf])] * 2), max_size=8))
def test_known_pairs_are_those_with_both_numbers(points):
    x, y = known_pairs([a for a, _ in points], [b for _, b in points])
    assert list(zip(x, y, strict=True)) == [(a, b) for a, b in points if math.isfinite(a) and math.isfinite(b)]
    with pytest.raises(InputError, match="one each is needed"):
        known_pairs([1.0], [1.0, 2.0])
