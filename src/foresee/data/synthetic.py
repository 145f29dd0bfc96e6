"""Gaussian noise of any shape: for label-free proxies, for speed tests, and where there is no data at all."""

from __future__ import annotations

import sys

import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.data.base import Data, Wanted, _check_draw, digest, sets
from foresee.errors import InputError
from foresee.seeds import generator
from foresee.task import Task


class Synthetic(Data):
    """Standard normal inputs, labels uniform over the outputs; every batch is new, there is no end.

    It is standard already, so normalising does nothing. `len` answers with the largest number Python allows.

    >>> data = Synthetic(Task((3, 8, 8), 5))
    >>> batch = data.batch(2, seed=1)
    >>> batch.inputs.shape, bool((batch.inputs == data.batch(2, seed=1).inputs).all())
    (torch.Size([2, 3, 8, 8]), True)
    """

    endless = True

    def __init__(self, task: Task | None = None) -> None:
        super().__init__("synthetic", task or Task(), normalise=False)

    def __len__(self) -> int:
        return sys.maxsize

    @property
    def fingerprint(self) -> str:
        """Of the definition: distribution, shape, outputs."""
        return digest("synthetic", "normal", self.task.inputs, self.task.outputs)

    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        """`size` fresh samples, from the seed and the batch's number."""
        _check_draw(size, index)
        draws = generator(seed, "data", index)
        inputs = torch.randn(size, *self.task.inputs, generator=draws, dtype=torch.float32)
        return Batch(inputs, torch.randint(self.task.outputs, (size,), generator=draws))

    def read(self, indices: Tensor) -> Batch:
        """Not possible: samples of noise have no numbers."""
        raise InputError("synthetic data has no numbered samples: ask for a batch")


@sets.register("synthetic")
def _load(wanted: Wanted) -> Data:
    wanted.no_split("synthetic")
    return Synthetic(wanted.task or Task(wanted.shape(Task().inputs), Task().outputs))
