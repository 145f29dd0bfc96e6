"""What learns before the rest: the part of first order of a network for click logs.

A logistic regression of some ten thousand rows needs twenty epochs at a rate at which a deep network has learnt them by heart
after three; trained together, the deep part is what is stopped early, and the other is not done. So the part of first order
learns alone first, by the same recipe, and the whole network goes on from there: at worst it stays a logistic regression.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from torch import nn

from foresee.training.epochs import Epochs
from foresee.training.keeping import Folder, Memory
from foresee.training.recipe import Recipe
from foresee.training.sources import Sources

#: the folder of its training, in that of the whole
FOLDER = "first_order"


def first_part(network: nn.Module) -> nn.Module | None:
    """The part of first order; None where there is none, or nothing else.

    >>> from foresee.recommenders import make
    >>> from foresee.task import Task
    >>> task = Task((2,), 1, vocabularies=(3, 4))
    >>> type(first_part(make("deepfm", task))).__name__, first_part(make("logistic", task)), first_part(make("dlrm", task))
    ('FirstOrder', None, None)
    """
    for module in network.modules():
        if getattr(type(module), "first_order", False) is True and module is not network:
            rest = {id(one) for one in network.parameters()} - {id(one) for one in module.parameters()}
            return module if rest else None
    return None


def train_first(part: nn.Module, data: Sources, recipe: Recipe, out: Path | None, seed: int, device: str) -> None:
    """Let the part learn, in place; with `out` it is kept in a folder there, and gone on with."""
    kept = Memory() if out is None else Folder(out / FOLDER, resume=True)
    try:
        Epochs(part, replace(data, test=None), recipe, kept, seed, device, None, ()).run(None)
    finally:
        kept.close()
    part.train()
