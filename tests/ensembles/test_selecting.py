"""Selecting ensembles: inherited estimates, Algorithm 5.1, and NES' greedy choice against trying all."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from foresee.data import load
from foresee.ensembles.measures import nll
from foresee.ensembles.posterior import Posterior
from foresee.ensembles.sampling import sample_mc, sample_svgd_rd
from foresee.ensembles.selecting import Estimates, forward_selection, nesbs
from foresee.errors import InputError
from foresee.spaces.find import get
from foresee.supernets.supernet import Supernet
from foresee.task import Task

CELLS = (
    "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|",
    "|nor_conv_1x1~0|+|skip_connect~0|nor_conv_3x3~1|+|none~0|avg_pool_3x3~1|nor_conv_3x3~2|",
    "|skip_connect~0|+|nor_conv_3x3~0|none~1|+|skip_connect~0|nor_conv_1x1~1|nor_conv_3x3~2|",
)


@pytest.fixture(scope="module")
def estimates():
    data = load("digits", inputs=(1, 8, 8))
    parts = data.split({"train": 0.9, "val": 0.1}, seed=0)
    supernet = Supernet(get("nasbench201", channels=4, cells=1), Task((1, 8, 8), 10), seed=0)
    supernet.train(parts["train"], steps=10, batch=32)
    return Estimates(supernet, parts["val"], parts["train"])


def test_a_single_network_is_as_the_supernet_says(estimates):
    found = estimates.supernet.evaluate(CELLS[0], estimates.data, like=estimates.like)
    assert estimates.loss([CELLS[0]]) == pytest.approx(found.loss, rel=1e-5)
    assert estimates.measure([CELLS[0]]).error == pytest.approx(1 - found.accuracy)


def test_each_network_is_looked_at_once(estimates):
    estimates.loss(CELLS)
    before = estimates.evaluated
    estimates.loss([CELLS[1], CELLS[1], CELLS[0]])
    assert estimates.evaluated == before
    found = estimates.measure(CELLS)
    assert len(found.members) == 3
    assert found.samples == len(estimates.data)


def test_the_least_loss_is_taken(estimates):
    drawn = [CELLS[:2], CELLS[1:], CELLS[::2]]
    found = nesbs(lambda number: drawn[number], estimates, 3)
    losses = [estimates.loss(one) for one in drawn]
    assert found.tried == tuple(losses)
    assert found.loss == min(losses)
    assert found.architectures == tuple(drawn[losses.index(min(losses))])


@pytest.mark.parametrize("sample", [sample_mc, sample_svgd_rd])
def test_from_a_posterior_to_an_ensemble(estimates, sample):
    one_shot = estimates.supernet.one_shot
    posterior = Posterior(one_shot.logits(1.0, torch.Generator().manual_seed(0)), one_shot.counts)
    found = nesbs(lambda t: [one_shot.derive(path) for path in sample(posterior, 3, seed=t)], estimates, 2)
    assert len(found.architectures) == 3
    again = nesbs(lambda t: [one_shot.derive(path) for path in sample(posterior, 3, seed=t)], estimates, 2)
    assert (found.architectures, found.tried) == (again.architectures, again.tried)


@given(st.integers(0, 1000))
def test_greedy_is_greedy(seed):
    generator = torch.Generator().manual_seed(seed)
    pool = torch.randn(5, 8, 3, generator=generator, dtype=torch.float64).softmax(-1)
    labels = torch.randint(3, (8,), generator=generator)
    chosen: list[int] = []
    for _ in range(3):
        left = [one for one in range(5) if one not in chosen]
        chosen.append(min(left, key=lambda one: float(nll(pool[[*chosen, one]].mean(0), labels))))
    assert forward_selection(pool, labels, 3) == chosen
    best = min(itertools.combinations(range(5), 1), key=lambda one: float(nll(pool[list(one)].mean(0), labels)))
    assert chosen[0] == best[0]


def test_more_than_there_is_is_refused():
    with pytest.raises(InputError, match="at most 2"):
        forward_selection(torch.rand(2, 3, 2), torch.zeros(3, dtype=torch.long), 3)
