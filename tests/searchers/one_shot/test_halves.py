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


def test_images_for_the_weights_are_cropped_and_mirrored_and_the_others_are_not():
    plain, changed = Halves(Digits(), 40, seed=1), Halves(Digits(), 40, seed=1, crop=2, flip=True)
    assert torch.equal(plain.validation(3).inputs, changed.validation(3).inputs)
    before, after = plain.training(3), changed.training(3)
    assert torch.equal(before.labels, after.labels)
    assert torch.equal(after.inputs, changed.training(3).inputs)  # by the number of the batch, whoever asks when
    statistics = plain._training.statistics
    black = -statistics.mean[0] / statistics.std[0]
    padded = torch.nn.functional.pad(before.inputs, (2, 2, 2, 2), value=black)
    size = before.inputs.shape[-1]
    for place, image in enumerate(after.inputs):
        places = [(down, right) for down in range(5) for right in range(5)]
        crops = [padded[place, :, down : down + size, right : right + size] for down, right in places]
        assert any(torch.allclose(image, one) or torch.allclose(image, one.flip(2)) for one in crops)
