"""The halves: disjoint, everything once in an epoch, decided by the seed."""

from __future__ import annotations

import torch

from foresee.data import Digits, Synthetic
from foresee.searchers.one_shot.halves import Halves
from foresee.task import Task


def samples(read, count):
    return [one.numpy().tobytes() for number in range(count) for one in read(number).inputs]


def test_halves_are_disjoint_and_gone_through_once_an_epoch():
    halves = Halves(Digits(), 50, seed=1)
    assert halves.steps == halves.validation_steps == len(Digits()) // 2 // 50
    ours, theirs = samples(halves.training, halves.steps), samples(halves.validation, halves.validation_steps)
    everything = samples(lambda number: Digits().batch(1797, seed=0), 1)
    assert len(set(ours)) >= len(ours) - 2  # a few digits come twice in the data itself
    assert len(set(ours) & set(theirs)) <= 2
    assert len(set(everything)) > 1700
    lap = samples(lambda number: halves.training(halves.steps + number), halves.steps)
    assert lap != ours
    assert len(set(lap) - set(ours)) <= 50  # the same half, but for those that an epoch leaves over


def test_the_seed_decides():
    first, same, other = (Halves(Digits(), 8, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(first.training(5).inputs, same.training(5).inputs)
    assert not torch.equal(first.training(5).inputs, other.training(5).inputs)


def test_endless_data_is_told_apart_by_seeds():
    halves = Halves(Synthetic(Task((3, 8, 8), 4)), 16, seed=0)
    assert halves.steps == halves.validation_steps == 312
    assert not set(samples(halves.training, 20)) & set(samples(halves.validation, 20))
