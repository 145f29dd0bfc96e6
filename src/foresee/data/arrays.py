"""Arrays in memory.

Rules, so that nothing is guessed silently:

- inputs have 2 axes or more, the samples first. 2 axes are vectors, 3 are grey images (one channel is added, unless the
  task's inputs have 2 axes). With 4 axes a channel axis is one of at most 4 entries: if only the last axis is that short
  they are (n, height, width, channels), if only the second is, (n, channels, height, width); if both or neither are,
  uint8 has its channels last and everything else first.
- uint8 becomes 0 to 1; every other number is taken as it is, in float32. In memory an array has the type it came in, where
  that is smaller. A sample has at most `MAX_SAMPLE` numbers in at most `MAX_CHANNELS` channels.
- labels: whole numbers are classes 0, 1, ... and each class occurs, unless a task states the outputs. Rows of two or more
  numbers that hold a single one and otherwise zeros are classes too; other rows of zeros and ones, and rows of fractions,
  are multi-label targets. A column of fractions is a regression target.
"""

from __future__ import annotations

from functools import cached_property, reduce
from math import prod

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from foresee.batch import Batch
from foresee.data.base import Data, digest
from foresee.data.held import Array, Held
from foresee.data.loading import Wanted
from foresee.errors import DataError
from foresee.task import Task

#: numbers of one sample: more than an image of three times 3,000 by 3,000 has
MAX_SAMPLE = 2**25
#: channels, or features of a vector: each has a mean and a standard deviation
MAX_CHANNELS = 2**20


class Arrays(Data):
    """Inputs and labels held in memory, under the rules above; the given arrays are never written to.

    They are copied, unless nobody else has them (`copy=False`).

    >>> data = Arrays(np.zeros((6, 28, 28), np.uint8), np.array([0, 1, 2, 0, 1, 2]))
    >>> data.task.inputs, data.task.outputs
    ((1, 28, 28), 3)
    """

    def __init__(
        self,
        inputs: Array,
        labels: Array | None = None,
        *,
        name: str = "arrays",
        outputs: int | None = None,
        wanted: Wanted | None = None,
        like: Data | None = None,
        copy: bool = True,
    ) -> None:
        wanted = wanted or Wanted()
        if wanted.task is not None and wanted.task.vocabularies:
            raise DataError(f"{name}: the task has {len(wanted.task.vocabularies)} sparse features, the data has none")
        flat = wanted.inputs is not None and len(wanted.inputs) == 2
        self._inputs = _as_inputs(np.asarray(inputs), name, flat=flat, copy=copy)
        self._labels = None if labels is None else as_labels(np.asarray(labels), name)
        check_lengths(self._inputs, self._labels, name)
        own = self._inputs.shape[1:]
        shape = wanted.shape(own)
        _check_fit(own, shape, name)
        task = Task(shape, count_outputs(self._labels, wanted.outputs or outputs, name))
        super().__init__(name, task, normalise=wanted.normalise, like=like)

    def __len__(self) -> int:
        return len(self._inputs)

    @cached_property
    def fingerprint(self) -> str:
        """Of the content: inputs, labels, task and normalisation; not of names or the file's own layout."""
        content = contents(self._inputs, self._labels)
        return digest("arrays", self.task.inputs, self.task.outputs, self.normalise, self.like_fingerprint, *content)

    def read(self, indices: Tensor) -> Batch:
        """The samples with these numbers, fitted to the task's shape."""
        inputs = self._inputs.rows(indices)
        inputs = inputs.float().div_(255) if inputs.dtype == torch.uint8 else inputs
        return Batch(fit(inputs, self.task.inputs), None if self._labels is None else self._labels.rows(indices))


