"""What a network looks at and learns from: a data set hands out batches, and the seed alone decides which.

    batch = data.batch(64, seed=1, index=0)    # for looking: the first 64 samples of the permutation that seed 1 draws
    for batch in data.epoch(64, seed=1): ...   # for training: every sample once
    parts = data.split({"train": 0.8, "val": 0.1, "test": 0.1}, seed=1)

A new kind of data is one file in this room: a subclass of `Data` with `__len__`, `fingerprint` and `read`, and either a
named maker in `sets` or a `Format` in `formats`. `foresee.testing.DataSuite` checks what is promised here.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod

import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.data.ahead import ahead
from foresee.data.normalising import Statistics, measure
from foresee.data.orders import Orders, shared_out
from foresee.errors import InputError
from foresee.seeds import generator
from foresee.task import Task

#: the words people use for a split -> the one used inside
SPLITS = {"train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}
#: numbers that statistics are measured on at a time, in float64
MEASURED = 2**24


class Data(ABC):
    """A data set for a task: samples by number, batches and epochs by seed.

    Inputs are float32 with the channels first; of click logs, dense features in float32 and sparse ones in int64. Labels
    are int64 classes, or float32 of shape (n, outputs) for yes-or-no, multi-label and regression tasks, or None where the
    data has none. A batch handed out is the caller's own: writing into it changes nothing here.

    `normalise` is True (the default), False, or `Statistics` of your own. True shifts and scales each channel by the mean
    and standard deviation of the data set itself, measured in float64 on what it hands out, over all samples or, where
    there are more, over `statistics_samples` evenly spaced ones. A test split takes those of its training split (`like`)
    where there is one, because that is what a network trained on it would see. A constant channel is only shifted.
    """

    statistics_samples = 10_000
    #: no sample comes twice and there is no last one (synthetic data)
    endless = False
    #: reading takes long and draws nothing: the batches of an epoch are read by another thread, while others are learnt from
    reads_ahead = False
    #: samples can be read and split by their numbers; not those of a stream
    numbered = True
    #: samples of a batch that whoever made the data wants an epoch in (a loader's own); None: as it is asked for
    batch_size: int | None = None
    #: of several inputs, the number of the one that is normalised (dense features); None: none of them
    normalised_part: int | None = None
    #: the splits that the data came with, to be had by `load(..., split=...)`
    splits: tuple[str, ...] = ()

    def __init__(self, name: str, task: Task, *, normalise: bool | Statistics = True, like: Data | None = None) -> None:
        self.name, self.task, self.normalise, self.like = name, task, normalise, like

    @abstractmethod
    def __len__(self) -> int:
        """Number of samples."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """What is looked at, as 16 hexadecimal digits: the same on every machine, another for other data."""

    @abstractmethod
    def read(self, indices: Tensor) -> Batch:
        """The samples with these numbers, in this order, fitted to the task's shape but not normalised."""

    # -- for looking --------------------------------------------------------------------------------------------------
    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        """Batch number `index` of the order that `seed` draws.

        The samples are drawn without replacement: batches 0, 1, 2, ... are disjoint until fewer than `size` samples are
        left; those are passed over, and a new permutation begins (a new lap).
        """
        check_draw(size, index)
        self._check_size(size)
        lap, position = divmod(index, len(self) // size)
        return self.normalised(self.read(self._orders.rows(len(self), seed, lap, position * size, size)))

    def batches(self, count: int, size: int, seed: int = 0) -> list[Batch]:
        """The first `count` batches."""
        return [self.batch(size, seed=seed, index=index) for index in range(count)]

    # -- for training -------------------------------------------------------------------------------------------------
    @property
    def epoch_samples(self) -> int:
        """The samples of one epoch: all there are; of endless data, as many as it states."""
        return len(self)

    def steps(self, size: int, *, drop_last: bool = False) -> int:
        """The number of batches of one epoch."""
        check_draw(size, 0)
        if drop_last:
            self._check_size(size)
            return self.epoch_samples // size
        return -(-self.epoch_samples // size)

    def steps_from(self, start: int, size: int, number: int, *, drop_last: bool = False) -> int:
        """The number of batches of epoch `number`, which there is and which has a batch `start`."""
        steps = self.steps(size, drop_last=drop_last)
        if number < 0 or not 0 <= start <= steps:
            raise InputError(
                f"epoch {number} from batch {start}: expected an epoch from 0, and a batch from 0 to {steps}"
            )
        return steps

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
        """Every sample once, in batches of `size`, the last one smaller unless it is dropped.

        The order is that of (seed, number of the epoch): the one that `batch` follows in its lap of this number. Without
        `shuffle` it is that of the samples' numbers. From batch `start` on, the batches are those of the whole epoch.
        """
        steps = self.steps_from(start, size, number, drop_last=drop_last)
        batches = (self._step(size, seed, number, step, shuffle) for step in range(start, steps))
        return ahead(batches) if self.reads_ahead else batches

    def _step(self, size: int, seed: int, number: int, step: int, shuffle: bool) -> Batch:
        if shuffle:
            rows = self._orders.rows(len(self), seed, number, step * size, size)
        else:
            rows = torch.arange(step * size, min((step + 1) * size, len(self)))
        return self.normalised(self.read(rows))

    def _check_size(self, size: int) -> None:
        if size > len(self):
            raise InputError(f"batch of {size} samples: {self.name} has only {len(self)}; ask for at most that many")

    @cached_property
    def _orders(self) -> Orders:
        return Orders()

    # -- parts --------------------------------------------------------------------------------------------------------
    def split(self, parts: Mapping[str, float], *, seed: int = 0, ordered: bool = False) -> dict[str, Data]:
        """Disjoint parts that together are everything, by their shares: `{"train": 0.8, "val": 0.1, "test": 0.1}`.

        The sizes are those of the largest remainder. Which samples a part gets is drawn from the seed; `ordered` goes by
        position instead, the parts one after the other (time). All parts are normalised by the training part (the one
        called train, or else the first), or by what this data set is normalised by, where that is fixed already.
        """
        rows = self.split_rows(parts, seed=seed, ordered=ordered)
        training = next((name for name in rows if SPLITS.get(name) == "train"), next(iter(rows)))
        first = Part(self, training, rows[training], self.like)
        like = self.like or first
        return {name: first if name == training else Part(self, name, rows[name], like) for name in rows}

    def split_rows(self, parts: Mapping[str, float], *, seed: int = 0, ordered: bool = False) -> dict[str, Tensor]:
        """The numbers of the samples of each part, in order, so that a file is read from front to back."""
        if self.endless:
            raise InputError(f"split: {self.name} data has no end; ask for batches of another seed")
        sizes = shared_out(len(self), parts)
        order = torch.arange(len(self)) if ordered else torch.randperm(len(self), generator=generator(seed, "split"))
        ends = accumulate(sizes.values())
        return {name: order[end - sizes[name] : end].sort().values for name, end in zip(sizes, ends, strict=True)}

    # -- normalising --------------------------------------------------------------------------------------------------
    @cached_property
    def statistics(self) -> Statistics:
        """The mean and standard deviation of each channel that normalising uses."""
        if isinstance(self.normalise, Statistics):
            return self.normalise
        return self._measure() if self.like is None else self.like.statistics

    @property
    def like_fingerprint(self) -> str | None:
        """Of the data that normalises this one; a fingerprint is made from it too."""
        return None if self.like is None else self.like.fingerprint

    def normalised_by(self, training: Data) -> Data:
        """The same samples, normalised by those that are learnt from, as what stands in a network's export is measured on.

        For a test split, where only a part of the training split is learnt from. Samples that are not normalised here, or by
        statistics that were said, stay as they are; so do click logs, whose preprocessing does it.
        """
        like = training.like or training
        fixed = self.normalise is not True or training.normalise is not True or bool(self.task.vocabularies)
        if fixed or self is training or self.like_fingerprint == like.fingerprint:
            return self
        found = copy(self)
        found.like = like
        for kept in ("statistics", "fingerprint"):
            vars(found).pop(kept, None)
        return found

    def normalised(self, batch: Batch) -> Batch:
        """Samples as `read` gives them, shifted and scaled as `batch` and `epoch` hand them out."""
        place = 0 if isinstance(batch.inputs, Tensor) else self.normalised_part
        if self.normalise is False or place is None:
            return batch
        parts = list(batch.parts)
        parts[place] = self.statistics.apply(parts[place])
        return batch.rebuilt(parts)

    def _measure(self) -> Statistics:
        count = min(len(self), self.statistics_samples)
        indices = torch.arange(count) * len(self) // count
        place = self.normalised_part or 0
        step = max(1, min(256, MEASURED // prod(self.task.inputs)))
        return measure(self.read(indices[start : start + step]).parts[place] for start in range(0, count, step))

    def __repr__(self) -> str:
        count = "endless" if self.endless else f"{len(self)} samples"
        shape = "x".join(map(str, self.task.inputs))
        sparse = f" and {len(self.task.vocabularies)} categories" if self.task.vocabularies else ""
        return f"<{self.name}: {count} of {shape}{sparse}, {self.task.outputs} outputs, {self.fingerprint}>"


class Part(Data):
    """Some samples of a data set, seen as a data set: what `split` gives."""

    def __init__(self, source: Data, name: str, rows: Tensor, like: Data | None) -> None:
        super().__init__(f"{source.name}/{name}", source.task, normalise=source.normalise, like=like)
        self.source, self._rows = source, rows
        self.statistics_samples, self.normalised_part = source.statistics_samples, source.normalised_part
        self.reads_ahead = source.reads_ahead

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def fingerprint(self) -> str:
        """Of the whole, of which samples these are, and of what normalises them."""
        return digest("part", self.source.fingerprint, self.like_fingerprint, little_endian(self._rows))

    def read(self, indices: Tensor) -> Batch:
        """The samples with these numbers within the part."""
        return self.source.read(self._rows[indices])


def digest(*parts: object) -> str:
    """16 hexadecimal digits of a sha256 over texts and buffers, each with its length, so that no two lists collide.

    >>> digest("synthetic", (3, 32, 32)) == digest("synthetic", (3, 32, 32)), digest("ab", "c") == digest("a", "bc")
    (True, False)
    """
    total = hashlib.sha256()
    for part in parts:
        if not isinstance(part, bytes | memoryview | Pieces):
            part = repr(part).encode()
        content = part if isinstance(part, Pieces) else Pieces(len(part), [part])
        total.update(content.length.to_bytes(8, "big"))
        for piece in content.pieces:
            total.update(piece)
    return total.hexdigest()[:16]


@dataclass(frozen=True)
class Pieces:
    """Bytes that come in pieces, as they would be digested in one: `length` of them."""

    length: int
    pieces: Iterable[bytes | memoryview]


def little_endian(tensor: Tensor) -> memoryview:
    """The bytes of a contiguous tensor, the same on every machine."""
    array = tensor.numpy()
    return array.astype(array.dtype.newbyteorder("<"), copy=False).data.cast("B")


def check_draw(size: int, index: int) -> None:
    """Refuse a batch that cannot be."""
    if size < 1 or index < 0:
        raise InputError(f"batch of {size} samples, number {index}: expected a size of at least 1 and a number from 0")
