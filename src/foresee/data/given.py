"""Batches handed over in Python: the data set is just them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.data.base import Data, check_draw, digest
from foresee.data.features import check_values, count_values
from foresee.errors import DataError
from foresee.task import Task


class GivenBatches(Data):
    """Data made of a user's own batches, taken as they are: never normalised, and for looking never shuffled.

    Asked for a batch, it hands out (a copy of) the given one of that number, cut to the size asked for. Proxies that want
    several batches of a single given one get its consecutive parts. An epoch goes over all samples in an order drawn.

    Two parts, numbers of shape (n, features) and whole numbers from 0 of shape (n, features), in this order or by name,
    are a click log: the task then has `vocabularies`, as given, or one more than the largest value of each column.

    >>> GivenBatches([Batch((torch.zeros(2, 13), torch.tensor([[3, 0], [1, 6]])))], outputs=1).task.vocabularies
    (4, 7)
    """

    def __init__(
        self, batches: Sequence[Batch], outputs: int | None = None, vocabularies: Sequence[int] | None = None
    ) -> None:
        self.given = list(batches)
        _check_alike(self.given)
        places = dense_and_sparse(self.given)
        if vocabularies is not None and places is None:
            raise DataError(
                "given: vocabularies, but the inputs are not a click log: expected two parts, numbers (n, features) and "
                "whole numbers (n, features)"
            )
        dense, sparse = places or (0, None)
        columns = [] if sparse is None else [batch.parts[sparse] for batch in self.given]
        if vocabularies is None:
            vocabularies = counted_in(columns)
        else:
            for column in columns:
                check_values(column, vocabularies, "given")
        shape = tuple(self.given[0].parts[dense].shape[1:])
        task = Task(shape, outputs or _outputs(self.given), tuple(vocabularies))
        super().__init__("given", task, normalise=False)

    def __len__(self) -> int:
        return sum(len(batch) for batch in self.given)

    @property
    def fingerprint(self) -> str:
        """Digest of all values."""
        parts: list[object] = [] if self.given[0].names is None else [self.given[0].names]
        for batch in self.given:
            for tensor in (*batch.parts, *([] if batch.labels is None else [batch.labels])):
                array = tensor.detach().cpu().contiguous()
                parts += [tuple(array.shape), str(array.dtype), array.view(torch.uint8).numpy().tobytes()]
        return digest("given", *parts)

    def read(self, indices: Tensor) -> Batch:
        """Samples by number across all batches."""
        return self._joined[indices]

    @cached_property
    def _joined(self) -> Batch:
        """All given batches as one; without labels where some have none."""
        parts = (torch.cat(same) for same in zip(*(batch.parts for batch in self.given), strict=True))
        labels = [batch.labels for batch in self.given if batch.labels is not None]
        return self.given[0].rebuilt(parts, torch.cat(labels) if len(labels) == len(self.given) else None)

    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        """Given batch number `index`, at most `size` samples of it."""
        check_draw(size, index)
        if index >= len(self.given):
            raise DataError(f"batch number {index}: only {len(self.given)} were given")
        return self.given[index].first(size).each(Tensor.clone)

    def batches(self, count: int, size: int, seed: int = 0) -> list[Batch]:
        """The first `count` given batches, or `count` consecutive parts of the only one."""
        if len(self.given) > 1:
            return [self.batch(size, index=index) for index in range(min(count, len(self.given)))]
        [only] = self.given
        part = min(size, len(only) // count)
        if part < 1:
            raise DataError(f"{count} batches are needed, but the one given has only {len(only)} samples")
        return [only[slice(index * part, (index + 1) * part)].each(Tensor.clone) for index in range(count)]


def _check_alike(batches: Sequence[Batch]) -> None:
    """All batches have the same parts, so that one network takes them all."""
    first = batches[0]
    for number, batch in enumerate(batches):
        if batch.names != first.names or len(batch.parts) != len(first.parts):
            raise DataError(
                f"given: batch {number} has the parts {_named(batch)}, the first one has {_named(first)}; expected the "
                "same in all"
            )


def _named(batch: Batch) -> str:
    return ", ".join(batch.names or map(str, range(len(batch.parts))))


def dense_and_sparse(batches: Sequence[Batch]) -> tuple[int, int] | None:
    """The places of the dense and of the sparse part of a click log; None where the batches are not one."""
    first = batches[0]
    if len(first.parts) != 2 or any(part.ndim != 2 for batch in batches for part in batch.parts):
        return None
    sparse = [place for place, part in enumerate(first.parts) if _is_whole(part)]
    if len(sparse) != 1 or not first.parts[1 - sparse[0]].is_floating_point():
        return None
    if first.names is None and sparse[0] == 0:
        return None  # a network of such a task is called with the dense features first
    return 1 - sparse[0], sparse[0]


def counted_in(columns: Iterable[Tensor]) -> tuple[int, ...]:
    """The vocabularies that sparse features need; none where one is below 0, and so no number of a value.

    >>> counted_in([torch.tensor([[3, 0]]), torch.tensor([[1, 6]])]), counted_in([torch.tensor([[-1]])]), counted_in([])
    ((4, 7), (), ())
    """
    found: tuple[int, ...] = ()
    for column in columns:
        if int(column.min()) < 0:
            return ()
        own = count_values([column])
        found = tuple(max(pair) for pair in zip(found, own, strict=True)) if found else own
    return found


def _is_whole(part: Tensor) -> bool:
    return not part.is_floating_point() and not part.is_complex() and part.dtype != torch.bool


def _outputs(batches: Sequence[Batch]) -> int:
    labels = [batch.labels for batch in batches if batch.labels is not None]
    if not labels:
        return 10
    if labels[0].is_floating_point():
        return int(labels[0].shape[-1]) if labels[0].ndim > 1 else 1
    return max(int(part.max()) for part in labels) + 1
