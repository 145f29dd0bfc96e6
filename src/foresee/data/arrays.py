"""Arrays in memory, and `.npz` files of them.

Rules, so that nothing is guessed silently:

- inputs have 2 axes or more, the samples first. 2 axes are vectors, 3 are grey images (one channel is added, unless the
  task's inputs have 2 axes). With 4 axes a channel axis is one of at most 4 entries: if only the last axis is that short
  they are (n, height, width, channels), if only the second is, (n, channels, height, width); if both or neither are,
  uint8 has its channels last and everything else first.
- uint8 becomes 0 to 1; every other number is taken as it is, in float32.
- labels: whole numbers are classes 0, 1, ... and each class occurs, unless a task states the outputs. Rows of two or more
  numbers that hold a single one and otherwise zeros are classes too; other rows of zeros and ones, and rows of fractions,
  are multi-label targets. A column of fractions is a regression target.
"""

from __future__ import annotations

import zipfile
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from foresee.batch import Batch
from foresee.data.base import SPLITS, Data, Format, Wanted, digest, reading
from foresee.errors import DataError
from foresee.task import Task

Array = NDArray[Any]

#: names under which files keep their inputs and labels, the likeliest first
INPUT_NAMES = ("x", "inputs", "images", "data", "features")
LABEL_NAMES = ("y", "labels", "targets", "label", "target")
#: the largest array that is read into memory
MAX_BYTES = 8 * 2**30


class Arrays(Data):
    """Inputs and labels held in memory, under the rules above; the given arrays are never written to.

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
    ) -> None:
        wanted = wanted or Wanted()
        flat = wanted.task is not None and len(wanted.task.inputs) == 2
        self._inputs = torch.from_numpy(_as_inputs(np.asarray(inputs), name, flat=flat))
        self._labels = None if labels is None else torch.from_numpy(_as_labels(np.asarray(labels), name))
        if self._labels is not None and len(self._labels) != len(self._inputs):
            raise DataError(f"{name}: {len(self._inputs)} inputs but {len(self._labels)} labels")
        own = tuple(self._inputs.shape[1:])
        shape = wanted.shape(own)
        _check_fit(own, shape, name)
        stated = wanted.task.outputs if wanted.task else outputs
        super().__init__(name, Task(shape, _outputs(self._labels, stated, name)), normalise=wanted.normalise, like=like)

    def __len__(self) -> int:
        return len(self._inputs)

    @cached_property
    def fingerprint(self) -> str:
        """Of the content: inputs, labels, task and normalisation; not of names or the file's own layout."""
        parts = [self._inputs] if self._labels is None else [self._inputs, self._labels]
        buffers = [
            part for tensor in parts for part in (tuple(tensor.shape), str(tensor.dtype), _little_endian(tensor))
        ]
        like = None if self.like is None else self.like.fingerprint
        return digest("arrays", self.task.inputs, self.task.outputs, self.normalise, like, *buffers)

    def read(self, indices: Tensor) -> Batch:
        """The samples with these numbers, fitted to the task's shape."""
        inputs = self._inputs[indices]
        inputs = inputs.float() / 255 if inputs.dtype == torch.uint8 else inputs
        return Batch(fit(inputs, self.task.inputs), None if self._labels is None else self._labels[indices])


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


def _as_inputs(array: Array, name: str, *, flat: bool) -> Array:
    _check_numbers(array, f"{name}: inputs")
    if array.ndim < 2 or array.size == 0:
        raise DataError(
            f"{name}: inputs of shape {array.shape}; expected at least one sample, the samples on the first axis"
        )
    if array.ndim == 3 and not flat:
        array = array[:, None]
    elif array.ndim == 4:
        second, last = array.shape[1] <= 4, array.shape[3] <= 4
        if last if second != last else array.dtype == np.uint8:
            array = np.moveaxis(array, 3, 1)
    # A copy of our own: torch warns about read-only memory, and a caller may go on writing into theirs.
    return np.array(array, order="C") if array.dtype == np.uint8 else _as_float(array, f"{name}: inputs")


def _as_labels(array: Array, name: str) -> Array:
    """Labels as int64 of shape (n,), or float32 of shape (n, outputs)."""
    _check_numbers(array, f"{name}: labels")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or array.size == 0:
        raise DataError(f"{name}: labels of shape {array.shape}; expected (n,) or (n, outputs)")
    if array.ndim == 2:
        binary = bool(np.isin(array, (0, 1)).all())
        if binary and bool((array.sum(axis=1) == 1).all()):
            return np.asarray(array.argmax(axis=1), np.int64)
        if not binary and array.dtype.kind != "f":
            raise DataError(f"{name}: rows of whole labels must hold zeros and ones; the largest is {array.max()}")
        return _as_float(array, f"{name}: labels")
    if array.dtype.kind == "f":
        return _as_float(array, f"{name}: labels")[:, None]
    if array.min() < 0 or array.max() >= 2**31:
        raise DataError(f"{name}: labels run from {array.min()} to {array.max()}; expected classes counted from 0")
    return array.astype(np.int64)


