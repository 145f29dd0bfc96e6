"""All statistics together: intervals against the plain bootstrap, and failures."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from tests.properties import examples
from tests.statistics.lists import SCIPY, every, pairs, quiet

from foresee import statistics
from foresee.errors import InputError
from foresee.seeds import derive
from foresee.statistics import correlate, correlations, interval, regret, top_overlap


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
    draws = np.random.default_rng(derive(4, "bootstrap", 40)).integers(0, 40, (300, 40))
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


def test_taus_take_fewer_resamples_of_a_large_sample(monkeypatch):
    monkeypatch.setattr(correlations, "TAU_WORK", 1000)
    seen = {}

    def counting(name):
        whole = getattr(correlations, name)
        return lambda x, y, counts: seen.__setitem__(name, seen.get(name, 0) + counts.shape[1]) or whole(x, y, counts)

    for name in ("kendalls", "spearmans"):
        monkeypatch.setattr(correlations, name, counting(name))
    x = np.arange(50.0)
    correlate(x, x[::-1], bootstrap=500, top=())
    assert seen == {"kendalls": 201, "spearmans": 501}  # and one for the value itself


def test_what_is_not_a_pair_of_lists_is_refused():
    with pytest.raises(InputError, match="2 merits for 3 truths"):
        correlate([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="bootstrap = -1"):
        correlate([1, 2], [1, 2], bootstrap=-1)
    with pytest.raises(InputError, match=r"top 1\.5"):
        correlate([1, 2], [1, 2], top=[1.5])


def test_one_pair_has_no_correlation():
    found = correlate([1.0], [2.0])
    assert math.isnan(found.pearson.value)
    assert found.n == 1


@examples(30)
@given(both=pairs)
def test_correlate_never_raises_and_keeps_its_intervals_in_order(both):
    x, y = map(np.array, both)
    for name, one in correlate(x, y, bootstrap=30).named().items():
        assert math.isnan(one.low) or one.low <= one.high, name


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
        assert getattr(last, name).value == pytest.approx(getattr(statistics, name)(placed, y)), name
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
