"""Which recipe a training follows where nobody says otherwise."""

from __future__ import annotations

from typing import Any

from foresee.task import FEW_ROWS, MANY_ROWS
from foresee.training.building import Trainable, by_hand, candidate_of
from foresee.training.sources import sources

#: of images and all else; of click logs by their size
FAST, LARGE, MIDDLE, SMALL = "fast", "ctr", "ctr_middle", "ctr_small"


def usual_recipe(network: Trainable, data: Any, **how: Any) -> str:
    """`ctr` for networks that take click logs, the papers' one epoch; `ctr_middle` where there are fewer than 4 million rows
    to learn from and `ctr_small` where fewer than 200,000: one epoch of few rows teaches little. `fast` for all others.

    Args:
        network: as `train` takes it.
        data: what it will learn from.
        how: `schema` and `preprocessing`, as `train` takes them.

    >>> from torch import nn
    >>> usual_recipe(nn.Linear(4, 2), "digits")
    'fast'
    """
    handmade = by_hand(network)
    candidate = None if handmade is not None else candidate_of(network)
    if handmade is None and (candidate is None or not candidate.task.vocabularies):
        return FAST
    rows = sources(data, **how).words["train"].get("samples", 0)
    return SMALL if rows < FEW_ROWS else MIDDLE if rows < MANY_ROWS else LARGE
