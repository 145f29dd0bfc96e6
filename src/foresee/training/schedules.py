"""The learning rate, a pure function of the step: nothing has to be stored to go on."""

from __future__ import annotations

import math

from foresee.training.recipe import Recipe


def rate(recipe: Recipe, step: int, steps: int, per_epoch: int) -> float:
    r"""The rate of step number `step` (from 0) of `steps`.

    In the warm-up of `w = warmup_epochs · per_epoch` steps it rises, `lr (step + 1) / w`. After it, with
    `t = (step - w) / (steps - w)`: cosine `lr_min + (lr - lr_min)(1 + cos πt) / 2` (Loshchilov and Hutter, 2017), linear
    `lr + (lr_min - lr) t`, constant `lr`, or in steps `lr / 10` from a half on and `lr / 100` from three quarters on, never
    below `lr_min`.

    >>> [round(rate(Recipe(lr=1.0), step, 4, 2), 3) for step in range(4)]
    [1.0, 0.854, 0.5, 0.146]
    >>> [round(rate(Recipe(lr=1.0, schedule="linear", warmup_epochs=1), step, 6, 3), 2) for step in range(6)]
    [0.33, 0.67, 1.0, 1.0, 0.67, 0.33]
    """
    warm = min(round(recipe.warmup_epochs * per_epoch), steps)
    if step < warm:
        return recipe.lr * (step + 1) / warm
    share = (step - warm) / max(1, steps - warm)
    if recipe.schedule == "cosine":
        return cosine(recipe.lr, recipe.lr_min, share)
    if recipe.schedule == "linear":
        return straight(recipe.lr, recipe.lr_min, share)
    if recipe.schedule == "step":
        return max(recipe.lr_min, recipe.lr / (100 if share >= 0.75 else 10 if share >= 0.5 else 1))
    return recipe.lr


def cosine(first: float, last: float, share: float) -> float:
    """From the first value (share 0) to the last (share 1) in half a cosine.

    >>> [round(cosine(1.0, 0.0, place / 4), 3) for place in range(5)]
    [1.0, 0.854, 0.5, 0.146, 0.0]
    """
    return last + (first - last) * (1 + math.cos(math.pi * share)) / 2


def straight(first: float, last: float, share: float) -> float:
    """From the first value (share 0) to the last (share 1) in a straight line.

    >>> [straight(10.0, 1.0, place / 3) for place in range(4)]
    [10.0, 7.0, 4.0, 1.0]
    """
    return first + (last - first) * share


def drop_path(recipe: Recipe, epoch: int) -> float:
    """The probability of a dropped path in an epoch (from 0): `drop_path · epoch / epochs`, as in DARTS.

    >>> [drop_path(Recipe(drop_path=0.2, epochs=4), epoch) for epoch in range(4)]
    [0.0, 0.05, 0.1, 0.15000000000000002]
    """
    return recipe.drop_path * epoch / recipe.epochs
