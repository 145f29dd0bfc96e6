"""Correlations against scipy, laws, ties, failures, and intervals against the plain bootstrap."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from foresee.benchmarks import statistics
from foresee.benchmarks.statistics import (
    Estimate,
    correlate,
    interval,
    kendall,
    pearson,
    regret,
    spearman,
    top_overlap,
    weighted_tau,
)
from foresee.errors import InputError

SCIPY = {
    spearman: lambda x, y: scipy.stats.spearmanr(x, y)[0],
    kendall: lambda x, y: scipy.stats.kendalltau(x, y, variant="b")[0],
    pearson: lambda x, y: scipy.stats.pearsonr(x, y)[0],
    weighted_tau: lambda x, y: scipy.stats.weightedtau(x, y)[0],
}
MANY = {
    spearman: statistics._spearmans,
    kendall: statistics._kendalls,
    pearson: statistics._pearsons,
    weighted_tau: statistics._weighted_taus,
}
every = pytest.mark.parametrize("statistic", SCIPY, ids=lambda one: one.__name__)
ranked = pytest.mark.parametrize("statistic", [spearman, kendall, weighted_tau], ids=lambda one: one.__name__)

# few different values: ties of every kind
pairs = st.integers(2, 25).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-4, 4).map(float), min_size=n, max_size=n)] * 2)
)
distinct = st.integers(3, 20).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n))))


def quiet(function, x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(x, y))


@every
@settings(max_examples=60, deadline=None)
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
@settings(max_examples=40, deadline=None)
@given(both=pairs, seed=st.integers(0, 99))
def test_a_resample_by_counts_equals_the_resample_written_out(statistic, both, seed):
    x, y = map(np.array, both)
    drawn = np.random.default_rng(seed).integers(0, len(x), len(x))
    counts = np.bincount(drawn, minlength=len(x))[:, None]
    assert MANY[statistic](x, y, counts)[0] == pytest.approx(statistic(x[drawn], y[drawn]), abs=1e-12, nan_ok=True)


# -- laws ---------------------------------------------------------------------------------------------------------------
@ranked
@settings(max_examples=30, deadline=None)
@given(both=pairs)
def test_rising_maps_change_no_rank_statistic(statistic, both):
    x, y = map(np.array, both)
    assert statistic(np.exp(x), y**3) == pytest.approx(statistic(x, y), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("statistic", [spearman, kendall, pearson], ids=lambda one: one.__name__)
@settings(max_examples=30, deadline=None)
@given(both=pairs)
def test_symmetric_and_turned_by_the_sign(statistic, both):
    x, y = map(np.array, both)
    found = statistic(x, y)
    assert statistic(y, x) == pytest.approx(found, abs=1e-12, nan_ok=True)
    assert statistic(-x, y) == pytest.approx(-found, abs=1e-12, nan_ok=True)
    assert math.isnan(found) or -1 <= found <= 1


@every
@given(order=st.permutations(range(6)))
@settings(max_examples=20, deadline=None)
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
    found = correlate([1.0], [2.0])
    assert math.isnan(found.pearson.value)
    assert found.n == 1


def test_values_of_any_size():
    x = np.array([1e-300, 2e-300, 4e-300, 3e-300])
    assert pearson(x, x * 1e300) == pytest.approx(1)
    assert pearson(x * 1e300 * 1e305, x) == pytest.approx(1)
    # one giant hides the others from Pearson, and a resample without it must still see them
    x = np.array([1e20, 1.0, 2.0, 3.0])
    counts = np.array([[0], [1], [1], [1]])
    assert statistics._pearsons(x, np.array([9.0, 1.0, 2.0, 3.0]), counts)[0] == pytest.approx(1)


def test_what_is_not_a_pair_of_lists_is_refused():
    with pytest.raises(InputError, match="2 values of x for 3 of y"):
        spearman([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="not finite"):
        spearman([1, math.nan], [1, 2])
    with pytest.raises(InputError, match="expected one number per architecture"):
        spearman([[1, 2]], [[1, 2]])
    with pytest.raises(InputError, match="2 merits for 3 truths"):
        correlate([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="bootstrap = -1"):
        correlate([1, 2], [1, 2], bootstrap=-1)
    with pytest.raises(InputError, match=r"top 1\.5"):
        correlate([1, 2], [1, 2], top=[1.5])


# -- the foremost -------------------------------------------------------------------------------------------------------
@settings(max_examples=40, deadline=None)
@given(both=distinct, k=st.integers(1, 30))
def test_top_and_regret_without_ties(both, k):
    x, y = both
    n = len(x)
    first = set(sorted(range(n), key=lambda i: -x[i])[:k])
    best = set(sorted(range(n), key=lambda i: -y[i])[:k])
    assert top_overlap(x, y, k) == pytest.approx(len(first & best) / min(k, n))
    assert regret(x, y, k) == max(y) - max(y[i] for i in first)


@settings(max_examples=60, deadline=None)
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


# -- intervals ----------------------------------------------------------------------------------------------------------
@every
def test_interval_as_scipys_percentile_bootstrap(statistic):
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    y = x + rng.normal(size=60)
    ours = getattr(correlate(x, y, bootstrap=4000, top=()), statistic.__name__)

    def slow(a, b):
        return quiet(SCIPY[statistic], a, b)

    theirs = scipy.stats.bootstrap(
        (x, y), slow, paired=True, vectorized=False, method="percentile", n_resamples=600, rng=np.random.default_rng(5)
    ).confidence_interval
    assert ours.value == pytest.approx(slow(x, y))
    width = theirs.high - theirs.low
    assert ours.low == pytest.approx(theirs.low, abs=0.15 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.15 * width)


def test_every_interval_equals_the_loop_over_the_same_resamples():
    rng = np.random.default_rng(1)
    x = np.round(rng.normal(size=40), 1)
    y = np.round(x + rng.normal(size=40), 1)
    found = correlate(x, y, bootstrap=300, seed=4, top=(5, 0.1))
    draws = np.random.default_rng(statistics.derive(4, "bootstrap", 40)).integers(0, 40, (300, 40))
    named = found.named()
    plain = {one.__name__: one for one in SCIPY}
    plain |= {"top 5": lambda a, b: top_overlap(a, b, 5), "top 10 %": lambda a, b: top_overlap(a, b, 4)}
    plain |= {"regret 5": lambda a, b: regret(a, b, 5), "regret 10 %": lambda a, b: regret(a, b, 4)}
    assert plain.keys() == named.keys()
    for name, statistic in plain.items():
        values = [statistic(x[draw], y[draw]) for draw in draws]
        assert (named[name].low, named[name].high) == pytest.approx(interval(values)), name
        assert named[name].value == pytest.approx(statistic(x, y))
        assert named[name].n == 40


def test_seed_decides_and_zero_resamples_give_no_interval():
    x, y = np.arange(30.0), np.random.default_rng(0).normal(size=30)
    first, again, other = (correlate(x, y, bootstrap=100, seed=seed).spearman for seed in (1, 1, 2))
    assert first == again != other
    bare = correlate(x, y, bootstrap=0)
    assert bare.spearman.value == first.value
    assert all(math.isnan(one.low) and math.isnan(one.high) for one in bare.named().values())


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """300 samples of 80 pairs with correlation 0.6: a percentile interval holds it in about 95 %."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        x = rng.normal(size=80)
        y = 0.6 * x + 0.8 * rng.normal(size=80)
        draws = rng.integers(0, 80, (300, 80))
        low, high = interval(statistics._resampled(statistics._pearsons, x, y, draws))
        held += low <= 0.6 <= high
    assert 0.90 <= held / 300 <= 0.985


