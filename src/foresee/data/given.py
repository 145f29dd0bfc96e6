"""Batches handed over in Python: the data set is just them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.data.base import Data, digest
from foresee.errors import DataError
from foresee.task import Task


class GivenBatches(Data):
    """Data made of a user's own batches, taken as they are: never shuffled, never normalised.

    Asked for a batch, it hands out the given one of that number, cut to the size asked for. Proxies that want several
    batches of a single given one get its consecutive parts.
    """

    def __init__(self, batches: Sequence[Batch], outputs: int | None = None) -> None:
        first = batches[0]
        self.given = list(batches)
        super().__init__(
            "given", Task(tuple(first.parts[0].shape[1:]), outputs or _outputs(self.given)), normalise=False
        )

    def __len__(self) -> int:
        return sum(len(batch) for batch in self.given)

    @property
    def fingerprint(self) -> str:
        """Digest of all values."""
        parts: list[object] = []
        for batch in self.given:
            for tensor in (*batch.parts, *([] if batch.labels is None else [batch.labels])):
                array = tensor.detach().cpu().contiguous()
                parts += [tuple(array.shape), str(array.dtype), array.view(torch.uint8).numpy().tobytes()]
        return digest("given", *parts)

    def read(self, indices: Tensor) -> Batch:
        """Samples by number across all batches."""
        joined = _join(self.given)
        inputs = tuple(part[indices] for part in joined.parts)
        labels = None if joined.labels is None else joined.labels[indices]
        return Batch(inputs if isinstance(joined.inputs, tuple) else inputs[0], labels)

    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        """Given batch number `index`, at most `size` samples of it."""
        if index >= len(self.given):
            raise DataError(f"batch number {index}: only {len(self.given)} were given")
        return self.given[index].first(size)

    def batches(self, count: int, size: int, seed: int = 0) -> list[Batch]:
        """The first `count` given batches, or `count` consecutive parts of the only one."""
        if len(self.given) > 1:
            return [self.batch(size, index=index) for index in range(min(count, len(self.given)))]
        [only] = self.given
        part = min(size, len(only) // count)
        if part < 1:
            raise DataError(f"{count} batches are needed, but the one given has only {len(only)} samples")
        return [only[slice(index * part, (index + 1) * part)] for index in range(count)]


def _outputs(batches: Sequence[Batch]) -> int:
    labels = [batch.labels for batch in batches if batch.labels is not None]
    if not labels:
        return 10
    if labels[0].is_floating_point():
        return int(labels[0].shape[-1]) if labels[0].ndim > 1 else 1
    return max(int(part.max()) for part in labels) + 1


def _join(batches: Sequence[Batch]) -> Batch:
    parts = tuple(torch.cat(same) for same in zip(*(batch.parts for batch in batches), strict=True))
    labels = [batch.labels for batch in batches]
    joined = None if any(part is None for part in labels) else torch.cat([part for part in labels if part is not None])
    return Batch(parts if isinstance(batches[0].inputs, tuple) else parts[0], joined)
