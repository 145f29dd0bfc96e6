"""A folder of images: one folder per class, with Pillow reading them only when they are needed.

pictures/cat/1.jpg  pictures/cat/2.png  pictures/dog/a.webp        classes: cat = 0, dog = 1
pictures/train/cat/1.jpg  ...  pictures/test/cat/9.jpg             the same, with splits (ImageNet's layout: train and val)
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.data.base import SPLITS, Data, digest
from foresee.data.loading import Fit, Format, Wanted, formats, one_split, reading
from foresee.data.normalising import Statistics
from foresee.errors import DataError, InputError
from foresee.extras import need
from foresee.task import Task

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
#: only these decoders are tried, whatever a file claims to be
DECODERS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")
#: an image with more pixels is refused before it is decoded
MAX_PIXELS = 64_000_000
#: threads that decode the images of one batch: Pillow lets others run meanwhile
THREADS = min(8, os.cpu_count() or 1)
#: the share of the shorter side that evaluation on ImageNet looks at
EVALUATED = 224 / 256
#: an image file and its label
File = tuple[Path, int]


class Images(Data):
    """Image files under one folder per class; the classes are the folders' names in sorted order.

    Images are brought to the task's size (bilinear, smoothed when shrinking; 32x32 where nothing is stated), in colour
    for 3 channels and grey for 1, values 0 to 1. `fit` says how: "stretch" changes the ratio of the sides where it has to;
    "centre" is how networks are evaluated on ImageNet: the shorter side becomes 256/224 of the size, and the centre is cut
    out. Statistics come from 256 evenly spaced images, so that a large folder is not read for the sake of one batch.
    """

    statistics_samples = 256

    def __init__(
        self,
        folder: str | Path,
        task: Task | None = None,
        *,
        name: str | None = None,
        classes: tuple[str, ...] | None = None,
        files: list[File] | None = None,
        normalise: bool | Statistics = True,
        like: Data | None = None,
        fit: Fit = "stretch",
    ) -> None:
        need("PIL")
        self.folder, self.fit = Path(folder), fit
        self.classes = classes or class_names(self.folder)
        self._files = class_files(self.folder, self.classes) if files is None else files
        task = task or Task((3, 32, 32), len(self.classes))
        if len(task.inputs) != 3 or task.inputs[0] not in (1, 3):
            raise InputError(
                f"inputs {'x'.join(map(str, task.inputs))}: images give 1 or 3 channels, a height and a width"
            )
        if len(self.classes) > task.outputs:
            raise DataError(f"{folder}: {len(self.classes)} classes, but the task has {task.outputs} outputs")
        super().__init__(name or self.folder.name, task, normalise=normalise, like=like)

    def __len__(self) -> int:
        return len(self._files)

    @cached_property
    def fingerprint(self) -> str:
        """Of each file's path under the folder and its size in bytes; the pixels are not read for it."""
        files = [(file.relative_to(self.folder).as_posix(), file.stat().st_size) for file, _ in self._files]
        task = self.task.inputs, self.task.outputs
        more = () if self.fit == "stretch" else (self.fit,)
        return digest("images", *task, self.classes, self.normalise, self.like_fingerprint, files, *more)

    def read(self, indices: Tensor) -> Batch:
        """These images, decoded now."""
        chosen = [self._files[index] for index in indices.tolist()]
        decode = partial(_decode, shape=self.task.inputs, fit=self.fit)
        paths = [file for file, _ in chosen]
        if len(paths) > 1 and THREADS > 1:
            with ThreadPoolExecutor(THREADS) as threads:
                inputs = torch.stack(list(threads.map(decode, paths)))
        else:
            inputs = torch.stack([decode(path) for path in paths])
        return Batch(inputs, torch.tensor([label for _, label in chosen]))


