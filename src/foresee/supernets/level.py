"""A level of warm-up in optimiser steps."""

from __future__ import annotations

import math

from foresee.data import Data
from foresee.training.recipe import Recipe


def steps_of(share: float, data: Data, recipe: Recipe) -> int:
    """How many steps a level is: that share of the samples that the recipe's epochs see, in whole batches, rounded up.

    >>> from foresee.data import Synthetic
    >>> data = Synthetic()
    >>> steps_of(0.1, data, Recipe(epochs=1, batch=100)) == math.ceil(0.1 * (data.epoch_samples // 100))
    True
    """
    size = min(recipe.batch, data.epoch_samples)
    whole = data.steps(size, drop_last=True) * recipe.epochs
    return min(whole, math.ceil(round(share * whole, 9)))
