"""Tiny-ImageNet-200 as it is published: 200 classes of 64x64 pixels.

tiny-imagenet-200/train/n01443537/images/n01443537_0.JPEG          500 of each class
tiny-imagenet-200/val/images/val_0.JPEG                            which class: val/val_annotations.txt

The published test images have no labels and are no split here. Images are read when they are needed.
"""

from __future__ import annotations

from pathlib import Path

from foresee.data.folders import File, Images, class_files, class_names
from foresee.data.loading import Format, Wanted, formats, one_split, reading
from foresee.errors import DataError
from foresee.task import Task

ANNOTATIONS = Path("val") / "val_annotations.txt"
#: the folder that the archive unpacks to, which may lie in the one that is named
FOLDER = "tiny-imagenet-200"
SIZE = 64
#: the published file has 10,000 lines of about 40 characters
MAX_BYTES = 2**24


def read_tiny_imagenet(path: Path, wanted: Wanted) -> Images:
    """The split that is wanted, or train. Splits: train and val."""
    folder = _folder(path)
    assert folder is not None
    split = wanted.split or "train"
    if split not in ("train", "val"):
        raise DataError(f"{path}: Tiny-ImageNet has the splits train and val (its test images have no labels)")
    classes = class_names(folder / "train")

    def make(part: str, like: Images | None) -> Images:
        place = folder / part
        files = class_files(place, classes) if part == "train" else _annotated(folder, classes)
        task = wanted.fitted(Task((3, SIZE, SIZE), len(classes)))
        name = f"{folder.name}/{part}"
        fit = wanted.fit
        return Images(
            place, task, name=name, classes=classes, files=files, normalise=wanted.normalise, like=like, fit=fit
        )

    return one_split(split, ["train", "val"], make)


def _annotated(folder: Path, classes: tuple[str, ...]) -> list[File]:
    """Every image of the validation split with its label, in the order of their names."""
    numbers = {name: number for number, name in enumerate(classes)}
    files: dict[str, File] = {}
    path = folder / ANNOTATIONS
    with reading(path, "the labels of Tiny-ImageNet's validation images"):
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES} bytes")
        for count, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            name, wnid = line.split("\t")[:2] if line.count("\t") else (line, "")
            file = folder / "val" / "images" / name
            # A name is a name: nothing of the file leads out of the folder.
            if wnid not in numbers or Path(name).name != name or not file.is_file():
                raise ValueError(f"line {count}: {line[:80]!r}, expected an image's name, a tab and a class of train")
            files[name] = (file, numbers[wnid])
        if not files:
            raise ValueError("it is empty")
    return [files[name] for name in sorted(files)]


def _folder(path: Path) -> Path | None:
    return next((one for one in (path, path / FOLDER) if (one / ANNOTATIONS).is_file()), None)


TINY_IMAGENET = Format(
    "tiny_imagenet",
    "a folder of Tiny-ImageNet-200 (with train, and val/val_annotations.txt)",
    lambda path: path.is_dir() and _folder(path) is not None,
    read_tiny_imagenet,
    precedence=10,
)
formats.add(TINY_IMAGENET.name, TINY_IMAGENET)
