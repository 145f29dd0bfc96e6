"""Gaussian noise of any shape: for label-free proxies, for speed tests, and where there is no data at all."""

from __future__ import annotations

import sys

import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.data.base import Data, check_draw, digest
from foresee.data.loading import Wanted, sets
from foresee.errors import InputError
from foresee.seeds import generator
from foresee.task import Task


class Synthetic(Data):
    """Standard normal inputs, labels uniform over the outputs; every batch is new, there is no end.

    A task of tokens gets ids, uniform over them. A task with vocabularies gets click logs: normal dense features, sparse
    ones uniform over their vocabularies, and for one output answers 0 or 1, float32 of shape (n, 1). It is standard already,
    so normalising does nothing. `len` answers with the largest number Python allows; an epoch has `epoch_samples`, fresh
    ones in each.

    >>> data = Synthetic(Task((3, 8, 8), 5))
    >>> batch = data.batch(2, seed=1)
    >>> batch.inputs.shape, bool((batch.inputs == data.batch(2, seed=1).inputs).all())
    (torch.Size([2, 3, 8, 8]), True)
    """

    endless = True

    def __init__(self, task: Task | None = None, *, epoch_samples: int = 10_000) -> None:
        check_draw(epoch_samples, 0)
        super().__init__("synthetic", task or Task(), normalise=False)
        self._epoch_samples = epoch_samples

    def __len__(self) -> int:
        return sys.maxsize

    @property
    def fingerprint(self) -> str:
        """Of the definition: distribution, shape, outputs, vocabularies or tokens."""
        more: list[object] = [self.task.vocabularies] if self.task.vocabularies else []
        more += [] if self.task.tokens is None else ["tokens", self.task.tokens]
        return digest("synthetic", "normal", self.task.inputs, self.task.outputs, *more)

    @property
    def epoch_samples(self) -> int:
        """As many as were stated: noise has no end of its own."""
        return self._epoch_samples

    def batch(self, size: int, *, seed: int = 0, index: int = 0) -> Batch:
        """`size` fresh samples, from the seed and the batch's number."""
        check_draw(size, index)
        draws = generator(seed, "data", index)
        shape = (size, *self.task.inputs)
        try:
            if self.task.tokens is not None:
                inputs = torch.randint(self.task.tokens, shape, generator=draws)
            else:
                inputs = torch.randn(shape, generator=draws, dtype=torch.float32)
        except RuntimeError as error:  # the sizes are sound, so it is their product
            sizes = "x".join(map(str, self.task.inputs))
            raise InputError(
                f"{size} samples of {sizes} do not fit into memory: ask for fewer or smaller ones"
            ) from error
        if not self.task.vocabularies:
            return Batch(inputs, torch.randint(self.task.outputs, (size,), generator=draws))
        sparse = [torch.randint(values, (size,), generator=draws) for values in self.task.vocabularies]
        if self.task.outputs == 1:
            labels = torch.randint(2, (size, 1), generator=draws).float()
        else:
            labels = torch.randint(self.task.outputs, (size,), generator=draws)
        return Batch((inputs, torch.stack(sparse, 1)), labels)

    def _step(self, size: int, seed: int, number: int, step: int, shuffle: bool) -> Batch:
        left = min(size, self.epoch_samples - step * size)
        return self.batch(left, seed=seed, index=number * self.steps(size) + step)

    def read(self, indices: Tensor) -> Batch:
        """Not possible: samples of noise have no numbers."""
        raise InputError("synthetic data has no numbered samples: ask for a batch")


@sets.register("synthetic")
def _load(wanted: Wanted) -> Data:
    wanted.no_split("synthetic")
    return Synthetic(wanted.fitted(Task()))
