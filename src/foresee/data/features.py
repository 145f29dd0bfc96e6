"""Click logs in memory: numbers (dense features), categories (sparse features), and what people did.

Rules, so that nothing is guessed silently:

- dense is (n, features) of numbers, taken as they are in float32; only these are normalised.
- sparse is (n, features) of whole numbers from 0. The vocabulary of a feature, how many values it may take, is as stated,
  or else one more than the largest value there is.
- labels of zeros and ones are answers to one yes-or-no question, float32 of shape (n, 1), unless a task states several
  outputs; all others are as those of `Arrays`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.data.arrays import (
    as_labels,
    check_lengths,
    check_numbers,
    check_sample,
    contents,
    count_outputs,
    is_binary,
)
from foresee.data.base import Data, digest
from foresee.data.held import Array, Held
from foresee.data.loading import Wanted
from foresee.errors import DataError
from foresee.task import Task


class Features(Data):
    """Dense and sparse features with labels, under the rules above; batches are `(dense, sparse)`.

    >>> clicks = Features(np.zeros((4, 2)), np.array([[0, 5], [1, 5], [2, 0], [0, 1]]), np.array([0, 1, 1, 0]))
    >>> clicks.task
    Task(inputs=(2,), outputs=1, vocabularies=(3, 6), tokens=None)
    """

    normalised_part = 0

    def __init__(
        self,
        dense: Array,
        sparse: Array,
        labels: Array | None = None,
        *,
        vocabularies: Sequence[int] | None = None,
        name: str = "features",
        outputs: int | None = None,
        wanted: Wanted | None = None,
        like: Data | None = None,
        copy: bool = True,
    ) -> None:
        wanted = wanted or Wanted()
        stated = wanted.outputs or outputs
        self._dense = _as_dense(np.asarray(dense), name, copy=copy)
        self._sparse = as_sparse(np.asarray(sparse), name, copy=copy)
        self._labels = None if labels is None else _as_answers(np.asarray(labels), stated, name)
        if len(self._dense) != len(self._sparse):
            raise DataError(f"{name}: {len(self._dense)} rows of dense but {len(self._sparse)} of sparse features")
        check_lengths(self._dense, self._labels, name)
        own = self._dense.shape[1:]
        if wanted.shape(own) != own:
            asked = "x".join(map(str, wanted.shape(own)))
            raise DataError(f"{name}: {own[0]} dense features cannot be fitted to inputs {asked}")
        if wanted.task is not None:
            vocabularies = wanted.task.vocabularies
        values = counted(self._sparse) if vocabularies is None else tuple(int(n) for n in vocabularies)
        for first, piece in self._sparse.pieces():
            check_values(torch.from_numpy(piece), values, name, first)
        task = Task(own, count_outputs(self._labels, stated, name), values)
        super().__init__(name, task, normalise=wanted.normalise, like=like)

    def __len__(self) -> int:
        return len(self._dense)

    @cached_property
    def fingerprint(self) -> str:
        """Of the content: features, labels, task and normalisation."""
        content = contents(self._dense, self._sparse, self._labels)
        return digest(
            "features", self.task.vocabularies, self.task.outputs, self.normalise, self.like_fingerprint, *content
        )

    def read(self, indices: Tensor) -> Batch:
        """The rows with these numbers."""
        labels = None if self._labels is None else self._labels.rows(indices)
        return Batch((self._dense.rows(indices), self._sparse.rows(indices)), labels)


def as_sparse(array: Array, name: str, *, copy: bool = True) -> Held:
    """Sparse features as int64 of shape (n, features)."""
    check_numbers(array, f"{name}: sparse features")
    if array.ndim != 2 or array.size == 0 or array.dtype.kind == "f":
        raise DataError(
            f"{name}: sparse features of shape {array.shape} and type {array.dtype}; expected whole numbers (n, features)"
        )
    if array.max() >= 2**62:
        raise DataError(f"{name}: sparse features reach {array.max()}; expected numbers of categories counted from 0")
    check_sample(array, f"{name}: sparse features")
    return Held(array, np.int64, copy=copy)


def counted(*several: Held) -> tuple[int, ...]:
    """The vocabularies that columns of sparse features need together."""
    return count_values(torch.from_numpy(piece) for one in several for _, piece in one.pieces())


def count_values(several: Iterable[Tensor]) -> tuple[int, ...]:
    """The vocabularies that sparse features (n, features) need: one more than the largest value of each column.

    >>> count_values([torch.tensor([[0, 3], [1, 0]]), torch.tensor([[2, 0]])])
    (3, 4)
    """
    tops = torch.stack([sparse.amax(0).long().cpu() for sparse in several]).amax(0)
    return tuple(max(int(top), 0) + 1 for top in tops)


def check_values(sparse: Tensor, vocabularies: Sequence[int], name: str, first: int = 0) -> None:
    """Every value lies in its column's vocabulary; the first that does not is named, by its row from `first` on."""
    if sparse.shape[1] != len(vocabularies):
        raise DataError(f"{name}: {sparse.shape[1]} sparse features, but {len(vocabularies)} vocabularies")
    outside = (sparse < 0) | (sparse >= torch.tensor(vocabularies, device=sparse.device))
    if bool(outside.any()):
        row, column = outside.nonzero()[0].tolist()
        raise DataError(
            f"{name}: sparse feature {column} has the value {int(sparse[row, column])} in row {first + row}; "
            f"expected 0 to {vocabularies[column] - 1}"
        )


def _as_dense(array: Array, name: str, *, copy: bool) -> Held:
    check_numbers(array, f"{name}: dense features")
    if array.ndim != 2 or array.size == 0:
        raise DataError(f"{name}: dense features of shape {array.shape}; expected (n, features), at least one of each")
    check_sample(array, f"{name}: dense features")
    held = Held(array, np.float32, copy=copy)
    held.check_finite(f"{name}: dense features")
    return held


def _as_answers(array: Array, outputs: int | None, name: str) -> Held:
    check_numbers(array, f"{name}: labels")
    one = array.size > 0 and (array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1))
    if one and outputs in (None, 1) and is_binary(array):
        return Held(array.reshape(-1, 1), np.float32)
    return as_labels(array, name)