def test_taus_take_fewer_resamples_of_a_large_sample(monkeypatch):
    monkeypatch.setattr(statistics, "TAU_WORK", 1000)
    seen = {}

    def counting(name):
        whole = getattr(statistics, name)
        return lambda x, y, counts: seen.__setitem__(name, seen.get(name, 0) + counts.shape[1]) or whole(x, y, counts)

    for name in ("_kendalls", "_spearmans"):
        monkeypatch.setattr(statistics, name, counting(name))
    x = np.arange(50.0)
    correlate(x, x[::-1], bootstrap=500, top=())
    assert seen == {"_kendalls": 201, "_spearmans": 501}  # and one for the value itself


# -- failures -----------------------------------------------------------------------------------------------------------
def test_failures_are_counted_and_reported_twice():
    x = np.array([1.0, 2.0, math.nan, 4.0, -math.inf, 6.0])
    y = np.array([1.0, 2.0, 3.0, 5.0, 4.0, 6.0])
    found = correlate(x, y, bootstrap=50, top=(2,))
    assert (found.n, found.failed) == (4, 2)
    assert found.spearman.value == pytest.approx(1)
    last = found.with_failures
    assert last is not None
    assert last.n == 6
    placed = np.where(np.isfinite(x), x, -9.0)
    for name in ("spearman", "kendall", "weighted_tau"):
        assert getattr(last, name).value == pytest.approx(statistics.__dict__[name](placed, y)), name
    assert math.isnan(last.pearson.value)  # a failure has a place, but no value
    assert correlate(x[[0, 1, 3]], y[[0, 1, 3]]).with_failures is None


def test_what_has_no_truth_is_left_out_and_is_no_failure():
    found = correlate([1.0, 2.0, 3.0, math.nan], [1.0, 2.0, math.nan, math.nan], bootstrap=0)
    assert (found.n, found.failed) == (2, 0)


def test_everything_failed():
    found = correlate([math.nan] * 4, [1.0, 2.0, 3.0, 4.0], bootstrap=20)
    assert (found.n, found.failed) == (0, 4)
    assert math.isnan(found.spearman.value)
    assert math.isnan(found.with_failures.spearman.value)  # all in one place
    assert found.with_failures.top["10"].value == 1.0  # all four of four


def test_plain_form_has_no_nan():
    plain = correlate([math.nan, 1.0, 1.0], [1.0, 2.0, 3.0], bootstrap=5).to_json()
    assert plain["spearman"] == {"value": None, "low": None, "high": None, "n": 2}
    assert plain["with_failures"]["spearman"]["value"] is not None
    assert plain["with_failures"]["with_failures"] is None


def test_words_of_an_estimate():
    assert str(Estimate(0.5, 0.4, 0.6, 9)) == "0.500 [0.400, 0.600]"
    assert str(Estimate(0.5)) == "0.500"
    assert str(Estimate(math.nan)) == "undefined"
    assert Estimate(0.5, 0.4, 0.7, 9).half_width == pytest.approx(0.15)


@settings(max_examples=30, deadline=None)
@given(both=pairs)
def test_correlate_never_raises_and_keeps_its_intervals_in_order(both):
    x, y = map(np.array, both)
    assume(len(x) > 1)
    found = correlate(x, y, bootstrap=30)
    for name, one in found.named().items():
        assert math.isnan(one.low) or one.low <= one.high, name
