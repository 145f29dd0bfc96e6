"""Proxies among each other, over data sets, and with labels or data made up."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from foresee.benchmarks.agreement import agnosticism, between, over_data
from foresee.errors import InputError, UnknownNameError

RNG = np.random.default_rng(0)
BASE = RNG.normal(size=80)
MERITS = {"a": BASE, "b": BASE + RNG.normal(size=80), "c": np.round(RNG.normal(size=80), 1)}
SCIPY = {
    "spearman": lambda x, y: scipy.stats.spearmanr(x, y)[0],
    "kendall": lambda x, y: scipy.stats.kendalltau(x, y)[0],
    "pearson": lambda x, y: scipy.stats.pearsonr(x, y)[0],
}


@pytest.mark.parametrize("statistic", SCIPY)
def test_between_is_scipys_matrix(statistic):
    found = between(MERITS, statistic)
    assert found.names == ("a", "b", "c")
    for i, first in enumerate(MERITS.values()):
        for j, second in enumerate(MERITS.values()):
            assert found.values[i, j] == pytest.approx(SCIPY[statistic](first, second))
    assert (found.values == found.values.T).all()
    assert (found.n == 80).all()


def test_each_pair_is_taken_where_both_have_a_merit():
    first, second = MERITS["a"].copy(), MERITS["b"].copy()
    first[:10], second[5:20] = math.nan, math.nan
    found = between({"a": first, "b": second, "none": np.full(80, math.nan)})
    assert found.n.tolist() == [[70, 60, 0], [60, 65, 0], [0, 0, 0]]
    assert found.values[0, 1] == pytest.approx(SCIPY["spearman"](first[20:], second[20:]))
    assert math.isnan(found.values[2, 2])
    assert found.to_json()["values"][2] == [None, None, None]


def test_deviation_over_data_sets():
    truth = BASE + 0.5 * RNG.normal(size=80)
    merits = {name: truth + noise * RNG.normal(size=80) for name, noise in (("one", 0.1), ("two", 1.0), ("three", 3.0))}
    merits["one"][3] = math.nan
    found = over_data(merits, truth, "kendall")
    kept = np.arange(80) != 3
    expected = [
        SCIPY["kendall"](merits["one"][kept], truth[kept]),
        SCIPY["kendall"](merits["two"], truth),
        SCIPY["kendall"](merits["three"], truth),
    ]
    assert list(found.values.values()) == pytest.approx(expected)
    assert (found.mean, found.deviation) == pytest.approx((np.mean(expected), np.std(expected)))
    assert over_data(merits, truth, "kendall", ddof=1).deviation == pytest.approx(np.std(expected, ddof=1))


def test_agnosticism_is_the_correlation_of_one_proxy_with_itself():
    other = 3 * BASE + 2 + 0.01 * RNG.normal(size=80)
    other[0] = math.nan
    found = agnosticism(BASE, other, bootstrap=100)
    assert found.pearson.value == pytest.approx(SCIPY["pearson"](BASE[1:], other[1:]))
    assert found.pearson.low <= found.pearson.value <= found.pearson.high
    assert found.failed == 1
    assert agnosticism(BASE, RNG.permutation(BASE), bootstrap=0).pearson.value < 0.5


def test_mistakes():
    with pytest.raises(UnknownNameError, match="spearman"):
        between(MERITS, "spearmann")
    with pytest.raises(InputError, match="same architectures"):
        between({"a": [1.0], "b": [1.0, 2.0]})
    with pytest.raises(InputError, match="more are needed"):
        over_data({}, [1.0, 2.0])