def fit(inputs: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Images at another size (bilinear, smoothed when shrinking) and one channel repeated; others unchanged.

    >>> fit(torch.ones(2, 1, 8, 8), (3, 32, 32)).shape
    torch.Size([2, 3, 32, 32])
    """
    if tuple(inputs.shape[1:]) == shape:
        return inputs
    if inputs.shape[-2:] != shape[-2:]:
        inputs = F.interpolate(inputs, shape[-2:], mode="bilinear", align_corners=False, antialias=True)
    return inputs.expand(-1, shape[0], -1, -1).contiguous()


def _check_fit(own: tuple[int, ...], shape: tuple[int, ...], name: str) -> None:
    fits = own == shape or (len(own) == len(shape) == 3 and own[0] in (1, shape[0]))
    if not fits:
        is_, want = ("x".join(map(str, sizes)) for sizes in (own, shape))
        raise DataError(
            f"{name}: samples of shape {is_} cannot be fitted to {want}; images can change their size, and one channel "
            "can be repeated"
        )


def _as_inputs(array: Array, name: str, *, flat: bool, copy: bool) -> Held:
    check_numbers(array, f"{name}: inputs")
    if array.ndim < 2 or array.size == 0:
        raise DataError(
            f"{name}: inputs of shape {array.shape}; expected at least one sample, the samples on the first axis"
        )
    check_sample(array, f"{name}: inputs")
    if array.ndim == 3 and not flat:
        array = array[:, None]
    elif array.ndim == 4:
        second, last = array.shape[1] <= 4, array.shape[3] <= 4
        if last if second != last else array.dtype == np.uint8:
            array = np.moveaxis(array, 3, 1)
    if array.shape[1] > MAX_CHANNELS:
        raise DataError(f"{name}: inputs of {array.shape[1]:,} channels or features; at most {MAX_CHANNELS:,} are read")
    held = Held(array, np.uint8 if array.dtype == np.uint8 else np.float32, copy=copy)
    held.check_finite(f"{name}: inputs")
    return held


def as_labels(array: Array, name: str) -> Held:
    """Labels as int64 of shape (n,), or float32 of shape (n, outputs)."""
    check_numbers(array, f"{name}: labels")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or array.size == 0:
        raise DataError(f"{name}: labels of shape {array.shape}; expected (n,) or (n, outputs)")
    check_sample(array, f"{name}: labels")
    if array.ndim == 2:
        rows = Held(array, array.dtype, copy=False)
        binary = is_binary(array)
        if binary and all(bool((piece.sum(axis=1) == 1).all()) for _, piece in rows.pieces()):
            return Held(array.argmax(axis=1), np.int64, copy=False)
        if not binary and array.dtype.kind != "f":
            raise DataError(f"{name}: rows of whole labels must hold zeros and ones; the largest is {array.max()}")
    elif array.dtype.kind != "f":
        if array.min() < 0 or array.max() >= 2**31:
            raise DataError(f"{name}: labels run from {array.min()} to {array.max()}; expected classes counted from 0")
        return Held(array, np.int64)
    held = Held(array if array.ndim == 2 else array[:, None], np.float32)
    held.check_finite(f"{name}: labels")
    return held


def is_binary(array: Array) -> bool:
    """Whether all numbers are zeros and ones."""
    pieces = Held(array, array.dtype, copy=False).pieces()
    return all(bool(((piece == 0) | (piece == 1)).all()) for _, piece in pieces)


def count_outputs(labels: Held | None, stated: int | None, name: str) -> int:
    """The number of outputs: as stated, where the labels allow it, else what the labels need."""
    if labels is None:
        if stated is None:
            raise DataError(f"{name}: there are no labels to count the outputs by; give a task")
        return stated
    if labels.kind == np.float32:
        if stated not in (None, labels.shape[1]):
            raise DataError(f"{name}: {labels.shape[1]} target values per sample, but the task has {stated} outputs")
        return labels.shape[1]
    top = int(labels.array.max())
    if stated is not None:
        if top >= stated:
            raise DataError(
                f"{name}: label {top} needs {top + 1} outputs, but there are only {stated}; where no proxy reads labels, a "
                "file without them will do"
            )
        return stated
    found = reduce(np.union1d, (np.unique(piece) for _, piece in labels.pieces())).size
    if found <= top:
        raise DataError(
            f"{name}: labels reach {top} but only {found} of these {top + 1} classes occur; number them 0 to "
            f"{found - 1}, or give a task with {top + 1} outputs"
        )
    return top + 1


def check_numbers(array: Array, what: str) -> None:
    """Refuse what is no array of plain numbers."""
    if array.dtype.hasobject:
        raise DataError(f"{what}: an object array is a pickle, which is never loaded; save numbers of one plain type")
    if array.dtype.kind not in "biuf":
        raise DataError(f"{what}: type {array.dtype}; expected whole or real numbers")


def check_sample(array: Array, what: str) -> None:
    """Refuse samples so large that looking at a single one would fill the memory."""
    numbers = prod(array.shape[1:])
    if numbers > MAX_SAMPLE:
        raise DataError(f"{what}: {numbers:,} numbers in one sample; at most {MAX_SAMPLE:,} are read")


def contents(*columns: Held | None) -> list[object]:
    """What a digest of these columns is made of."""
    return [part for one in columns if one is not None for part in one.content]


def check_lengths(inputs: Held, labels: Held | None, name: str) -> None:
    """As many labels as inputs, where there are any."""
    if labels is not None and len(labels) != len(inputs):
        raise DataError(f"{name}: {len(inputs)} inputs but {len(labels)} labels")
