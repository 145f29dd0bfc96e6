"""Ensembles judged by inherited weights: each architecture once, chosen by validation, judged by test."""

from __future__ import annotations

import random

import pytest
import torch

from foresee.data import load
from foresee.ensembles.selecting import Estimates
from foresee.papers.nesbs.inherited import Inherited, over_draws, over_pools
from foresee.supernets.supernet import Supernet


@pytest.fixture(scope="module")
def inherited():
    parts = load("digits", inputs=(3, 8, 8)).split({"train": 0.1, "val": 0.05, "test": 0.05, "rest": 0.8})
    supernet = Supernet("nasbench201", parts["train"].task, channels=4, cells=1)
    supernet.train(parts["train"], steps=8, batch=32)
    return Inherited(supernet, parts["train"], parts["val"], parts["test"], batches=1)


@pytest.fixture(scope="module")
def texts(inherited):
    rng = random.Random(1)
    return [str(inherited.supernet.space.sample(rng)) for _ in range(6)]


def test_both_parts_are_predicted_as_the_engine_of_selection_predicts_them(inherited, texts):
    looks = Estimates(inherited.supernet, inherited.test, like=inherited.supernet._data)
    whole = Inherited(inherited.supernet, inherited.supernet._data, inherited.val, inherited.test)
    assert torch.allclose(looks.probabilities(texts[0]), whole.predicted(texts[0])["test"], atol=1e-6)
    assert looks.measure(texts[:3]).error == pytest.approx(whole.error(texts[:3]))


def test_an_architecture_is_looked_at_once(inherited, texts):
    assert inherited.predicted(texts[0]) is inherited.predicted(texts[0])
    assert texts[0] in inherited.looked_at
    assert inherited.best_single(texts) == min(inherited.error([one]) for one in texts)


def test_the_pick_of_each_budget_is_the_best_by_validation_so_far(inherited, texts):
    draws = [texts[:2], texts[2:4], texts[4:6]]
    found = over_draws(inherited, draws)
    for count in (1, 2, 3):
        best = min(draws[:count], key=inherited.loss)
        assert found[count - 1] == inherited.error(best)


def test_pools_grow_with_the_budget(inherited, texts):
    found = over_pools(inherited, texts, 2)
    assert len(found) == 3
    assert found[0] == inherited.error(texts[:2])
