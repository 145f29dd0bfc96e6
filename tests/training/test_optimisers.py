"""Optimisers: torch's own, with the recipe's values, and decay where it belongs."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.errors import InputError
from foresee.training.optimisers import optimiser, parameter_groups, set_rate, undecayed
from foresee.training.recipe import Recipe

WANTED = {
    "sgd": (torch.optim.SGD, {"lr": 0.3, "momentum": 0.8, "nesterov": True, "weight_decay": 0.01}),
    "adamw": (torch.optim.AdamW, {"lr": 0.3, "betas": (0.5, 0.6), "eps": 0.1, "weight_decay": 0.01}),
    "adam": (torch.optim.Adam, {"lr": 0.3, "betas": (0.5, 0.6), "eps": 0.1, "weight_decay": 0.01}),
    "rmsprop": (torch.optim.RMSprop, {"lr": 0.3, "alpha": 0.7, "eps": 0.1, "momentum": 0.8, "weight_decay": 0.01}),
    "adagrad": (torch.optim.Adagrad, {"lr": 0.3, "eps": 0.1, "weight_decay": 0.01}),
}


@pytest.mark.parametrize("name", WANTED)
def test_the_same_steps_as_torch(name: str) -> None:
    kind, values = WANTED[name]
    recipe = Recipe(
        optimiser=name, lr=0.3, momentum=0.8, nesterov=True, betas=(0.5, 0.6), eps=0.1, alpha=0.7, weight_decay=0.01
    )
    torch.manual_seed(0)
    ours, theirs = nn.Linear(3, 2), nn.Linear(3, 2)
    theirs.load_state_dict(ours.state_dict())
    first, second = optimiser(recipe, ours), kind(theirs.parameters(), **values)
    x = torch.randn(5, 3)
    for _ in range(4):
        for network, made in ((ours, first), (theirs, second)):
            made.zero_grad()
            network(x).square().mean().backward()
            made.step()
    assert torch.equal(ours.weight, theirs.weight)
    assert torch.equal(ours.bias, theirs.bias)


class Mixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.table = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Embedding(3, 2)
        self.class_token = nn.Parameter(torch.zeros(1))
        self.frozen = nn.Parameter(torch.zeros(1), requires_grad=False)


def test_what_is_not_decayed() -> None:
    network = Mixed()
    own = dict(network.named_parameters())

    def named(*kinds: str) -> set[str]:
        kept = {id(one) for one in undecayed(kinds, network)}
        return {name for name, one in own.items() if id(one) in kept}

    assert named() == set()
    assert named("biases") == {"conv.bias", "norm.bias"}
    assert named("norms") == {"norm.weight", "norm.bias"}
    assert named("embeddings") == {"table.weight", "class_token"}
    groups = parameter_groups(Recipe(weight_decay=0.5, no_decay=("biases", "norms", "embeddings")), network)
    assert [len(group["params"]) for group in groups] == [1, 5]
    assert [group["weight_decay"] for group in groups] == [0.5, 0.0]


def test_nothing_to_learn() -> None:
    with pytest.raises(InputError, match="no parameter that learns"):
        optimiser(Recipe(), nn.ReLU())


def test_rate_is_set_in_every_group() -> None:
    made = optimiser(Recipe(no_decay=("biases",)), nn.Linear(2, 2))
    set_rate(made, 0.125)
    assert [group["lr"] for group in made.param_groups] == [0.125, 0.125]
