"""Training: recipes as data, steps that can be gone on from exactly, checkpoints that are whole.

fs.train(network, data, recipe="nasi_cifar", epochs=50, out="runs/first")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.lazy import lazily

#: public name -> where it lives; imported on first use, so that recipes can be read without loading torch
_HOMES = {
    "Recipe": "foresee.training.recipe",
    "Trained": "foresee.training.trained",
    "Training": "foresee.training.steps",
    "load": "foresee.training.loading",
    "train": "foresee.training.loop",
}

if TYPE_CHECKING:
    from foresee.training.loading import load
    from foresee.training.loop import train
    from foresee.training.recipe import Recipe
    from foresee.training.steps import Training
    from foresee.training.trained import Trained

__all__ = ["Recipe", "Trained", "Training", "load", "train"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