def read_folder(path: Path, wanted: Wanted) -> Images:
    """A folder of class folders, or of the splits train, val and test that each hold them."""
    splits = _splits(path)
    if splits and wanted.split is None and "train" not in splits:
        raise DataError(f"{path}: holds {', '.join(sorted(splits))} but no train; name the split")
    if wanted.split is not None and wanted.split not in splits:
        raise DataError(f"{path}: no split {wanted.split!r}; there is {', '.join(sorted(splits)) or 'none'}")

    def make(split: str, like: Images | None) -> Images:
        folder = splits.get(split, path)
        classes = None if like is None else like.classes
        name = f"{path.name}/{folder.name}" if splits else path.name
        task = wanted.fitted(Task((3, 32, 32), len(classes or class_names(folder))))
        return Images(folder, task, name=name, classes=classes, normalise=wanted.normalise, like=like, fit=wanted.fit)

    return one_split(wanted.split or ("train" if splits else ""), splits, make)


def _splits(path: Path) -> dict[str, Path]:
    """Split -> folder, where the folders inside are called as splits and nothing else."""
    folders = _visible_folders(path)
    if not folders or not all(folder.name.lower() in SPLITS for folder in folders):
        return {}
    return {SPLITS[folder.name.lower()]: folder for folder in folders}


def _visible_folders(path: Path) -> list[Path]:
    with reading(path, "a folder"):
        return sorted((p for p in path.iterdir() if p.is_dir() and not p.name.startswith(".")), key=lambda p: p.name)


def _class_folders(path: Path) -> list[Path]:
    folders = _visible_folders(path)
    if not folders:
        raise DataError(
            f"{path}: no folders inside; expected one folder per class with images, such as {path.name}/cat/1.png"
        )
    return folders


def class_names(path: Path) -> tuple[str, ...]:
    """The names of the folders inside, sorted."""
    return tuple(folder.name for folder in _class_folders(path))


def class_files(path: Path, classes: tuple[str, ...]) -> list[File]:
    """Every image with its label, class by class."""
    numbers = {name: number for number, name in enumerate(classes)}
    files: list[File] = []
    for folder in _class_folders(path):
        if folder.name not in numbers:
            raise DataError(f"{folder}: a class that the training split does not have; it has {', '.join(classes)}")
        found = sorted(
            (
                p
                for p in folder.rglob("*")
                if p.suffix.lower() in SUFFIXES and not p.name.startswith(".") and p.is_file()
            ),
            key=lambda p: p.relative_to(path).as_posix(),
        )
        if not found:
            raise DataError(f"{folder}: no images inside; expected files ending in {', '.join(SUFFIXES)}")
        files += [(file, numbers[folder.name]) for file in found]
    return files


def _decode(path: Path, shape: tuple[int, ...], fit: Fit = "stretch") -> Tensor:
    """One image as float32 of `shape`, values 0 to 1."""
    image_module: Any = need("PIL.Image")
    channels, height, width = shape
    with reading(path, "an image"), image_module.open(path, formats=DECODERS) as image:
        if image.width * image.height > MAX_PIXELS:
            raise DataError(f"{path}: {image.width}x{image.height} pixels; at most {MAX_PIXELS} are decoded")
        if image.mode == "F":
            raise DataError(
                f"{path}: pixels are fractions of unknown range; save the image with 8 or 16 bits per channel"
            )
        if image.mode.startswith("I"):  # 16 bits per pixel: Pillow would cut off everything above 255
            image = image_module.fromarray((np.asarray(image) >> 8).clip(0, 255).astype(np.uint8))
        image = image.convert("RGB" if channels == 3 else "L")
        box = None if fit == "stretch" else _centre(image.width, image.height, width, height)
        pixels = np.asarray(image.resize((width, height), image_module.Resampling.BILINEAR, box), np.float32) / 255
    return torch.from_numpy(pixels.reshape(height, width, channels)).permute(2, 0, 1).contiguous()


def _centre(width: int, height: int, wanted_width: int, wanted_height: int) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the box in the middle that has the ratio wanted and 224/256 of the size it could have.

    >>> _centre(512, 256, 224, 224)
    (144.0, 16.0, 368.0, 240.0)
    """
    scale = min(width / wanted_width, height / wanted_height) * EVALUATED
    across, down = wanted_width * scale / 2, wanted_height * scale / 2
    return width / 2 - across, height / 2 - down, width / 2 + across, height / 2 + down


IMAGES = Format(
    "images", "a folder with one folder of images per class", lambda path: path.is_dir(), read_folder, precedence=0
)
formats.add(IMAGES.name, IMAGES)
