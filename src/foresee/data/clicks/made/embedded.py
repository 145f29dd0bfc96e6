"""`planted_clicks`: a small click log that is made here in a moment, so that everything for click logs can be tried at once.

It is the log of nobody in particular of `published.py`, with 6 numbers, 8 categories and planted interactions, drawn into
memory: the log of each count (0 where missing), and categories as ranks by frequency. No category has more than `MOST`
values, so that twelve thousand rows are enough to learn from.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from foresee.data.base import Data
from foresee.data.clicks.made.planted import Floats, Whole, World
from foresee.data.clicks.made.published import FORMS
from foresee.data.features import Features
from foresee.data.loading import Wanted, one_split, sets
from foresee.seeds import derive

NAME = "planted_clicks"
#: rows by split
ROWS = {"train": 12_000, "val": 3_000, "test": 5_000}
#: values of a category, beside which there may be a missing one
MOST = 40


@sets.register(NAME)
def load_planted(wanted: Wanted) -> Data:
    """A split of it, by default what is learnt from.

    >>> load_planted(Wanted()).task.vocabularies
    (40, 40, 41, 40, 41, 40, 12, 6)
    """
    dense, sparse, labels = _drawn()
    sizes = [one.size + bool(one.missing) for one in _world().categories]
    ends = np.cumsum([0, *ROWS.values()])

    def make(split: str, like: Data | None) -> Features:
        place = list(ROWS).index(split)
        rows = slice(ends[place], ends[place + 1])
        name = NAME if split == "train" and wanted.split is None else f"{NAME}/{split}"
        return Features(
            dense[rows], sparse[rows], labels[rows], vocabularies=sizes, name=name, wanted=wanted, like=like
        )

    return one_split(wanted.split or "train", list(ROWS), make)


@cache
def _world() -> World:
    world = FORMS["csv"].world(0)
    return replace(world, categories=[replace(one, size=min(one.size, MOST)) for one in world.categories])


@cache
def _drawn() -> tuple[Floats, Whole, Whole]:
    """All rows: (rows, numbers), (rows, categories), (rows,)."""
    world, total = _world(), sum(ROWS.values())
    rng = np.random.default_rng(derive(0, NAME))
    ranks, counts = world.draw(rng, total)
    clicked = (rng.random(total) < world.probability(ranks, counts)).astype(np.int64)
    sparse = np.stack(
        [np.where(rank < 0, one.size, rank) for rank, one in zip(ranks, world.categories, strict=True)], 1
    )
    return np.log1p(np.maximum(np.stack(counts, 1), 0)), sparse, clicked
