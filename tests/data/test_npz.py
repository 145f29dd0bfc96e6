"""`.npz` files: keys, splits, damage, click logs."""

from __future__ import annotations

import io
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import foresee.data as fd
from foresee.errors import DataError
from foresee.task import Task
from foresee.testing import DataSuite

CLASSES = np.array([0, 1, 2, 0, 1, 2])


def whole(data: fd.Data) -> tuple[Tensor, Tensor]:
    batch = data.read(torch.arange(len(data)))
    assert isinstance(batch.inputs, Tensor)
    assert batch.labels is not None
    return batch.inputs, batch.labels


def save(path: Path, **arrays: Any) -> Path:
    np.savez_compressed(path, **arrays)
    return path


@pytest.mark.parametrize(
    ("keys", "split", "chosen"),
    [
        (("x", "y"), None, "x"),
        (("inputs", "labels"), None, "inputs"),
        (("images", "labels"), None, "images"),
        (("X_train", "y_train", "X_test", "y_test"), None, "X_train"),
        (("X_train", "y_train", "X_test", "y_test"), "test", "X_test"),
        (("train_images", "train_labels", "val_images", "val_labels"), "valid", "val_images"),
        (("x", "y", "x_train", "y_train"), None, "x_train"),
        (("data", "target", "notes"), None, "data"),
    ],
)
def test_common_keys_are_found(keys: tuple[str, ...], split: str | None, chosen: str, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {}
    for number, key in enumerate(keys):
        is_inputs = any(word in key.lower() for word in ("x", "inputs", "images", "data"))
        arrays[key] = np.full((6, 4), number, np.float32) if is_inputs else CLASSES
    data = fd.load(save(tmp_path / "d.npz", **arrays), split=split, normalise=False)
    assert set(whole(data)[0].flatten().tolist()) == {keys.index(chosen)}
    assert whole(data)[1].tolist() == CLASSES.tolist()


def test_test_split_follows_its_training_split(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 4)).astype(np.float32)
    path = save(tmp_path / "d.npz", x_train=x, y_train=CLASSES, x_test=x + 100, y_test=np.array([1] * 6))
    train, test = fd.load(path), fd.load(path, split="test")
    assert test.statistics == train.statistics
    assert test.task.outputs == 3
    assert (train.name, test.name) == ("d.npz/train", "d.npz/test")


def test_fortran_order_is_honoured(tmp_path: Path) -> None:
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    path = save(tmp_path / "f.npz", x=np.asfortranarray(x), y=CLASSES)
    assert torch.equal(whole(fd.load(path))[0], torch.from_numpy(x))


def npy(header: str, body: bytes) -> bytes:
    text = header.encode() + b" " * 20 + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


@pytest.mark.parametrize(
    ("header", "body", "message"),
    [
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (6, 4), }", b"\0" * 95, "should hold 96 bytes"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (6, 4), }", b"\0" * 97, "should hold 96 bytes"),
        ("{'descr': '|u1', 'fortran_order': False, 'shape': (6, 9999999999999), }", b"", "GiB"),
        ("{'descr': '|O', 'fortran_order': False, 'shape': (6,), }", b"", "pickle, which is never loaded"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': __import__('os'), }", b"", "cannot be read as an .npz"),
        ("not a header", b"", "cannot be read as an .npz"),
    ],
)
def test_damaged_arrays_are_refused_by_their_header(header: str, body: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", npy(header, body))
        archive.writestr("y.npy", npy("{'descr': '<i8', 'fortran_order': False, 'shape': (6,), }", CLASSES.tobytes()))
    with pytest.raises(DataError, match=message) as caught:
        fd.load(path)
    assert "bad.npz" in str(caught.value)


def test_a_pickled_array_is_refused_and_never_runs(tmp_path: Path) -> None:
    marker = tmp_path / "ran"

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (marker,)

    path = tmp_path / "trap.npz"
    np.savez(path, x=np.array([[Trap()]] * 6, dtype=object), y=CLASSES)
    assert pickle.dumps(Trap())
    with pytest.raises(DataError, match=r"trap\.npz.*pickle, which is never loaded"):
        fd.load(path)
    assert not marker.exists()


@pytest.mark.parametrize("cut", [0, 1, 50, 200])
def test_truncated_and_foreign_files_are_one_clear_error(cut: int, tmp_path: Path) -> None:
    whole_file = io.BytesIO()
    np.savez_compressed(whole_file, x=np.random.default_rng(0).normal(size=(6, 40)), y=CLASSES)
    path = tmp_path / "cut.npz"
    path.write_bytes(whole_file.getvalue()[:cut])
    with pytest.raises(DataError, match=r"cut\.npz: cannot be read as an \.npz file"):
        fd.load(path)


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    path = save(tmp_path / "bit.npz", x=np.random.default_rng(0).normal(size=(6, 40)), y=CLASSES)
    content = bytearray(path.read_bytes())
    content[400] ^= 16
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"bit\.npz"):
        fd.load(path)


