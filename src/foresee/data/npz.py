"""`.npz` files: inputs and labels, or the dense and sparse features of a click log.

The keys are `x`/`y`, `inputs`/`labels`, `images`/`labels`, ..., or `dense`, `sparse` and `labels`; alone, or with a split
before or after them (`x_train`, `train_images`, `dense_test`). A key `vocabularies` states the number of values of each
sparse feature, for all splits; without it they are counted in all splits together. Nothing in a file is ever unpickled.

An array is read once, in the type it has, and stays so: in memory a file takes what it unpacks to and a little more. What is
read of a file unpacks to at most `MAX_BYTES`, and its headers say so before a byte of it is unpacked.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from foresee.data.arrays import Arrays, check_numbers
from foresee.data.base import SPLITS, Data
from foresee.data.features import Features, as_sparse, counted
from foresee.data.held import Array
from foresee.data.loading import Format, Wanted, formats, one_split, reading
from foresee.errors import DataError

#: names under which files keep their inputs and labels, the likeliest first
INPUT_NAMES = ("x", "inputs", "images", "data", "features")
LABEL_NAMES = ("y", "labels", "targets", "label", "target")
#: what all arrays that are read of one file may take together
MAX_BYTES = 8 * 2**30
#: what is unpacked at a time
PIECE = 2**20


@dataclass(frozen=True)
class Keys:
    """Under which keys one split has its inputs (or dense features), its sparse features and its labels."""

    inputs: str
    sparse: str | None
    labels: str | None


def read_npz(path: Path, wanted: Wanted) -> Data:
    """The data in an `.npz` file, under the rules above."""
    with reading(path, "an .npz file"), zipfile.ZipFile(path) as archive:
        names = [member.removesuffix(".npy") for member in archive.namelist() if member.endswith(".npy")]
        found = _find(names)
        split = wanted.split if wanted.split is not None else ("train" if "train" in found else "")
        if split not in found:
            what = f"split {split!r}" if split else "inputs"
            raise DataError(
                f"{path}: no {what} among the keys {', '.join(names) or '(none)'}; expected inputs and labels such as "
                "x/y, inputs/labels or images/labels, alone or with a split as in x_train, test_images"
            )

        array = NpzReader(archive, path)

        def make(part: str, like: Data | None) -> Data:
            keys = found[part]
            labels = None if keys.labels is None else array(keys.labels)
            outputs = None if like is None else like.task.outputs
            name = f"{path.name}/{part}" if part else path.name
            if keys.sparse is None:
                return Arrays(
                    array(keys.inputs), labels, name=name, outputs=outputs, wanted=wanted, like=like, copy=False
                )
            sparse, vocabularies = array(keys.sparse), _vocabularies(path, names, found, array)
            return Features(
                array(keys.inputs),
                sparse,
                labels,
                vocabularies=vocabularies,
                name=name,
                outputs=outputs,
                wanted=wanted,
                like=like,
                copy=False,
            )

        return one_split(split, found, make)


def _find(names: list[str]) -> dict[str, Keys]:
    """Split -> its keys; the split "" is the one without a name."""
    by_name = {key.lower(): key for key in names}

    def find(names: tuple[str, ...], word: str) -> str | None:
        forms = (form for name in names for form in ((f"{name}_{word}", f"{word}_{name}") if word else (name,)))
        return next((by_name[form] for form in forms if form in by_name), None)

    found: dict[str, Keys] = {}
    for word, split in (*SPLITS.items(), ("", "")):
        inputs, dense, sparse = (find(names, word) for names in (INPUT_NAMES, ("dense",), ("sparse",)))
        labels = find(LABEL_NAMES, word)
        if inputs is not None:
            found.setdefault(split, Keys(inputs, None, labels))
        elif dense is not None and sparse is not None:
            found.setdefault(split, Keys(dense, sparse, labels))
    return found


def _vocabularies(path: Path, names: list[str], found: dict[str, Keys], array: Callable[[str], Array]) -> list[int]:
    """Those that the file states, or what all of its splits need together."""
    if "vocabularies" in names:
        stated = array("vocabularies")
        if stated.ndim != 1 or stated.dtype.kind not in "iu" or (stated < 1).any():
            raise DataError(f"{path}: vocabularies: expected one whole number from 1 for each sparse feature")
        return [int(values) for values in stated]
    several = [
        as_sparse(array(keys.sparse), str(path), copy=False) for keys in found.values() if keys.sparse is not None
    ]
    if len({one.shape[1] for one in several}) != 1:
        raise DataError(f"{path}: the splits have different numbers of sparse features")
    return list(counted(*several))


class NpzReader:
    """The arrays of an archive by their keys, each read once."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive, self._path = archive, path
        self._read: dict[str, Array] = {}
        self._total = 0

    def __call__(self, key: str) -> Array:
        """The array under this key."""
        if key not in self._read:
            self._read[key] = self._array(key)
        return self._read[key]

    def _array(self, key: str) -> Array:
        """One array, its header checked before a byte of the rest is unpacked."""
        info = self._archive.getinfo(f"{key}.npy")
        with self._archive.open(info) as file:
            first = np.lib.format.read_magic(file) == (1, 0)
            read_header = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read_header(file)
            check_numbers(np.empty(0, dtype), f"{self._path}: {key}")
            size = prod(shape) * dtype.itemsize
            self._total += size
            if self._total > MAX_BYTES:
                raise DataError(
                    f"{self._path}: {key} needs {size / 2**30:.1f} GiB; at most {MAX_BYTES // 2**30} GiB are read of a file"
                )
            if info.file_size - file.tell() != size:
                raise DataError(
                    f"{self._path}: {key} should hold {size} bytes of {shape}, but holds {info.file_size - file.tell()}"
                )
            content = np.empty(size, np.uint8)
            for start in range(0, size, PIECE):
                content[start : start + PIECE] = np.frombuffer(file.read(min(PIECE, size - start)), np.uint8)
            return content.view(dtype).reshape(shape, order="F" if fortran else "C")


NPZ = Format(
    "npz",
    "an .npz file with inputs and labels",
    lambda path: path.is_file() and path.suffix.lower() == ".npz",
    read_npz,
    precedence=20,
)
formats.add(NPZ.name, NPZ)
