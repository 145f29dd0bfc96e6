"""Loaders that decide themselves what comes: counted, cut anew, gone on with by reading again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, WeightedRandomSampler

from foresee.data import GivenStream
from foresee.errors import DataError, InputError
from foresee.testing.samples import random_states, samples


class Numbers(IterableDataset[Any]):
    def __init__(self, count: int, noise: bool = False) -> None:
        self.count, self.noise = count, noise

    def __iter__(self) -> Iterator[tuple[Tensor, int]]:
        for number in range(self.count):
            yield torch.full((2,), float(number)) + self.noise * torch.rand(2) / 2, number % 3


def numbers(batches: Any) -> list[int]:
    return [int(value) for batch in batches for value in batch.inputs[:, 0]]


@pytest.mark.parametrize("size", [1, 3, 4, 7, 11, 20])
def test_batches_are_cut_anew(size: int) -> None:
    data = GivenStream(DataLoader(Numbers(11), batch_size=4))
    assert (len(data), data.task.inputs, data.task.outputs) == (11, (2,), 3)
    batches = list(data.epoch(size))
    assert numbers(batches) == list(range(11))
    assert [len(batch) for batch in batches] == [size] * (11 // size) + [11 % size] * bool(11 % size)
    assert len(batches) == data.steps(size)
    if size <= 11:
        assert numbers(data.epoch(size, drop_last=True)) == list(range(11 // size * size))
        assert numbers([data.batch(size, index=0)]) == list(range(size))


def test_an_epoch_is_gone_on_with_and_the_seed_decides() -> None:
    data = GivenStream(DataLoader(Numbers(11, noise=True), batch_size=4))
    before = random_states()
    whole = list(data.epoch(3, seed=1, number=2))
    assert samples(data.epoch(3, seed=1, number=2, start=2)) == samples(whole[2:])
    assert samples(data.epoch(3, seed=2, number=2)) != samples(whole)
    assert samples(data.epoch(3, seed=1, number=1)) != samples(whole)
    assert random_states() == before


def test_a_sampler_of_ones_own() -> None:
    loader = DataLoader(
        [(torch.full((2,), float(n)), n % 2) for n in range(8)],
        batch_size=3,
        sampler=WeightedRandomSampler([0.0, 1.0] * 4, 6),
    )
    data = GivenStream(loader, 2)
    assert len(data) == 6
    found = numbers(data.epoch(6))
    assert all(number % 2 for number in found)
    assert found == numbers(data.epoch(6))
    assert numbers(data.epoch(6, number=1)) != found


def test_a_stream_without_an_end_needs_a_number() -> None:
    data = GivenStream(DataLoader(Numbers(10**9), batch_size=4), samples=10)
    assert numbers(data.epoch(4)) == list(range(10))
    assert data.task.outputs == 3


def test_what_a_stream_cannot_do_is_said() -> None:
    data = GivenStream(DataLoader(Numbers(5), batch_size=2))
    with pytest.raises(InputError, match="have no numbers"):
        data.read(torch.arange(2))
    with pytest.raises(InputError, match="a loader for each part"):
        data.split({"train": 0.5, "val": 0.5})
    with pytest.raises(DataError, match="ended after 3 batches of 2, but 7 samples"):
        list(GivenStream(DataLoader(Numbers(5), batch_size=2), 3, samples=7).epoch(2))
    with pytest.raises(DataError, match="is empty"):
        GivenStream(DataLoader(Numbers(0), batch_size=2))
    with pytest.raises(InputError, match="a batch from 0 to 3"):
        data.epoch(2, start=4)


def test_fingerprints() -> None:
    one, other = (GivenStream(DataLoader(Numbers(count), batch_size=2)).fingerprint for count in (5, 6))
    assert one != other
    assert one == GivenStream(DataLoader(Numbers(5), batch_size=2)).fingerprint
