"""Batches handed over: as they are, whatever their parts."""

from __future__ import annotations

import pytest
import torch

from foresee.batch import Batch
from foresee.data import Data, GivenBatches
from foresee.errors import DataError, InputError
from foresee.seeds import generator
from foresee.task import Task
from foresee.testing import DataSuite


def numbers(count: int, width: int = 3, seed: int = 0) -> torch.Tensor:
    return torch.randn(count, width, generator=generator(seed, "given"))


def categories(count: int, seed: int = 0) -> torch.Tensor:
    return torch.stack([torch.randint(top, (count,), generator=generator(seed, top)) for top in (4, 7)], 1)


class TestOneBatch(DataSuite):
    indices = (0,)
    drawn = False

    def data(self) -> Data:
        return GivenBatches([Batch(numbers(13), torch.arange(13) % 2)])

    def others(self) -> list[Data]:
        return [GivenBatches([Batch(numbers(13, seed=1), torch.arange(13) % 2)]), GivenBatches([Batch(numbers(13))])]


class TestSeveralBatches(DataSuite):
    indices = (0, 1, 2)
    drawn = False

    def data(self) -> Data:
        return GivenBatches([Batch(numbers(5, seed=s), torch.arange(5) % 2) for s in range(3)])


class TestClicks(DataSuite):
    indices = (0,)
    drawn = False

    def data(self) -> Data:
        return GivenBatches([Batch((numbers(13), categories(13)), (torch.arange(13) % 2).float()[:, None])])


class TestNamedParts(DataSuite):
    indices = (0, 1)
    drawn = False

    def data(self) -> Data:
        return GivenBatches(
            [Batch({"x": numbers(7, seed=s), "c": categories(7, seed=s)}, torch.arange(7) % 2) for s in range(2)]
        )

    def others(self) -> list[Data]:
        return [
            GivenBatches(
                [Batch({"x": numbers(7, seed=s), "d": categories(7, seed=s)}, torch.arange(7) % 2) for s in range(2)]
            )
        ]


def test_batches_are_as_given_and_cut() -> None:
    first, second = numbers(6), numbers(8, seed=1)
    data = GivenBatches([Batch(first), Batch(second)], outputs=5)
    assert data.task == Task((3,), 5)
    assert torch.equal(data.batch(99, seed=7).parts[0], first)
    assert torch.equal(data.batch(3, index=1).parts[0], second[:3])
    assert [len(batch) for batch in data.batches(5, 99)] == [6, 8]
    with pytest.raises(DataError, match="batch number 2: only 2 were given"):
        data.batch(3, index=2)
    with pytest.raises(InputError, match="number -1"):
        data.batch(3, index=-1)


def test_parts_of_a_single_batch() -> None:
    x = numbers(7)
    parts = GivenBatches([Batch(x)]).batches(3, 99)
    assert [part.parts[0].tolist() for part in parts] == [x[i : i + 2].tolist() for i in (0, 2, 4)]
    with pytest.raises(DataError, match="8 batches are needed, but the one given has only 7"):
        GivenBatches([Batch(x)]).batches(8, 99)


def test_labels_are_left_out_where_some_have_none() -> None:
    data = GivenBatches([Batch(numbers(4), torch.arange(4)), Batch(numbers(4, seed=1))])
    assert data.read(torch.tensor([5, 0])).labels is None
    assert torch.equal(data.read(torch.tensor([5, 0])).parts[0], torch.stack([numbers(4, seed=1)[1], numbers(4)[0]]))


# -- click logs


def test_vocabularies_are_counted_over_all_batches() -> None:
    low, high = torch.tensor([[0, 5], [1, 0]]), torch.tensor([[3, 1], [0, 0]])
    data = GivenBatches([Batch((numbers(2), low)), Batch((numbers(2), high))], outputs=1)
    assert data.task == Task((3,), 1, vocabularies=(4, 6))
    assert data.read(torch.tensor([3])).parts[1].tolist() == [[0, 0]]
    assert data.read(torch.tensor([3])).parts[1].dtype == torch.int64


def test_vocabularies_may_be_given() -> None:
    batch = Batch((numbers(2), torch.tensor([[0, 5], [1, 0]])))
    assert GivenBatches([batch], vocabularies=(10, 6)).task.vocabularies == (10, 6)
    with pytest.raises(DataError, match="given: sparse feature 1 has the value 5 in row 0; expected 0 to 4"):
        GivenBatches([batch], vocabularies=(10, 5))
    with pytest.raises(DataError, match="2 sparse features, but 1 vocabularies"):
        GivenBatches([batch], vocabularies=(10,))


@pytest.mark.parametrize(
    "inputs",
    [
        numbers(4),
        torch.zeros(4, 3).long(),  # whole numbers alone: tokens, not categories beside numbers
        (numbers(4), numbers(4)),
        (torch.zeros(4, 2).long(), numbers(4)),  # the other way round
        (numbers(4), torch.zeros(4).long()),
        (torch.zeros(4, 3, 8, 8), torch.zeros(4, 2).long()),
        (numbers(4), torch.zeros(4, 2).bool()),
        (numbers(4), torch.full((4, 2), -1)),
    ],
)
def test_what_is_no_click_log_has_no_vocabularies(inputs: torch.Tensor | tuple[torch.Tensor, ...]) -> None:
    batch = Batch(inputs)
    assert GivenBatches([batch]).task == Task(tuple(batch.parts[0].shape[1:]), 10)
    with pytest.raises(DataError, match=r"vocabularies, but the inputs are not a click log|has the value -1"):
        GivenBatches([batch], vocabularies=(5, 5))


def test_named_features_are_known_by_their_types() -> None:
    batch = Batch({"who": torch.tensor([[2, 1]]), "z_numbers": numbers(1)})
    assert GivenBatches([batch]).task == Task((3,), 10, vocabularies=(3, 2))


def test_batches_of_other_parts_are_refused() -> None:
    with pytest.raises(DataError, match="batch 1 has the parts 0, 1, the first one has 0"):
        GivenBatches([Batch(numbers(2)), Batch((numbers(2), numbers(2)))])
    with pytest.raises(DataError, match="batch 1 has the parts b, the first one has a"):
        GivenBatches([Batch({"a": numbers(2)}), Batch({"b": numbers(2)})])
