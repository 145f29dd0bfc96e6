"""All recommenders: made by name, counted by formula, with gradients everywhere, learning what no weight alone can say."""

from __future__ import annotations

import pytest
import torch
from tests.recommenders.planted import TASK, planted

from foresee.errors import InputError, UnknownNameError
from foresee.recommenders import Handmade, make, names, recommenders
from foresee.task import Task
from foresee.training.loop import train
from foresee.training.recipe import Recipe

NETWORKS = [name for name in names() if not getattr(recommenders[name], "fitted", False)]
SMALL = {
    "logistic": {},
    "dlrm": {"bottom": (16,), "top": (32,)},
    "deepfm": {"deep": (32,), "dropout": 0.0},
    "xdeepfm": {"maps": (4, 3), "deep": (32,), "dropout": 0.0},
    "autoint": {"width": 4, "depth": 2, "deep": (32,), "dropout": 0.0},
}


def layer(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def test_those_of_the_papers_are_there() -> None:
    assert set(names()) >= {*SMALL, "trees"}
    assert all(recommenders[name].summary and recommenders[name].source for name in names())


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("logistic", (2 + 1) + 11),
        ("dlrm", layer(2, 16) + layer(16, 16) + 11 * 16 + layer(16 + 6, 32) + layer(32, 1)),
        ("deepfm", 14 + (2 + 11) * 16 + layer(5 * 16, 32) + layer(32, 1)),
        ("xdeepfm", 14 + (2 + 11) * 16 + (4 * 25 + 3 * 20) + 7 + layer(80, 32) + layer(32, 1)),
        ("autoint", (2 + 11) * 16 + 4 * 8 * 16 + 4 * 8 * 8 + layer(5 * 8, 1) + layer(80, 32) + 32),
    ],
)
def test_parameters_by_formula(name: str, count: int) -> None:
    assert sum(one.numel() for one in make(name, TASK, **SMALL[name]).parameters()) == count


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_reach_everything(name: str) -> None:
    network = make(name, TASK, seed=0, **SMALL[name]).eval()
    sparse = torch.stack([torch.arange(24) % size for size in TASK.vocabularies], 1)
    out = network(torch.randn(24, 2, generator=torch.Generator().manual_seed(0)), sparse)
    assert out.shape == (24, 1)
    (out.squeeze(1) * torch.linspace(0.5, 1, 24)).sum().backward()
    silent = [called for called, one in network.named_parameters() if one.grad is None or not one.grad.any()]
    assert silent == []


def learnt(name: str) -> float:
    recipe = Recipe(epochs=6, batch=64, optimiser="adam", lr=0.02, validation=0.25, embedding_spread=0.1)
    found = train(Handmade(name, SMALL[name]), planted(800), recipe).validation
    assert found is not None
    assert found.auc is not None
    return found.auc


@pytest.mark.parametrize("name", [name for name in SMALL if name != "logistic"])
def test_a_planted_interaction_is_learnt(name: str) -> None:
    assert learnt(name) > 0.85


def test_logistic_regression_cannot_learn_it() -> None:
    assert learnt("logistic") < 0.65


def test_the_seed_decides_the_weights_and_nothing_else_is_touched() -> None:
    before = torch.get_rng_state()
    first, second, other = (make("deepfm", TASK, seed=seed, deep=(8,)) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    for one, same, different in zip(first.parameters(), second.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, same)
        assert not one.any() or not torch.equal(one, different)


def test_mistakes_are_named() -> None:
    with pytest.raises(UnknownNameError, match="deepfm"):
        make("deepfn", TASK)
    with pytest.raises(UnknownNameError, match="dropout"):
        make("deepfm", TASK, droput=0.1)
    with pytest.raises(InputError, match="no vocabularies"):
        make("dlrm", Task((3,), 1))
    with pytest.raises(InputError, match="3 outputs"):
        make("dlrm", Task((3,), 3, vocabularies=(2,)))
    with pytest.raises(InputError, match="fitted whole"):
        make("trees", TASK)
    with pytest.raises(InputError, match="deepfm with"):
        make("deepfm", TASK, dropout="much")


def test_one_of_your_own_is_registered_by_a_line() -> None:
    from foresee.recommenders.logistic import Logistic

    try:
        recommenders.add("mine", Logistic)
        assert "mine" in names()
    finally:
        recommenders._things.pop("mine")
