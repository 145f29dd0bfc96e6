"""Training: recipes as data, steps that can be gone on from exactly, checkpoints that are whole.

fs.train(network, data, recipe="nasi_cifar", epochs=50, out="runs/first")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.lazy import lazily

#: public name -> where it lives; imported on first use, so that recipes can be read without loading torch
_HOMES = {
    "Recipe": "foresee.training.recipe",
    "Training": "foresee.training.steps",
}

if TYPE_CHECKING:
    from foresee.training.recipe import Recipe
    from foresee.training.steps import Training

__all__ = ["Recipe", "Training"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