def _outputs(labels: Tensor | None, stated: int | None, name: str) -> int:
    """The number of outputs: as stated, where the labels allow it, else what the labels need."""
    if labels is None:
        if stated is None:
            raise DataError(f"{name}: there are no labels to count the outputs by; give a task")
        return stated
    if labels.is_floating_point():
        if stated not in (None, labels.shape[1]):
            raise DataError(f"{name}: {labels.shape[1]} target values per sample, but the task has {stated} outputs")
        return labels.shape[1]
    top = int(labels.max())
    if stated is not None:
        if top >= stated:
            raise DataError(
                f"{name}: label {top} needs {top + 1} outputs, but there are only {stated}; where no proxy reads labels, a "
                "file without them will do"
            )
        return stated
    found = np.unique(labels.numpy()).size
    if found <= top:
        raise DataError(
            f"{name}: labels reach {top} but only {found} of these {top + 1} classes occur; number them 0 to "
            f"{found - 1}, or give a task with {top + 1} outputs"
        )
    return top + 1


def _check_numbers(array: Array, what: str) -> None:
    if array.dtype.hasobject:
        raise DataError(f"{what}: an object array is a pickle, which is never loaded; save numbers of one plain type")
    if array.dtype.kind not in "biuf":
        raise DataError(f"{what}: type {array.dtype}; expected whole or real numbers")


def _as_float(array: Array, what: str) -> Array:
    with np.errstate(over="ignore"):
        array = array.astype(np.float32, order="C")
    bad = array.size - int(np.isfinite(array).sum())
    if bad:
        raise DataError(f"{what}: {bad} of {array.size} values are NaN, infinite or beyond float32; clean them first")
    return array


def _little_endian(tensor: Tensor) -> memoryview:
    array = tensor.numpy()
    return array.astype(array.dtype.newbyteorder("<"), copy=False).data.cast("B")


def read_npz(path: Path, wanted: Wanted) -> Arrays:
    """Inputs and labels of an `.npz` file.

    The keys are `x`/`y`, `inputs`/`labels`, `images`/`labels`, ..., alone or with a split before or after them
    (`x_train`, `train_images`). Nothing in the file is ever unpickled.
    """
    with reading(path, "an .npz file"), zipfile.ZipFile(path) as archive:
        keys = [member.removesuffix(".npy") for member in archive.namelist() if member.endswith(".npy")]
        pairs = _find_pairs(keys)
        split = wanted.split if wanted.split is not None else ("train" if "train" in pairs else "")
        if split not in pairs:
            what = f"split {split!r}" if split else "inputs"
            raise DataError(
                f"{path}: no {what} among the keys {', '.join(keys) or '(none)'}; expected inputs and labels such as "
                "x/y, inputs/labels or images/labels, alone or with a split as in x_train, test_images"
            )

        def make(part: str, like: Arrays | None) -> Arrays:
            x, y = pairs[part]
            inputs = _read_array(archive, x, path)
            labels = None if y is None else _read_array(archive, y, path)
            outputs = None if like is None else like.task.outputs
            name = f"{path.name}/{part}" if part else path.name
            return Arrays(inputs, labels, name=name, outputs=outputs, wanted=wanted, like=like)

        has_training = "train" in pairs and split not in ("train", "")
        return make(split, make("train", None) if has_training else None)


def _find_pairs(keys: list[str]) -> dict[str, tuple[str, str | None]]:
    """Split -> keys of its inputs and labels; the split "" is the one without a name."""
    by_name = {key.lower(): key for key in keys}

    def find(names: tuple[str, ...], word: str) -> str | None:
        forms = (form for name in names for form in ((f"{name}_{word}", f"{word}_{name}") if word else (name,)))
        return next((by_name[form] for form in forms if form in by_name), None)

    pairs: dict[str, tuple[str, str | None]] = {}
    for word, split in (*SPLITS.items(), ("", "")):
        inputs = find(INPUT_NAMES, word)
        if inputs is not None:
            pairs.setdefault(split, (inputs, find(LABEL_NAMES, word)))
    return pairs


def _read_array(archive: zipfile.ZipFile, key: str, path: Path) -> Array:
    """One array, its header checked before a byte of the rest is read."""
    info = archive.getinfo(f"{key}.npy")
    with archive.open(info) as file:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read_header(file)
        _check_numbers(np.empty(0, dtype), f"{path}: {key}")
        size = prod(shape) * dtype.itemsize
        if size > MAX_BYTES:
            raise DataError(f"{path}: {key} needs {size / 2**30:.1f} GiB; at most {MAX_BYTES // 2**30} GiB are read")
        if info.file_size - file.tell() != size:
            raise DataError(
                f"{path}: {key} should hold {size} bytes of {shape}, but holds {info.file_size - file.tell()}"
            )
        return np.frombuffer(file.read(), dtype).reshape(shape, order="F" if fortran else "C")


NPZ = Format(
    "npz",
    "an .npz file with inputs and labels",
    lambda path: path.is_file() and path.suffix.lower() == ".npz",
    read_npz,
)
