"""A batch: some inputs, and labels where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from foresee.errors import DataError, InputError

#: what a network is called with: one tensor, or several (dense and sparse features)
Inputs = Tensor | tuple[Tensor, ...]


@dataclass(frozen=True, eq=False)
class Batch:
    """Inputs with the batch axis first, and labels or None.

    A tuple of inputs is passed to the network as separate arguments.
    """

    inputs: Inputs
    labels: Tensor | None = None

    def __post_init__(self) -> None:
        sizes = {len(part) for part in self.parts}
        if len(sizes) != 1 or 0 in sizes:
            raise DataError(f"batch: inputs of {sorted(sizes)} samples; every part needs the same number, at least one")
        if self.labels is not None and len(self.labels) != len(self):
            raise DataError(f"batch: {len(self)} inputs but {len(self.labels)} labels")
        for part in self.parts:
            if part.is_floating_point() and not bool(torch.isfinite(part).all()):
                raise DataError("batch: the inputs hold NaN or infinite values; clean them first")

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """The inputs as a tuple, one or several."""
        return self.inputs if isinstance(self.inputs, tuple) else (self.inputs,)

    def __len__(self) -> int:
        return len(self.parts[0])

    def first(self, count: int) -> Batch:
        """The first `count` samples."""
        return self[slice(0, count)]

    def __getitem__(self, part: slice) -> Batch:
        inputs = tuple(tensor[part] for tensor in self.parts)
        return Batch(
            inputs if isinstance(self.inputs, tuple) else inputs[0],
            None if self.labels is None else self.labels[part],
        )

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> Batch:
        """On a device, floating inputs in `dtype`."""

        def move(tensor: Tensor) -> Tensor:
            return tensor.to(device, dtype if tensor.is_floating_point() else None)

        inputs = tuple(move(tensor) for tensor in self.parts)
        labels = None if self.labels is None else move(self.labels)
        return replace(self, inputs=inputs if isinstance(self.inputs, tuple) else inputs[0], labels=labels)


def as_batches(given: Any) -> list[Batch]:
    """What a user may hand over, as batches: a tensor, `(inputs, labels)`, a `Batch`, or a list of these.

    >>> [len(b) for b in as_batches([torch.zeros(2, 3), (torch.zeros(4, 3), torch.zeros(4).long())])]
    [2, 4]
    """
    if isinstance(given, Batch):
        return [given]
    if isinstance(given, Tensor):
        return [Batch(given)]
    if isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, Tensor) for part in given):
        return [Batch(*given)]
    if isinstance(given, Sequence) and not isinstance(given, str | tuple) and given:
        return [batch for part in given for batch in as_batches(part)]
    raise InputError(
        f"batch of type {type(given).__name__}: expected a tensor, (inputs, labels), a Batch, or a list of these"
    )
