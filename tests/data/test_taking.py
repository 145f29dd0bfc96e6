"""Whatever holds data becomes the right kind of data set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, SubsetRandomSampler, TensorDataset

from foresee.data import Data, Digits, GivenBatches, GivenDataset, GivenStream, as_data
from foresee.task import Task
from foresee.testing.samples import samples

SET = TensorDataset(torch.arange(20.0).view(10, 2), torch.arange(10) % 2)


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return iter([SET[n] for n in range(10)])


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (Digits(), Digits),
        ("digits", Digits),
        (SET, GivenDataset),
        (DataLoader(SET, batch_size=3), GivenDataset),
        (DataLoader(SET, batch_size=3, shuffle=True), GivenDataset),
        (DataLoader(SET, batch_size=3, sampler=RandomSampler(SET, replacement=True)), GivenStream),
        (DataLoader(SET, batch_size=3, sampler=RandomSampler(SET, num_samples=4)), GivenStream),
        (DataLoader(SET, batch_size=3, sampler=SubsetRandomSampler([1, 2, 3])), GivenStream),
        (DataLoader(SET, batch_sampler=[[0, 1], [2]]), GivenStream),
        (DataLoader(Stream(), batch_size=4), GivenStream),
        (Stream(), GivenStream),
        (SET.tensors, GivenBatches),
        ([tuple(SET.tensors), tuple(SET.tensors)], GivenBatches),
    ],
)
def test_kinds(given: Any, kind: type[Data]) -> None:
    data = as_data(given, outputs=None if isinstance(given, str) else 10)
    assert type(data) is kind
    assert len(list(data.epoch(4))) == data.steps(4)


def test_a_plain_loader_is_its_data_set_in_an_order_of_ours() -> None:
    loader = DataLoader(SET, batch_size=3, shuffle=True, collate_fn=lambda some: torch.utils.data.default_collate(some))
    data = as_data(loader)
    assert sorted(samples(data.epoch(4))) == sorted(samples(as_data(SET).epoch(4)))
    assert samples(data.epoch(4, start=1)) == samples(list(data.epoch(4))[1:])


def test_a_loader_that_does_not_shuffle_keeps_its_order() -> None:
    data = as_data(DataLoader(SET, batch_size=3))
    assert data.batch_size == 3
    assert samples(data.epoch(4, number=0)) == samples(data.epoch(4, number=1))
    parts = data.split({"train": 0.5, "val": 0.5})
    assert {part.batch_size for part in parts.values()} == {3}
    assert as_data(SET).batch_size is None


class Features(Dataset[Any]):
    """A click log as people keep it: ((dense, sparse), label) by number."""

    def __len__(self) -> int:
        return 30

    def __getitem__(self, row: int) -> Any:
        if not 0 <= row < 30:
            raise IndexError
        return (torch.full((2,), float(row)), torch.tensor([row % 5, row])), torch.tensor([row % 2.0])


class Streamed(IterableDataset[Any]):
    def __iter__(self) -> Any:
        return (Features()[row] for row in range(30))


@pytest.mark.parametrize(
    "given",
    [Features(), DataLoader(Features(), batch_size=8, shuffle=True), Streamed(), DataLoader(Streamed(), batch_size=4)],
)
def test_a_click_log_keeps_its_vocabularies(given: Any) -> None:
    assert as_data(given).task == Task((2,), 1, (5, 30))
    stated = as_data(given, vocabularies=(9, 99))
    assert stated.task == Task((2,), 1, (9, 99))
    if stated.numbered:
        assert stated.fingerprint != as_data(given).fingerprint
        assert {part.task for part in stated.split({"train": 0.5, "val": 0.5}).values()} == {stated.task}
