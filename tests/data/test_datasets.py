"""Data sets of torch: the promises of all data, fresh changes in each epoch, workers that change nothing."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import Dataset, TensorDataset

from foresee.data import Data, GivenDataset
from foresee.errors import DataError
from foresee.testing import DataSuite
from foresee.testing.samples import same, samples


class Squares(Dataset[Any]):
    """Thirteen samples of two numbers; changed at random where told to."""

    def __init__(self, noise: bool = False, count: int = 13) -> None:
        self.noise, self.count = noise, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        if not 0 <= index < self.count:
            raise IndexError(index)
        inputs = torch.tensor([float(index), float(index**2)])
        if self.noise:
            inputs = inputs + torch.rand(2) * 0.1 + random.random() * 0.1 + np.random.rand() * 0.1  # noqa: NPY002
        return inputs, index % 3


class TestMapStyle(DataSuite):
    def data(self) -> Data:
        return GivenDataset(Squares())

    def others(self) -> list[Data]:
        return [GivenDataset(Squares(count=12)), GivenDataset(Squares(), 4), GivenDataset(Squares(noise=True))]


def test_random_changes_are_fresh_in_each_epoch_and_repeatable() -> None:
    data = GivenDataset(Squares(noise=True))
    first, second = (list(data.epoch(4, seed=1, number=number)) for number in (0, 1))
    assert not set(samples(first)) & set(samples(second))
    again = GivenDataset(Squares(noise=True))
    assert samples(again.epoch(4, seed=1)) == samples(first)
    assert samples(again.epoch(4, seed=1, start=2)) == samples(first[2:])
    assert samples(again.epoch(5, seed=1)) == samples(first)  # a sample's changes do not depend on its company
    part = data.split({"train": 0.5, "val": 0.5})["train"]
    assert not set(samples(part.epoch(4, number=0))) & set(samples(part.epoch(4, number=1)))
    assert samples(part.epoch(4)) == samples(part.epoch(4))


@pytest.mark.slow
def test_workers_change_nothing() -> None:
    alone, helped = GivenDataset(Squares(noise=True)), GivenDataset(Squares(noise=True), workers=2)
    before = torch.get_rng_state()
    found = list(helped.epoch(4, seed=3, number=1))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(map(same, found, alone.epoch(4, seed=3, number=1)))
    assert len(found) == 4


def test_outputs_are_named_counted_or_said() -> None:
    named = Squares()
    named.classes = list("abcde")  # type: ignore[attr-defined]
    assert GivenDataset(named).task.outputs == 5
    part = GivenDataset(named).split({"train": 0.5, "val": 0.5})["val"]
    assert isinstance(part, GivenDataset)
    assert part.classes == tuple("abcde")
    assert GivenDataset(Squares()).task.outputs == 3
    assert GivenDataset(Squares(), 7).task.outputs == 7
    fractions = GivenDataset(TensorDataset(torch.zeros(3, 2), torch.rand(3, dtype=torch.float64)))
    assert fractions.task.outputs == 1
    assert fractions.batch(2).labels.shape == (2, 1)  # type: ignore[union-attr]
    with pytest.raises(DataError, match="say outputs="):
        GivenDataset(TensorDataset(torch.zeros(3, 2)))


def test_what_a_data_set_raises_is_one_line() -> None:
    class Broken(Squares):
        def __getitem__(self, index: int) -> tuple[Tensor, int]:
            if index == 5:
                raise OSError("disk on fire")
            return super().__getitem__(index)

    data = GivenDataset(Broken(), 3)
    with pytest.raises(DataError, match="the data set Broken cannot be read: OSError: disk on fire"):
        list(data.epoch(4))
    with pytest.raises(DataError, match="is empty"):
        GivenDataset(Squares(count=0))
