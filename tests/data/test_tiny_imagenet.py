"""Tiny-ImageNet-200: a made-up folder of three classes in the published layout."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from PIL import Image
from torch import Tensor

import foresee.data as fd
from foresee.errors import DataError
from foresee.task import Task
from foresee.testing import DataSuite

COLOURS = {"n01": (255, 0, 0), "n02": (0, 255, 0), "n03": (0, 0, 255)}


def paint(path: Path, colour: tuple[int, int, int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (64, 64), colour).save(path, quality=95)


def make(root: Path, each: int = 4) -> Path:
    folder = root / "tiny-imagenet-200"
    lines = []
    for number, (wnid, colour) in enumerate(COLOURS.items()):
        for one in range(each):
            paint(folder / "train" / wnid / "images" / f"{wnid}_{one}.JPEG", tuple(c * (9 - one) // 9 for c in colour))  # type: ignore[arg-type]
        (folder / "train" / wnid / f"{wnid}_boxes.txt").write_text("a\t0\t0\t62\t62\n")
        paint(folder / "val" / "images" / f"val_{2 - number}.JPEG", colour)
        lines.append(f"val_{2 - number}.JPEG\t{wnid}\t0\t0\t62\t62\n")
    (folder / "val" / "val_annotations.txt").write_text("".join(lines))
    paint(folder / "test" / "images" / "test_0.JPEG", (9, 9, 9))
    (folder / "wnids.txt").write_text("n02\nn01\nn03\n")
    return folder


def test_both_splits(tmp_path: Path) -> None:
    folder = make(tmp_path)
    for place in (folder, tmp_path):
        train, val = fd.load(place), fd.load(place, split="val")
        assert train.task == val.task == Task((3, 64, 64), 3)
        assert (len(train), len(val)) == (12, 3)
        assert (train.name, val.name) == ("tiny-imagenet-200/train", "tiny-imagenet-200/val")
        assert val.statistics == train.statistics
        assert val.splits == ("train", "val")
    assert isinstance(val, fd.Images)
    assert val.classes == tuple(COLOURS)
    batch = val.read(torch.arange(3))
    assert isinstance(batch.inputs, Tensor)
    assert batch.labels is not None
    for image, label in zip(batch.inputs, batch.labels.tolist(), strict=True):
        seen = image.mean((1, 2))
        assert int(seen.argmax()) == label  # the colour of its class, by the annotations and not by any folder


@pytest.mark.parametrize(
    "line", ["val_0.JPEG\tn99\t0", "../../train/n01/images/n01_0.JPEG\tn01", "gone.JPEG\tn01", "val_0.JPEG n01", ""]
)
def test_senseless_annotations_are_named(tmp_path: Path, line: str) -> None:
    folder = make(tmp_path)
    (folder / "val" / "val_annotations.txt").write_text(f"{line}\n")
    with pytest.raises(DataError, match=r"val_annotations\.txt.*line 1"):
        fd.load(folder, split="val")


def test_the_test_images_have_no_labels(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="train and val"):
        fd.load(make(tmp_path), split="test")


class TestTinyImageNet(DataSuite):
    @pytest.fixture(autouse=True)
    def _files(self, tmp_path: Path) -> None:
        self.folder = make(tmp_path)

    def data(self) -> fd.Data:
        return fd.load(self.folder, resize=6)

    def others(self) -> list[fd.Data]:
        return [fd.load(self.folder, split="val", resize=6), fd.load(self.folder, resize=6, fit="centre")]