def test_missing_keys_are_listed(tmp_path: Path) -> None:
    path = save(tmp_path / "k.npz", first=np.zeros((6, 3)), x_test=np.zeros((6, 3)), y_test=CLASSES)
    with pytest.raises(DataError, match=r"k\.npz: no inputs among the keys first, x_test, y_test; expected .*x/y"):
        fd.load(path)
    with pytest.raises(DataError, match="no split 'val'"):
        fd.load(path, split="val")
    assert len(fd.load(path, split="test")) == 6


# -- the real files


def test_real_cifar_subset(image_files: Path) -> None:
    data = fd.load(image_files / "cifar10_6k.npz")
    assert (len(data), data.task) == (6000, Task((3, 32, 32), 10))
    # The published per-channel moments of CIFAR-10's training images.
    assert data.statistics.mean == pytest.approx((0.4914, 0.4822, 0.4465), abs=0.01)
    assert data.statistics.std == pytest.approx((0.2470, 0.2435, 0.2616), abs=0.01)
    batch = data.batch(500, seed=1)
    assert isinstance(batch.inputs, Tensor)
    assert abs(batch.inputs.mean()) < 0.1
    assert batch.labels is not None
    assert set(batch.labels.tolist()) == set(range(10))
    with np.load(image_files / "cifar10_6k.npz", allow_pickle=False) as file:
        expected = torch.from_numpy(file["x_train"][17]).permute(2, 0, 1).float() / 255
    assert torch.equal(data.read(torch.tensor([17])).parts[0][0], expected)


def test_real_mnist_subset(image_files: Path) -> None:
    assert fd.load(image_files / "mnist_5k.npz").task == Task((1, 28, 28), 10)
    data = fd.load(image_files / "mnist_5k.npz", split="test", task=Task((3, 32, 32), 10))
    assert (len(data), data.batch(3).parts[0].shape) == (1000, (3, 3, 32, 32))


def test_a_real_file_without_images_is_refused(image_files: Path) -> None:
    with pytest.raises(DataError, match=r"nb201_splits\.npz: no inputs among the keys"):
        fd.load(image_files / "nb201_splits.npz")


# -- the suite


