from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import hmean, rankdata
from tests.properties import examples
from torch import nn

from foresee.errors import InputError, UnknownNameError
from foresee.scoring import rank
from foresee.scoring.together import harmonic_mean, log_rank, mean_rank, merits, places, ranks, weighted_sum

NAN = math.nan
# few different values, so that there are ties; and failures
TABLES = arrays(
    np.float64, st.tuples(st.integers(1, 7), st.integers(1, 4)), elements=st.sampled_from([-2.0, 0.5, 1.0, 7.0, NAN])
)
LAWS = examples(40)


@LAWS
@given(TABLES)
def test_ranks_are_those_of_scipy(table):
    expected = rankdata(np.where(np.isnan(table), -np.inf, table), axis=0)
    assert ranks(table).numpy() == pytest.approx(expected)
    assert places(table).numpy() == pytest.approx(len(table) + 1 - expected)
    assert mean_rank(table).numpy() == pytest.approx((len(table) + 1 - expected).mean(1))
    assert log_rank(table).numpy() == pytest.approx(np.log(expected / len(table)).sum(1))


@LAWS
@given(TABLES, st.randoms())
def test_the_order_of_architectures_does_not_matter(table, random):
    order = list(range(len(table)))
    random.shuffle(order)
    for formula in (mean_rank, log_rank, harmonic_mean, lambda t: weighted_sum(t, [1.0] * table.shape[1], scale="log")):
        assert formula(table[order]).tolist() == pytest.approx(formula(table)[order].tolist())


@LAWS
@given(TABLES)
def test_lower_is_the_other_way_round(table):
    lower = ["lower"] * table.shape[1]
    assert torch.equal(ranks(table, lower), ranks(-table))
    assert torch.equal(log_rank(torch.from_numpy(table), lower), log_rank(-table))


def test_failures_come_last_in_either_direction():
    table = [[1.0, NAN], [2.0, 3.0], [math.inf, 4.0], [-math.inf, 5.0]]
    assert ranks(table, ["higher", "lower"])[:, 0].tolist() == [3, 4, 1.5, 1.5]
    assert ranks(table, ["lower", "lower"])[:, 0].tolist() == [4, 3, 1.5, 1.5]
    assert ranks(table, ["higher", "lower"])[0, 1] == 1
    assert merits(table, ["lower", "lower"])[:, 0].tolist() == [-1, -2, -math.inf, -math.inf]
    assert harmonic_mean(table).tolist() == [-math.inf, pytest.approx(2.4), -math.inf, -math.inf]
    for scale in ("log", "none"):
        assert weighted_sum(table, [1, 0], scale=scale).isinf().tolist() == [True, False, True, True]
    assert weighted_sum(table, [1, 0]).isfinite().all()


@LAWS
@given(arrays(np.float64, (5, 3), elements=st.floats(0.1, 100)))
def test_means_and_sums_of_values(table):
    assert harmonic_mean(table).numpy() == pytest.approx(hmean(table, axis=1))
    weights = [2.0, -1.0, 0.5]
    assert weighted_sum(table, weights, scale="none").numpy() == pytest.approx(table @ weights, rel=1e-9, abs=1e-9)
    assert weighted_sum(table, weights, scale="log").numpy() == pytest.approx(np.log1p(table) @ weights, abs=1e-9)
    assert weighted_sum(-table, weights, scale="log").numpy() == pytest.approx(-(np.log1p(table) @ weights), abs=1e-9)
    expected = rankdata(table, axis=0) / 5 @ weights
    assert weighted_sum(table, weights).numpy() == pytest.approx(expected, abs=1e-9)


def test_everything_broadcasts():
    tables = torch.randn(2, 3, 6, 4, dtype=torch.float64)
    for formula in (mean_rank, log_rank, harmonic_mean, lambda t: weighted_sum(t, [1, 2, 3, 4], scale="log")):
        together = formula(tables.abs())
        assert together.shape == (2, 3, 6)
        assert torch.allclose(together[1, 2], formula(tables[1, 2].abs()))


def test_one_bad_rank_costs_more_than_a_good_one_wins():
    table = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    assert mean_rank(table).tolist() == [2, 2, 2]
    assert int(log_rank(table).argmax()) == 1


def test_what_is_refused():
    table = [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(InputError, match="architectures, proxies"):
        ranks([1.0, 2.0])
    with pytest.raises(InputError, match="3 directions for 2"):
        ranks(table, ["higher"] * 3)
    with pytest.raises(UnknownNameError, match="higher"):
        ranks(table, ["higher", "highest"])
    with pytest.raises(InputError, match="one number for each of 2"):
        weighted_sum(table, [1.0])
    with pytest.raises(UnknownNameError, match="rank"):
        weighted_sum(table, [1, 1], scale="ranks")
    with pytest.raises(InputError, match="reciprocals"):
        harmonic_mean(table, ["higher", "lower"])


def test_rank_orders_by_either():
    nets = {
        "deep": nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 1, 3, padding=1)),
        "wide": nn.Conv2d(1, 90, 1),
    }
    nets["middle"] = nn.Sequential(nn.Conv2d(1, 9, 3), nn.Conv2d(9, 1, 1))
    x = torch.randn(1, 1, 8, 8)
    for by in ("mean_rank", "log_rank"):
        found = rank(nets, x, ["params", "macs"], by=by)
        table = [[found.scores[name][proxy].value for proxy in ("params", "macs")] for name in nets]
        assert list(found.mean_ranks.values()) == mean_rank(table).tolist()
        assert list(found.log_ranks.values()) == log_rank(table).tolist()
        last = found.mean_ranks if by == "mean_rank" else {name: -v for name, v in found.log_ranks.items()}
        assert list(found.order) == sorted(nets, key=last.__getitem__)
        assert by.replace("_", " ") in str(found)
    with pytest.raises(UnknownNameError, match="log_rank"):
        rank(nets, x, "params", by="logrank")
