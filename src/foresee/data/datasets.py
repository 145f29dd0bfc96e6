"""A data set of torch's, a user's own, to look at and to learn from: samples by number, each read when it is needed.

Every sample is read under random states of its own, of (seed, epoch, number of the sample): a data set that changes its
samples at random (`transform`) gives fresh ones in each epoch, the same ones when an epoch is gone on with from its middle,
with workers or without, and the caller's random states stay as they are. What draws from a generator of its own keeps it,
and cannot be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Subset, default_collate

from foresee.batch import Batch
from foresee.data.base import Data, digest, little_endian
from foresee.data.given import counted_in, dense_and_sparse
from foresee.errors import DataError, ForeseeError, said
from foresee.handed import together
from foresee.seeds import derive, random_states_kept
from foresee.task import Task

#: samples that a fingerprint is made from, evenly spaced
PRINTED = 64

Collate = Callable[[list[Any]], Any]


class GivenDataset(Data):
    """A map-style `Dataset` (or anything with `__len__` and `__getitem__`), taken as it is: nothing is normalised.

    Args:
        dataset: its samples are (inputs, label), or what else `foresee.handed` understands once it is put together.
        outputs: how many there are; else as many as the data set's `classes`, or as its labels need, which reads all of it.
        collate: puts samples together, as a loader's `collate_fn`.
        workers: processes that read the batches of an epoch ahead, as a loader's `num_workers`.
        shuffle: False keeps epochs in the order of the numbers, whatever they are asked for.
        batch_size: what a loader has, noted for whoever learns from it.
        vocabularies: of a click log (dense and sparse features, as `GivenBatches` tells them), how many values each sparse
            feature may take; else one more than the largest there is, which reads all of it.

    >>> data = GivenDataset([(torch.full((3,), float(n)), n % 2) for n in range(10)])
    >>> len(data), data.task.inputs, data.task.outputs
    (10, (3,), 2)
    """

    def __init__(
        self,
        dataset: Any,
        outputs: int | None = None,
        *,
        collate: Collate = default_collate,
        workers: int = 0,
        shuffle: bool = True,
        batch_size: int | None = None,
        name: str = "",
        vocabularies: Sequence[int] | None = None,
    ) -> None:
        self._dataset, self._collate, self._workers = dataset, collate, workers
        self._shuffle, self.batch_size = shuffle, batch_size
        named = getattr(dataset, "classes", None)
        self.classes: tuple[str, ...] = tuple(map(str, named)) if isinstance(named, list | tuple) else ()
        self._whole: tuple[str, Tensor] | None = None
        if not len(dataset):
            raise DataError(f"the data set {type(dataset).__name__} is empty")
        first = self._read([0], 0)
        places = dense_and_sparse([first])
        shape = tuple(first.parts[places[0] if places else 0].shape[1:])
        if places and vocabularies is None:
            vocabularies = counted_in(batch.parts[places[1]] for batch in self._all())
        task = Task(shape, outputs or self._outputs(first.labels), tuple(vocabularies or ()))
        super().__init__(name or type(dataset).__name__, task, normalise=False)

    def __len__(self) -> int:
        return len(self._dataset)

    @cached_property
    def fingerprint(self) -> str:
        """Of its length and of `PRINTED` samples, evenly spaced: reading all of it may take long."""
        if self._whole is not None:
            return digest("dataset part", self._whole[0], little_endian(self._whole[1]))
        count = min(len(self), PRINTED)
        batch = self.read(torch.arange(count) * len(self) // count)
        tensors = (*batch.parts, *([] if batch.labels is None else [batch.labels]))
        contents = [part for one in tensors for part in (tuple(one.shape), str(one.dtype), little_endian(one))]
        if self.task.vocabularies:
            contents.append(self.task.vocabularies)
        return digest("dataset", len(self), self.task.outputs, batch.names, *contents)

    def read(self, indices: Tensor) -> Batch:
        """The samples with these numbers; one that is changed at random is always changed alike."""
        return self._read(indices.tolist(), 0)

    def epoch(
        self,
        size: int,
        *,
        seed: int = 0,
        number: int = 0,
        drop_last: bool = False,
        shuffle: bool = True,
        start: int = 0,
    ) -> Iterator[Batch]:
        """As every epoch, and each sample is changed anew, where the data set does so."""
        steps = self.steps_from(start, size, number, drop_last=drop_last)
        drawn = shuffle and self._shuffle
        rows = [self._rows_of(size, seed, number, step, drawn).tolist() for step in range(start, steps)]
        return self._batches(rows, derive(seed, "epoch", number))

    def _rows_of(self, size: int, seed: int, number: int, step: int, shuffle: bool) -> Tensor:
        if shuffle:
            return self._orders.rows(len(self), seed, number, step * size, size)
        return torch.arange(step * size, min((step + 1) * size, len(self)))

    def _batches(self, rows: list[list[int]], seed: int) -> Iterator[Batch]:
        if not self._workers or not rows:
            return (self._read(some, seed) for some in rows)
        loader: DataLoader[Any] = DataLoader(
            _Seeded(self._dataset, seed),
            batch_sampler=rows,
            collate_fn=Together(self._collate),
            num_workers=self._workers,
            generator=torch.Generator().manual_seed(0),  # its own draw for its workers, not the caller's
        )
        return _complaining(loader, type(self._dataset).__name__)

    def _read(self, rows: list[int], seed: int) -> Batch:
        samples = _Seeded(self._dataset, seed)
        with read_as(type(self._dataset).__name__):
            return Together(self._collate)([samples[row] for row in rows])

    def _outputs(self, labels: Tensor | None) -> int:
        """As many as there are classes, by their names or by all labels."""
        if labels is None:
            raise DataError(f"{type(self._dataset).__name__}: no labels to count the outputs by; say outputs=")
        if labels.is_floating_point():
            return int(labels.shape[1])
        if self.classes:
            return len(self.classes)
        return max(int(batch.labels.max()) for batch in self._all() if batch.labels is not None) + 1

    def _all(self) -> Iterator[Batch]:
        steps = range(0, len(self._dataset), 256)
        return (self._read(list(range(at, min(at + 256, len(self._dataset)))), 0) for at in steps)

    def split(self, parts: Mapping[str, float], *, seed: int = 0, ordered: bool = False) -> dict[str, Data]:
        """As every split; the parts are data sets like this one, so they are changed anew in each epoch too."""
        return {
            name: self._part(name, rows) for name, rows in self.split_rows(parts, seed=seed, ordered=ordered).items()
        }

    def _part(self, name: str, rows: Tensor) -> Data:
        part = GivenDataset(
            Subset(self._dataset, rows.tolist()),
            self.task.outputs,
            collate=self._collate,
            workers=self._workers,
            shuffle=self._shuffle,
            batch_size=self.batch_size,
            name=f"{self.name}/{name}",
            vocabularies=self.task.vocabularies,
        )
        part._whole, part.classes = (self.fingerprint, rows), self.classes
        return part


class _Seeded(Dataset[Any]):
    """Samples by number, each read under random states of (seed, number)."""

    def __init__(self, dataset: Any, seed: int) -> None:
        self._dataset, self._seed = dataset, seed

    def __getitem__(self, row: int) -> Any:
        with random_states_kept(derive(self._seed, row)):
            return self._dataset[row]


class Together:
    """Samples as a batch of the caller's own; a class, so that it can be sent to workers."""

    def __init__(self, collate: Collate) -> None:
        self._collate = collate

    def __call__(self, samples: list[Any]) -> Batch:
        """(inputs, labels) in the types that all data has: float32, labels int64 (n,) or float32 (n, outputs)."""
        return as_learnt(together(samples, self._collate))


def as_learnt(batch: Batch) -> Batch:
    """A batch in the types that all data has: numbers in float32, labels int64 of shape (n,) or float32 (n, outputs)."""
    labels = batch.labels
    if labels is not None and labels.is_floating_point():
        labels = (labels[:, None] if labels.ndim == 1 else labels).float()
    elif labels is not None:
        labels = labels.long()
    return batch.rebuilt((part.float() if part.dtype == torch.float64 else part for part in batch.parts), labels)


@contextmanager
def read_as(name: str) -> Iterator[None]:
    """What a stranger's data set raises is one line."""
    try:
        yield
    except ForeseeError:
        raise
    except Exception as error:
        # A worker of a loader tells the whole story; its last line is what happened.
        last = said(error).strip().splitlines()[-1]
        raise DataError(f"the data set {name} cannot be read: {last}") from error


def _complaining(loader: DataLoader[Any], name: str) -> Iterator[Batch]:
    batches = iter(loader)
    while True:
        with read_as(name):
            try:
                batch = next(batches)
            except StopIteration:
                return
        yield batch
