"""A loader of a user's own that decides itself what comes: an iterable data set, a sampler of its own.

Its samples have no numbers. So an epoch is one time through the loader, as it comes, and one that is gone on with from its
middle reads what comes before again: with the same result where the loader gives the same each time under the same global
random states, which nobody can promise for it. A part for validation cannot be cut off: hand over a loader of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from foresee.batch import Batch
from foresee.data.base import Data, check_draw, digest, little_endian
from foresee.data.datasets import as_learnt, read_as
from foresee.data.given import counted_in, dense_and_sparse
from foresee.errors import DataError, InputError
from foresee.handed import one_batch
from foresee.seeds import derive, random_states_kept
from foresee.task import Task


class GivenStream(Data):
    """Batches of a loader, taken as they come and cut anew to the size asked for; nothing is normalised or shuffled.

    Args:
        loader: a `DataLoader`.
        outputs: how many there are; else as many as the labels need.
        samples: how many make an epoch. Without a number the loader is gone through once to count them: a loader without
            an end needs one.
        vocabularies: of a click log, as of `GivenDataset`.

    >>> loader = DataLoader([(torch.zeros(3), 1), (torch.ones(3), 0), (torch.ones(3), 1)], batch_size=2)
    >>> data = GivenStream(loader)
    >>> len(data), [len(batch) for batch in data.epoch(3)]
    (3, [3])
    """

    numbered = False

    def __init__(
        self,
        loader: DataLoader[Any],
        outputs: int | None = None,
        *,
        samples: int | None = None,
        vocabularies: Sequence[int] | None = None,
    ) -> None:
        self._loader = loader
        first = next(self._pass(0), None)
        if first is None:
            raise DataError("the DataLoader is empty")
        count, most = samples, 0
        labels = first.labels
        places, sparse = dense_and_sparse([first]), list[Tensor]()
        counting = places is not None and vocabularies is None
        if counting or count is None or (outputs is None and labels is not None and not labels.is_floating_point()):
            seen = 0
            for batch in self._pass(0):
                seen += len(batch)
                if counting and places is not None:  # the largest and the smallest value of each column are enough
                    both = torch.cat([batch.parts[places[1]], *sparse])
                    sparse = [both.amin(0, keepdim=True), both.amax(0, keepdim=True)]
                most = most if batch.labels is None else max(most, int(batch.labels.max()))
                if count is not None and seen >= count:
                    break
            count = seen if count is None else count
        if outputs is None:
            if labels is None:
                raise DataError("the DataLoader has no labels to count the outputs by; say outputs=")
            outputs = int(labels.shape[1]) if labels.is_floating_point() else most + 1
        self._count, self._first = count, first
        self.batch_size = loader.batch_size
        shape = tuple(first.parts[places[0] if places else 0].shape[1:])
        task = Task(shape, outputs, tuple(counted_in(sparse) if vocabularies is None else vocabularies))
        super().__init__(type(loader.dataset).__name__, task, normalise=False)

    def __len__(self) -> int:
        return self._count

    @cached_property
    def fingerprint(self) -> str:
        """Of how many samples there are and of the first batch."""
        tensors = (*self._first.parts, *([] if self._first.labels is None else [self._first.labels]))
        contents = [
            part for one in tensors for part in (tuple(one.shape), str(one.dtype), little_endian(one.contiguous()))
        ]
        return digest("stream", len(self), self.task.outputs, self._first.names, *contents)

    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        """Batch number `index` of the pass that `seed` begins."""
        check_draw(size, index)
        self._check_size(size)
        lap, position = divmod(index, len(self) // size)
        return next(islice(self._cut(self._pass(derive(seed, "epoch", lap)), size), position, None))

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
        """One time through the loader, in its own order (`shuffle` is the loader's to decide)."""
        steps = self.steps_from(start, size, number, drop_last=drop_last)
        return self._epoch(self._pass(derive(seed, "epoch", number)), size, start, steps)

    def _epoch(self, batches: Iterator[Batch], size: int, start: int, steps: int) -> Iterator[Batch]:
        step = 0
        for batch in islice(self._cut(batches, size), steps):
            if step >= start:
                yield batch
            step += 1
        if step < steps:
            raise DataError(
                f"{self.name}: a pass through the DataLoader ended after {step} batches of {size}, but {len(self)} samples "
                "were counted; say samples= for a loader whose passes differ"
            )

    def _cut(self, batches: Iterator[Batch], size: int) -> Iterator[Batch]:
        """The same samples in batches of `size`, up to as many as make an epoch; the last may be smaller."""
        waiting: list[Batch] = []
        left = len(self)
        for batch in batches:
            waiting.append(batch.first(left) if len(batch) > left else batch)
            left -= len(waiting[-1])
            have = sum(map(len, waiting))
            while have >= size:
                whole = _joined(waiting)
                yield whole.first(size).each(Tensor.clone)
                have -= size
                waiting = [whole[slice(size, None)]] if have else []
            if not left:
                break
        if waiting:
            yield _joined(waiting).each(Tensor.clone)

    def _pass(self, seed: int) -> Iterator[Batch]:
        """The loader's batches; each is read under random states of (seed, number of the batch)."""
        own = copy.copy(self._loader)
        own._iterator = None  # workers that are kept between epochs stay with the loader itself
        name = type(self._loader.dataset).__name__
        with random_states_kept(derive(seed, "begin")), read_as(name):
            batches = iter(own)
        step = 0
        while True:
            with random_states_kept(derive(seed, step)), read_as(name):
                try:
                    batch = as_learnt(one_batch(next(batches)))
                except StopIteration:
                    return
            yield batch
            step += 1

    def read(self, indices: Tensor) -> Batch:
        """Not possible: samples of a stream have no numbers."""
        raise InputError(f"{self.name}: samples of an iterable data set have no numbers: ask for a batch or an epoch")

    def split(self, parts: Mapping[str, float], *, seed: int = 0, ordered: bool = False) -> dict[str, Data]:
        """Not possible."""
        raise InputError(
            f"{self.name}: an iterable data set cannot be split, its samples have no numbers; hand over a loader for each "
            "part"
        )


def _joined(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    parts = (torch.cat(same) for same in zip(*(batch.parts for batch in batches), strict=True))
    labels = [batch.labels for batch in batches if batch.labels is not None]
    return batches[0].rebuilt(parts, torch.cat(labels) if len(labels) == len(batches) else None)
