"""Data sets joined, and folds of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from foresee.data import Arrays, Synthetic
from foresee.data.joined import Joined, fold_of
from foresee.errors import InputError


def numbered(first: int, count: int) -> Arrays:
    """Samples whose label, and every pixel, is their number."""
    numbers = np.arange(first, first + count)
    return Arrays(np.broadcast_to(numbers.reshape(-1, 1, 1, 1), (count, 1, 2, 2)).astype(float), numbers, outputs=20)


def test_rows_come_in_the_order_that_is_asked_for():
    joined = Joined([numbered(0, 4), numbered(4, 3)])
    assert len(joined) == 7
    asked = torch.tensor([6, 0, 4, 3, 3])
    batch = joined.read(asked)
    assert batch.labels.tolist() == asked.tolist()
    assert batch.inputs[:, 0, 0, 0].tolist() == asked.tolist()
    assert sorted(int(x) for batch in joined.epoch(2, seed=1) for x in batch.labels) == list(range(7))


def test_normalised_as_the_first_is():
    first = Arrays(np.random.default_rng(0).normal(5, 3, (30, 1, 2, 2)), np.zeros(30, int))
    joined = Joined([first, Arrays(np.full((9, 1, 2, 2), 100.0), np.zeros(9, int))])
    assert joined.statistics == first.statistics
    learnt, held = fold_of(joined, 3, 1)
    assert learnt.statistics == held.statistics == first.statistics


def test_every_row_is_held_out_once():
    data = Joined([numbered(0, 11), numbered(11, 6)])
    seen = []
    for fold in range(4):
        learnt, held = fold_of(data, 4, fold, seed=3)
        there = [[int(x) for batch in part.epoch(5, shuffle=False) for x in batch.labels] for part in (learnt, held)]
        assert sorted(there[0] + there[1]) == list(range(17))
        seen += there[1]
    assert sorted(seen) == list(range(17))
    assert fold_of(data, 4, 0, seed=3)[1].fingerprint != fold_of(data, 4, 0, seed=4)[1].fingerprint


def test_what_cannot_be():
    with pytest.raises(InputError, match="no numbered rows"):
        Joined([Synthetic()])
    with pytest.raises(InputError, match="another task"):
        Joined([numbered(0, 3), Arrays(np.zeros((3, 1, 4, 4)), np.zeros(3, int))])
    for folds, fold in ((1, 0), (9, 0), (3, 3)):
        with pytest.raises(InputError, match="expected 2 folds or more"):
            fold_of(numbered(0, 5), folds, fold)
