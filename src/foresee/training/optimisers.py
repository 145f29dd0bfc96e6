"""From a recipe to one of torch's optimisers."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from foresee.errors import InputError
from foresee.training.recipe import Recipe


def optimiser(recipe: Recipe, network: nn.Module) -> torch.optim.Optimizer:
    """The recipe's optimiser of a network's parameters: those that are decayed, and those that are not.

    The rate is set before each step (see `schedules.rate`); here it is the recipe's largest.

    >>> made = optimiser(Recipe(weight_decay=0.1, no_decay=("biases",)), nn.Linear(2, 3))
    >>> [(len(group["params"]), group["weight_decay"]) for group in made.param_groups]
    [(1, 0.1), (1, 0.0)]
    """
    groups = parameter_groups(recipe, network)
    lr, eps, decay = recipe.lr, recipe.eps, recipe.weight_decay
    match recipe.optimiser:
        case "sgd":
            nesterov = recipe.nesterov and recipe.momentum > 0
            return torch.optim.SGD(groups, lr=lr, momentum=recipe.momentum, nesterov=nesterov, weight_decay=decay)
        case "adamw":
            return torch.optim.AdamW(groups, lr=lr, betas=recipe.betas, eps=eps, weight_decay=decay)
        case "adam":
            return torch.optim.Adam(groups, lr=lr, betas=recipe.betas, eps=eps, weight_decay=decay)
        case "rmsprop":
            return torch.optim.RMSprop(
                groups, lr=lr, alpha=recipe.alpha, eps=eps, momentum=recipe.momentum, weight_decay=decay
            )
        case _:
            return torch.optim.Adagrad(groups, lr=lr, eps=eps, weight_decay=decay)


def parameter_groups(recipe: Recipe, network: nn.Module) -> list[dict[str, Any]]:
    """Parameters that learn, in the network's order: with decay, then without; a group without any is left out."""
    kept = {id(one) for one in undecayed(recipe.no_decay, network)}
    learning = [one for one in network.parameters() if one.requires_grad]
    if not learning:
        raise InputError("training: the network has no parameter that learns (requires_grad)")
    groups: list[dict[str, Any]] = [
        {"params": [one for one in learning if id(one) not in kept], "weight_decay": recipe.weight_decay},
        {"params": [one for one in learning if id(one) in kept], "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def undecayed(kinds: tuple[str, ...], network: nn.Module) -> list[nn.Parameter]:
    """The parameters that `kinds` name: biases, scales and shifts of normalisations, tables and tokens of embeddings."""
    found = []
    for module in network.modules():
        kind = type(module).__name__
        for called, one in module.named_parameters(recurse=False):
            norm = "norms" in kinds and "Norm" in kind
            bias = "biases" in kinds and called.rpartition(".")[2].startswith("bias")
            embedded = isinstance(module, nn.Embedding | nn.EmbeddingBag) or "embed" in called or "token" in called
            if norm or bias or ("embeddings" in kinds and embedded):
                found.append(one)
    return found


def set_rate(made: torch.optim.Optimizer, rate: float) -> None:
    """The same rate for all groups."""
    for group in made.param_groups:
        group["lr"] = rate
