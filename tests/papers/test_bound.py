"""Mu and nu: the bound's formula, the choice beside a dense grid, and what the choice may not see."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from hypothesis import strategies as st
from scipy.stats import spearmanr

from foresee.errors import InputError, MissingExtraError, UnknownNameError
from foresee.papers.bound import Choice, choose
from foresee.searchers.bayes import CANDIDATES
from foresee.searchers.unified import Bounds

positive = st.floats(1e-3, 1e3)


@pytest.fixture(scope="module")
def problem():
    """Errors that follow a bound with mu = 1e-5 and nu = 900, with noise as in short trainings."""
    draws = np.random.default_rng(3)
    metric, kappa = np.exp(draws.normal(3, 1, 120)), np.exp(draws.normal(4, 0.5, 120))
    errors = np.log(kappa / metric + 1e-5 * (metric**2 - 900) ** 2) + draws.normal(0, 0.7, 120)
    return Bounds.of(metric, kappa), errors


@pytest.fixture(scope="module")
def chosen(problem):
    pytest.importorskip("botorch")
    return choose(*problem)


def agreement(bounds, errors, mu, nu):
    return spearmanr(bounds.at(mu, nu), errors).statistic


# -- the choice ---------------------------------------------------------------------------------------------------------
def test_twenty_tries_come_near_a_dense_grid(problem, chosen):
    bounds, errors = problem
    (least, low), (most, high) = bounds.box().tolist()
    grid = [
        agreement(bounds, errors, 10**mu, 10**nu)
        for mu in np.linspace(least, most, 40)
        for nu in np.linspace(low, high, 40)
    ]
    assert len(chosen.tried) == 20
    assert chosen.agreement == pytest.approx(agreement(bounds, errors, chosen.mu, chosen.nu))
    assert chosen.agreement >= max(grid) - 0.02
    assert (
        chosen.agreement > agreement(bounds, errors, 0.0, 0.0) + 0.3
    )  # the trade-off is what these errors are made of


def test_the_model_steers(chosen):
    """The tries that the model proposed are better than those before it, on the whole, and no point is tried twice."""
    values = [value for _, _, value in chosen.tried]
    assert np.mean(values[6:]) > np.mean(values[1:6]) + 0.1
    assert len({(mu, nu) for mu, nu, _ in chosen.tried}) == 20


def test_the_choice_is_the_same_each_time_and_leaves_the_generator_alone(problem, chosen):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    assert choose(*problem) == chosen
    assert torch.equal(before, torch.get_rng_state())


def test_it_is_never_worse_than_without_the_trade_off():
    draws = np.random.default_rng(0)
    metric, kappa = np.exp(draws.normal(0, 1, 40)), np.exp(draws.normal(0, 1, 40))
    bounds = Bounds.of(metric, kappa)
    found = choose(bounds, kappa / metric, method="random")  # errors are the bound itself, without a trade-off
    assert (found.mu, found.agreement) == (0.0, 1.0)


@pytest.mark.parametrize("seed", [0, 1])
def test_what_has_no_number_is_left_out_and_an_infinite_bound_is_a_last_place(problem, seed):
    bounds, errors = problem
    few = Bounds.of(bounds.metric[:30], bounds.kappa[:30])
    metric, truth = bounds.metric[:34].copy(), errors[:34].copy()
    metric[30:32], truth[32:34] = np.nan, np.nan
    more = Bounds.of(metric, bounds.kappa[:34])
    assert choose(more, truth, method="random", seed=seed) == choose(few, errors[:30], method="random", seed=seed)
    kappa = bounds.kappa[:30].copy()
    kappa[np.argmax(errors[:30])] = np.inf  # the worst architecture has a kernel without inverse
    found = choose(Bounds.of(few.metric, kappa), errors[:30], method="random", seed=seed)
    ranks = np.where(np.isinf(kappa), np.inf, Bounds.of(few.metric, kappa).at(found.mu, found.nu)).argsort().argsort()
    assert found.agreement == pytest.approx(spearmanr(ranks, errors[:30]).statistic)


def test_random_tries_need_no_extra(problem, monkeypatch):
    for library in ("botorch", "gpytorch"):
        monkeypatch.setitem(sys.modules, library, None)
    assert isinstance(choose(*problem, method="random"), Choice)
    with pytest.raises(MissingExtraError, match=r"foresee\[bayes\]"):
        choose(*problem)


def test_mistakes_are_named(problem):
    bounds, errors = problem
    with pytest.raises(InputError, match="7 validation errors for 120"):
        choose(bounds, errors[:7])
    with pytest.raises(InputError, match="3 architectures"):
        choose(Bounds.of(bounds.metric[:3]), errors[:3])
    with pytest.raises(InputError, match="no architecture has a positive metric"):
        choose(Bounds.of(-bounds.metric), errors)
    with pytest.raises(InputError, match="0 evaluations"):
        choose(bounds, errors, evaluations=0)
    with pytest.raises(InputError, match=f"at most {CANDIDATES}"):
        choose(bounds, errors, evaluations=CANDIDATES + 1)
    with pytest.raises(UnknownNameError, match="bayse"):
        choose(bounds, errors, method="bayse")
    with pytest.raises(UnknownNameError, match="realisable"):
        Bounds.of(bounds.metric, scenario="realisable")
