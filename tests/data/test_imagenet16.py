"""ImageNet16-120: pickles and .npz files of a few images, written as NAS-Bench-201's are."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import foresee.data as fd
from foresee.data.imagenet16 import FILES
from foresee.errors import DataError
from foresee.task import Task
from foresee.testing import DataSuite

COUNT = 5  # images in each file
Made = tuple[np.ndarray[Any, Any], list[int]]


def content(name: str) -> Made:
    """Images and labels, some of them beyond the first 120 classes."""
    rng = np.random.default_rng(len(name) + ord(name[-1]))
    labels = [*rng.integers(1, 121, COUNT - 2).tolist(), 120, 121]
    return rng.integers(0, 256, (COUNT, 768), dtype=np.uint8), labels


def write(folder: Path, form: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*FILES["train"], *FILES["val"]):
        images, labels = content(name)
        mean = images.astype(np.float64).mean(0)
        if form == "npz":
            np.savez(folder / f"{name}.npz", data=images, labels=np.array(labels), mean=mean)
        else:
            (folder / name).write_bytes(pickle.dumps({"data": images, "labels": labels, "mean": mean}, int(form)))
    return folder


def expected(split: str, classes: int) -> tuple[Tensor, list[int]]:
    pairs = [
        (image, label - 1)
        for name in FILES[split]
        for image, label in zip(*content(name), strict=True)
        if label <= classes
    ]
    images = torch.from_numpy(np.stack([image for image, _ in pairs])).view(-1, 3, 16, 16).float() / 255
    return images, [label for _, label in pairs]


def check(data: fd.Data, split: str, classes: int = 120) -> None:
    images, labels = expected(split, classes)
    batch = data.read(torch.arange(len(data)))
    assert isinstance(batch.inputs, Tensor)
    assert batch.labels is not None
    assert data.task == Task((3, 16, 16), classes)
    assert batch.labels.tolist() == labels
    assert torch.equal(batch.inputs, images)


@pytest.mark.parametrize("form", ["2", "4", "5", "npz"])
def test_both_forms(form: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "ImageNet16", form)
    for place in (folder, tmp_path):
        check(fd.load(place), "train")
        check(fd.load(place, split="val"), "val")
    val = fd.load(folder, split="val")
    assert val.statistics == fd.load(folder).statistics
    assert (val.name, val.splits) == ("imagenet16_120/val", ("train", "val"))


def test_as_many_classes_as_outputs(tmp_path: Path) -> None:
    folder = write(tmp_path, "4")
    check(fd.load(folder, outputs=1000), "train", 1000)
    assert len(fd.load(folder, outputs=1000)) == 10 * COUNT
    assert len(fd.load(folder)) == 10 * (COUNT - 1)
    with pytest.raises(DataError, match="ImageNet has 1000 classes"):
        fd.load(folder, outputs=1001)


def test_what_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path, "4")
    with pytest.raises(DataError, match="train and val, not 'test'"):
        fd.load(folder, split="test")
    (folder / "train_data_batch_3").unlink()
    with pytest.raises(DataError, match="train_data_batch_3 missing"):
        fd.load(folder)
    images, _ = content("val_data")
    for labels in ([0] * COUNT, [1001] * COUNT):
        (folder / "val_data").write_bytes(pickle.dumps({"data": images, "labels": labels}))
        (folder / "train_data_batch_3").write_bytes((folder / "train_data_batch_2").read_bytes())
        with pytest.raises(DataError, match="expected 1 to 1000"):
            fd.load(folder, split="val")
    (folder / "val_data").write_bytes(pickle.dumps({"data": images, "labels": labels})[:-100])
    with pytest.raises(DataError, match="val_data: cannot be read as a file of ImageNet16"):
        fd.load(folder, split="val")
    np.savez(folder / "val_data.npz", data=images[:, :700], labels=np.array(labels))
    (folder / "val_data").unlink()
    with pytest.raises(DataError, match=r"expected bytes of shape \(n, 768\)"):
        fd.load(folder, split="val")
    np.savez(folder / "val_data.npz", data=images, labels=np.zeros(COUNT))
    with pytest.raises(DataError, match="whole numbers"):
        fd.load(folder, split="val")


class Harmful:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)


def test_no_code_of_a_file_runs(tmp_path: Path) -> None:
    folder = write(tmp_path / "files", "4")
    mark = tmp_path / "ran"
    (folder / "train_data_batch_1").write_bytes(pickle.dumps({"data": Harmful(mark), "labels": [1]}))
    with pytest.raises(DataError, match="refused, nothing was run"):
        fd.load(folder)
    assert not mark.exists()


class TestImageNet16(DataSuite):
    @pytest.fixture(autouse=True)
    def _files(self, tmp_path: Path) -> None:
        self.folder = write(tmp_path, "npz")

    def data(self) -> fd.Data:
        return fd.load(self.folder)

    def others(self) -> list[fd.Data]:
        return [fd.load(self.folder, split="val"), fd.load(self.folder, outputs=1000)]
