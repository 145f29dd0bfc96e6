"""ImageNet16-120 as NAS-Bench-201 uses it: ImageNet at 16x16 pixels, the first 120 of its classes.

The published files are `train_data_batch_1` to `train_data_batch_10` and `val_data`: pickles of `data`, (n, 768) bytes, and
`labels`, whole numbers from 1 to 1000; or the same names with `.npz`. The pickles are read without running anything of
them (`pickled.py`). As many classes are kept as a task has outputs, 120 where nothing is stated.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from foresee.data.arrays import Arrays
from foresee.data.held import Array
from foresee.data.loading import Format, Wanted, formats, one_split, reading
from foresee.data.npz import NpzReader
from foresee.data.pickled import images_and_labels
from foresee.errors import DataError

IMAGE = 3 * 16 * 16
#: labels in the files run from 1 to this
LABELS = 1000
#: the classes of NAS-Bench-201's data set
CLASSES = 120
#: the largest published file has 98 MB
MAX_FILE_BYTES = 2**28
FILES = {"train": tuple(f"train_data_batch_{number}" for number in range(1, 11)), "val": ("val_data",)}
#: the folder that the archives unpack to, which may lie in the one that is named
FOLDER = "ImageNet16"


def read_imagenet16(path: Path, wanted: Wanted) -> Arrays:
    """The split that is wanted, or train: all its files, one after the other. Splits: train and val."""
    folder = _folder(path)
    assert folder is not None
    split = wanted.split or "train"
    if split not in FILES:
        raise DataError(f"{path}: ImageNet16 has the splits train and val, not {split!r}; split val for a test part")
    classes = wanted.outputs or CLASSES
    if classes > LABELS:
        raise DataError(f"{path}: {classes} outputs, but ImageNet has {LABELS} classes")

    def make(part: str, like: Arrays | None) -> Arrays:
        images, labels = _read_all(folder, part, classes)
        name = f"imagenet16_{classes}/{part}"
        return Arrays(images, labels, name=name, outputs=classes, wanted=wanted, like=like, copy=False)

    there = [part for part, names in FILES.items() if all(_file(folder, name) for name in names)]
    return one_split(split, there, make)


def _read_all(folder: Path, part: str, classes: int) -> tuple[Array, Array]:
    """Images (n, 3, 16, 16) and labels from 0 of the classes that are kept; of each file only these stay in memory."""
    missing = [name for name in FILES[part] if _file(folder, name) is None]
    if missing:
        raise DataError(f"{folder}: {', '.join(missing)} missing; the {part} split needs {', '.join(FILES[part])}")
    kept: list[tuple[Array, Array]] = []
    for name in FILES[part]:
        file = _file(folder, name)
        assert file is not None
        with reading(file, "a file of ImageNet16"):
            images, labels = _read(file)
            if labels.min() < 1 or labels.max() > LABELS:
                raise ValueError(f"labels from {labels.min()} to {labels.max()}, expected 1 to {LABELS}")
            chosen = labels <= classes
            kept.append((images[chosen], labels[chosen] - 1))
    images, labels = (np.concatenate(arrays) for arrays in zip(*kept, strict=True))
    if not len(labels):
        raise DataError(f"{folder}: no image of the first {classes} classes in the {part} split")
    return images.reshape(-1, 3, 16, 16), labels


def _read(file: Path) -> tuple[Array, Array]:
    size = file.stat().st_size
    if size > MAX_FILE_BYTES:
        raise ValueError(f"{size} bytes; no file of ImageNet16 has more than {MAX_FILE_BYTES}")
    if file.suffix != ".npz":
        return images_and_labels(file.read_bytes(), "labels", IMAGE)
    with zipfile.ZipFile(file) as archive:
        array = NpzReader(archive, file)
        images, labels = array("data"), array("labels")
    if images.dtype != np.uint8 or images.ndim != 2 or images.shape[1] != IMAGE or not len(images):
        raise ValueError(f"data is {images.dtype} of shape {images.shape}, expected bytes of shape (n, {IMAGE})")
    if labels.dtype.kind not in "iu" or labels.shape != (len(images),):
        raise ValueError(f"labels are {labels.dtype} of shape {labels.shape}, expected ({len(images)},) whole numbers")
    return images, labels.astype(np.int64)


def _file(folder: Path, name: str) -> Path | None:
    return next((file for file in (folder / name, folder / f"{name}.npz") if file.is_file()), None)


def _folder(path: Path) -> Path | None:
    """Where the files are: here, or in the published folder inside."""
    return next((one for one in (path, path / FOLDER) if any(_file(one, names[0]) for names in FILES.values())), None)


IMAGENET16 = Format(
    "imagenet16",
    f"a folder of ImageNet16 files ({FILES['train'][0]}, ..., {FILES['val'][0]}; with or without .npz)",
    lambda path: path.is_dir() and _folder(path) is not None,
    read_imagenet16,
    precedence=10,
)
formats.add(IMAGENET16.name, IMAGENET16)