class TestFile(DataSuite):
    """The test split of a file, as its training split is normalised."""

    @pytest.fixture(autouse=True)
    def _file(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        x, y = rng.normal(size=(2, 13, 3)), np.arange(13) % 2
        self.path = save(tmp_path / "d.npz", x_train=x[0], y_train=y, x_test=x[1], y_test=y)

    def data(self) -> fd.Data:
        return fd.load(self.path, split="test")

    def others(self) -> list[fd.Data]:
        return [fd.load(self.path), fd.load(self.path, split="test", normalise=False)]


class TestClicksFile(DataSuite):
    @pytest.fixture(autouse=True)
    def _file(self, tmp_path: Path) -> None:
        self.path = save(tmp_path / "clicks.npz", **clicks(13))

    def data(self) -> fd.Data:
        return fd.load(self.path)


# -- click logs


def clicks(count: int, seed: int = 0, values: tuple[int, ...] = (5, 9)) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    sparse = np.stack([rng.integers(0, top, count) for top in values], 1)
    return {"dense": rng.normal(size=(count, 3)), "sparse": sparse, "labels": rng.integers(0, 2, count)}


def test_dense_and_sparse_are_a_click_log(tmp_path: Path) -> None:
    arrays = clicks(50)
    data = fd.load(save(tmp_path / "c.npz", **arrays), normalise=False)
    assert isinstance(data, fd.Features)
    assert (data.name, data.splits, data.task) == ("c.npz", (), Task((3,), 1, vocabularies=(5, 9)))
    batch = data.read(torch.arange(50))
    np.testing.assert_array_equal(batch.parts[0].numpy(), arrays["dense"].astype(np.float32))
    np.testing.assert_array_equal(batch.parts[1].numpy(), arrays["sparse"])
    assert batch.labels is not None
    np.testing.assert_array_equal(batch.labels[:, 0].numpy(), arrays["labels"])


def test_a_file_may_state_its_vocabularies(tmp_path: Path) -> None:
    arrays = clicks(50)
    stated = save(tmp_path / "c.npz", vocabularies=np.array([100, 9]), **arrays)
    assert fd.load(stated).task.vocabularies == (100, 9)
    few = save(tmp_path / "few.npz", vocabularies=np.array([4, 9]), **arrays)
    with pytest.raises(DataError, match=r"few\.npz: sparse feature 0 has the value 4 in row \d+; expected 0 to 3"):
        fd.load(few)
    for senseless in (np.array([0, 9]), np.array([5.5, 9]), np.array(5)):
        bad = save(tmp_path / "bad.npz", vocabularies=senseless, **arrays)
        with pytest.raises(DataError, match=r"bad\.npz: vocabularies: expected one whole number"):
            fd.load(bad)


def test_splits_of_a_click_log_share_vocabularies_and_statistics(tmp_path: Path) -> None:
    train, test = clicks(40), clicks(20, seed=1, values=(7, 2))
    arrays = {f"{key}_train": value for key, value in train.items()} | {f"test_{key}": v for key, v in test.items()}
    path = save(tmp_path / "c.npz", **arrays)
    data, held = fd.load(path), fd.load(path, split="test")
    assert data.splits == held.splits == ("train", "test")
    assert (len(data), len(held)) == (40, 20)
    assert data.task == held.task == Task((3,), 1, vocabularies=(7, 9))
    assert data.statistics == held.statistics


def test_inputs_win_over_features_as_ever(tmp_path: Path) -> None:
    path = save(tmp_path / "both.npz", x=np.zeros((50, 2)), **clicks(50))
    assert isinstance(fd.load(path), fd.Arrays)


def test_unequal_numbers_of_features_are_named(tmp_path: Path) -> None:
    train, test = clicks(40), clicks(20, values=(5,))
    arrays = {f"{key}_train": value for key, value in train.items()} | {f"{key}_test": v for key, v in test.items()}
    with pytest.raises(DataError, match="different numbers of sparse features"):
        fd.load(save(tmp_path / "c.npz", **arrays))


# -- memory ---------------------------------------------------------------------------------------------------------------
MEGA = 2**20
STATUS = Path("/proc/self/status")
PEAK = """
import sys
import foresee.data as fd

def peak():  # of this process alone; what `resource` says begins with the peak of whoever started it
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

fd.load("synthetic").batch(2)
before = peak()
data = fd.load(sys.argv[1])
data.fingerprint, data.batch(8), data.statistics
print(peak() - before)
"""


@pytest.mark.skipif(not STATUS.exists(), reason="this system does not tell the peak of a process")
@pytest.mark.parametrize(
    "arrays",
    [
        {"x": np.zeros((32 * MEGA // 768, 3, 16, 16), np.bool_)},
        {"x": np.zeros((128 * MEGA // 3072, 32, 32, 3), np.uint8)},
        {"x": np.zeros((1024, 4), np.uint8), "y": np.zeros((1024, 128 * 1024), np.uint8)},
        {
            "dense": np.zeros((8 * MEGA, 1), np.float16),
            "sparse": np.zeros((8 * MEGA, 14), np.uint8),
        },
    ],
    ids=["bool", "uint8", "labels", "sparse"],
)
def test_a_file_takes_what_it_unpacks_to_and_a_little_more(arrays: dict[str, Any], tmp_path: Path) -> None:
    content = sum(array.nbytes for array in arrays.values())
    if not {"y", "dense"} & arrays.keys():
        arrays = {**arrays, "y": np.arange(len(arrays["x"])) % 2}
    if "dense" in arrays:
        arrays = {**arrays, "labels": (np.arange(len(arrays["dense"])) % 2).astype(np.uint8)}
    path = save(tmp_path / "zeros.npz", **arrays)
    assert path.stat().st_size < content / 100
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert int(done.stdout) * 1024 < 2 * content + 64 * MEGA


def test_one_sample_is_not_the_whole_memory(tmp_path: Path) -> None:
    path = save(tmp_path / "d.npz", x=np.zeros((2, 3, 4096, 4096), np.uint8), y=np.array([0, 1]))
    with pytest.raises(DataError, match="50,331,648 numbers in one sample; at most 33,554,432"):
        fd.load(path)
    path = save(tmp_path / "d.npz", x=np.zeros((2, 2**20 + 1), np.uint8), y=np.array([0, 1]))
    with pytest.raises(DataError, match="1,048,577 channels or features; at most 1,048,576"):
        fd.load(path)


def test_the_bound_is_on_all_that_is_read_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.zeros((6, 100), np.float64), CLASSES
    path = save(tmp_path / "d.npz", x_train=x, y_train=y, x_test=x, y_test=y, notes=np.zeros(10**6))
    monkeypatch.setattr("foresee.data.npz.MAX_BYTES", x.nbytes + y.nbytes)
    assert len(fd.load(path)) == 6  # what is not read does not count
    with pytest.raises(DataError, match=r"_test needs .* are read of a file"):
        fd.load(path, split="test")


def test_an_array_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dense, sparse = np.zeros((6, 2)), np.zeros((6, 3), np.uint8)
    path = save(tmp_path / "d.npz", dense=dense, sparse=sparse, labels=np.array([0, 1] * 3))
    opened: list[str] = []
    was = zipfile.ZipFile.open

    def noted(self: zipfile.ZipFile, info: Any, *rest: Any) -> Any:
        opened.append(info.filename)
        return was(self, info, *rest)

    monkeypatch.setattr(zipfile.ZipFile, "open", noted)
    assert len(fd.load(path)) == 6
    assert sorted(opened) == ["dense.npy", "labels.npy", "sparse.npy"]
