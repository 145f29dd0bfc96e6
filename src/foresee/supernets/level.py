"""Levels of warm-up: a share of the samples that a training sees, and how many optimiser steps that is."""

from __future__ import annotations

import math
import re

from foresee.data import Data
from foresee.errors import InputError, shown
from foresee.training.recipe import Recipe


def share_of(level: str | float) -> float:
    """A level as a share: `10%`, `0.5 %`, or a number from 0 to 1.

    >>> share_of("10%"), share_of("100 %"), share_of(0.25), share_of("0")
    (0.1, 1.0, 0.25, 0.0)
    """
    share = math.nan
    if isinstance(level, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)(?:e-?\d+)?\s*(%?)\s*", level)
        if match:
            number = float(level.replace("%", ""))
            share = number / 100 if match[2] else number
    elif isinstance(level, int | float) and not isinstance(level, bool):
        share = float(level)
    if not 0 <= share <= 1:
        raise InputError(f"warm-up {shown(level)}: expected a share of the training samples, such as 10% (0% to 100%)")
    return share


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
