"""From what names a network to the network that is trained: a module is itself; an architecture is built by the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from foresee.errors import InputError
from foresee.recommenders import Handmade, recommenders
from foresee.seeds import derive
from foresee.spaces.candidate import Candidate, in_folder
from foresee.spaces.find import get
from foresee.task import Task
from foresee.training.recipe import Recipe

#: what can be trained: a module, an architecture, a file or a run's folder that holds one, or a recommender by its name
Trainable = nn.Module | Candidate | Handmade | str | Path | Mapping[str, Any]


def by_hand(network: Trainable) -> Handmade | None:
    """The recommender that was named; a file of that name comes first."""
    if isinstance(network, Handmade):
        return network
    if isinstance(network, str) and network.replace("-", "_").isidentifier() and not Path(network).exists():
        return Handmade(network) if network in recommenders else None
    return None


def candidate_of(network: Trainable) -> Candidate | None:
    """The architecture that was handed over; None where it is a module, or made by hand."""
    if isinstance(network, nn.Module | Handmade):
        return None
    if isinstance(network, Candidate):
        return network
    if isinstance(network, Mapping):
        return Candidate.from_json(dict(network))
    if not isinstance(network, str | Path):
        raise InputError(
            f"training: a {type(network).__name__} is no network; expected a torch.nn.Module, a candidate of a run, or the "
            "path of a best.json"
        )
    return Candidate.load(in_folder(Path(network)))


def for_recipe(candidate: Candidate, recipe: Recipe, task: Task) -> Candidate:
    """The architecture in the space as the recipe wants its networks, for the task of the data.

    Width and depth (`channels`, `layers`) are the recipe's where the space has settings of these names, all that the recipe
    speaks of; an auxiliary head, dropped paths and a part of first order where the recipe gives them a weight and the space
    can have them.
    """
    space = candidate.space
    taken = space.defaults()
    shape = {key: value for key in ("channels", "layers") if (value := getattr(recipe, key)) is not None}
    changes: dict[str, Any] = shape if shape.keys() <= taken.keys() else {}
    if recipe.auxiliary and "auxiliary" in taken:
        changes["auxiliary"] = True
    if recipe.drop_path and "drop_path" in taken:
        changes["drop_path"] = recipe.drop_path
    if recipe.first_order and "first_order" in taken:
        changes["first_order"] = True
    if changes:
        space = get(space.reference, **{**space.settings(), **changes})
    return Candidate(space, space.parse(str(candidate.architecture)), task, candidate.details)


def built(candidate: Candidate, seed: int) -> nn.Module:
    """The network with fresh weights of the seed."""
    return candidate.build(derive(seed, "weights"))


def spread_embeddings(network: nn.Module, spread: float) -> None:
    """Scale the tables of a fresh network, each to this standard deviation; 0 leaves them as they are drawn.

    A rare category keeps about the vector that was drawn for it, which is noise: on small logs a small one is best. Weights
    of first order (tables of one column) stay.

    >>> network = nn.Embedding(100, 16)
    >>> spread_embeddings(network, 0.01)
    >>> round(float(network.weight.std()), 6)
    0.01
    """
    if not spread:
        return
    for module in network.modules():
        if isinstance(module, nn.Embedding) and module.embedding_dim > 1 and module.weight.requires_grad:
            with torch.no_grad():
                deviation = module.weight.std()
                if bool(deviation > 0):
                    module.weight.mul_(spread / deviation)
