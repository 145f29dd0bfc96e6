"""A level of warm-up in optimiser steps."""

from __future__ import annotations

import math

from foresee.data import Data
from foresee.training.recipe import Recipe

#: steps of a click log at any level above 0 %: one per cent of ten thousand rows is less than a batch, which warms nothing
LEAST = 20


def steps_of(share: float, data: Data, recipe: Recipe) -> int:
    """How many steps a level is: that share of the samples that the recipe's epochs see, in whole batches, rounded up.

    Of a click log at least `LEAST`, over the rows more than once where they are few.

    >>> from foresee.data import Synthetic
    >>> data = Synthetic()
    >>> steps_of(0.1, data, Recipe(epochs=1, batch=100)) == math.ceil(0.1 * (data.epoch_samples // 100))
    True
    """
    stated = stated_steps(share, data, recipe)
    return max(stated, LEAST) if stated and data.task.vocabularies else stated


def stated_steps(share: float, data: Data, recipe: Recipe) -> int:
    """The same, whatever is the least."""
    size = min(recipe.batch, data.epoch_samples)
    whole = data.steps(size, drop_last=True) * recipe.epochs
    return min(whole, math.ceil(round(share * whole, 9)))
