from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

import foresee.data as fd
from foresee.data import Images, folders
from foresee.errors import DataError, InputError, MissingExtraError
from foresee.task import Task
from foresee.testing import DataSuite

COLOURS = {"cat": (255, 0, 0), "dog": (0, 255, 0), "emu": (0, 0, 255)}


def paint(path: Path, colour: tuple[int, int, int] | int, size: tuple[int, int] = (10, 6), mode: str = "RGB") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(path)


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Three classes, two images each, of different sizes and types; and things to be passed over."""
    folder = tmp_path / "pictures"
    for name, colour in COLOURS.items():
        paint(folder / name / "b.png", colour)
        paint(folder / name / "deeper" / "a.BMP", colour, (20, 33))
        (folder / name / "notes.txt").write_text("no image")
        (folder / name / ".hidden.png").write_text("no image")
    (folder / ".cache").mkdir()
    (folder / "README").write_text("no class")
    return folder


def tensors(data: fd.Data) -> tuple[Tensor, list[int]]:
    batch = data.read(torch.arange(len(data)))
    assert isinstance(batch.inputs, Tensor)
    assert batch.labels is not None
    return batch.inputs, batch.labels.tolist()


def test_classes_are_folders_in_sorted_order(pictures: Path) -> None:
    data = fd.load(pictures)
    assert isinstance(data, Images)
    assert (data.name, len(data), data.task, data.classes) == (
        "pictures",
        6,
        Task((3, 32, 32), 3),
        ("cat", "dog", "emu"),
    )
    inputs, labels = tensors(data)
    assert labels == [0, 0, 1, 1, 2, 2]
    assert inputs.dtype == torch.float32
    for image, label in zip(inputs, labels, strict=True):
        expected = torch.tensor(list(COLOURS.values())[label]) / 255
        torch.testing.assert_close(image, expected.view(3, 1, 1).expand(3, 32, 32))


def test_sizes_and_channels(pictures: Path) -> None:
    assert fd.load(pictures, resize=(5, 9)).batch(2).parts[0].shape == (2, 3, 5, 9)
    grey = fd.load(pictures, task=Task((1, 4, 4), 8), normalise=False)
    assert grey.task.outputs == 8
    # Luma of pure red, green, blue.
    assert tensors(grey)[0][::2, 0, 0, 0].tolist() == pytest.approx([0.299, 0.587, 0.114], abs=0.005)
    with pytest.raises(InputError, match="2x4x4: images give 1 or 3 channels"):
        fd.load(pictures, task=Task((2, 4, 4), 3))
    with pytest.raises(DataError, match="3 classes, but the task has 2 outputs"):
        fd.load(pictures, task=Task((3, 4, 4), 2))


def test_rows_and_columns_are_not_swapped(tmp_path: Path) -> None:
    pixels = np.zeros((4, 6, 3), np.uint8)
    pixels[0, :, 0] = 255  # the top row is red
    (tmp_path / "a").mkdir()
    Image.fromarray(pixels).save(tmp_path / "a" / "x.png")
    inputs, _ = tensors(fd.load(tmp_path, resize=(4, 6), normalise=False))
    assert torch.equal(inputs[0], torch.from_numpy(pixels).permute(2, 0, 1) / 255)


def test_sixteen_bits_are_scaled_not_cut(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    Image.fromarray(np.full((4, 4), 32768, np.uint16)).save(tmp_path / "a" / "x.png")
    assert set(tensors(fd.load(tmp_path, resize=4))[0].flatten().tolist()) == {float(np.float32(128) / np.float32(255))}


def test_fractional_pixels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    Image.fromarray(np.full((4, 4), 0.5, np.float32)).save(tmp_path / "a" / "x.tiff")
    with pytest.raises(DataError, match=r"x\.tiff: pixels are fractions"):
        fd.load(tmp_path).batch(1)


def test_transparent_and_palette_images_are_read(tmp_path: Path) -> None:
    paint(tmp_path / "a" / "x.png", (255, 0, 0, 255), mode="RGBA")  # type: ignore[arg-type]
    (tmp_path / "a" / "p.gif").parent.mkdir(exist_ok=True)
    Image.new("RGB", (5, 5), (255, 0, 0)).convert("P").save(tmp_path / "a" / "p.gif")
    assert tensors(fd.load(tmp_path))[0][:, 0].min() > 0.95


def test_only_the_needed_images_are_read(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    decode = folders._decode

    def count(path: Path, **how: Any) -> Tensor:
        read.append(path)
        return decode(path, **how)

    monkeypatch.setattr(folders, "_decode", count)
    data = fd.load(pictures, normalise=False)
    assert data.fingerprint
    assert read == []
    data.batch(2)
    assert len(read) == 2
    data = fd.load(pictures)
    data.statistics_samples = 3
    read.clear()
    data.batch(2)
    data.batch(2, index=1)
    assert len(read) == 3 + 2 + 2


def test_splits(pictures: Path, tmp_path: Path) -> None:
    root = tmp_path / "set"
    for name, colour in COLOURS.items():
        paint(root / "train" / name / "1.png", colour)
    paint(root / "Val" / "emu" / "2.png", (9, 9, 9))
    train, val = fd.load(root), fd.load(root, split="validation")
    assert (train.name, val.name, len(train), len(val)) == ("set/train", "set/Val", 3, 1)
    assert tensors(val)[1] == [2]  # the label of the training split, not 0
    assert (val.task.outputs, val.statistics) == (3, train.statistics)
    with pytest.raises(DataError, match="no split 'test'; there is train, val"):
        fd.load(root, split="test")
    with pytest.raises(DataError, match="no split 'train'; there is none"):
        fd.load(pictures, split="train")
    paint(root / "Val" / "yak" / "3.png", (9, 9, 9))
    with pytest.raises(DataError, match="yak: a class that the training split does not have"):
        fd.load(root, split="val")


def test_the_centre_is_what_imagenet_evaluates(tmp_path: Path) -> None:
    """The shorter side to 256/224 of the size and the centre cut out, in two steps of Pillow's."""
    levels = np.random.default_rng(0).integers(0, 256, (9, 14, 3), dtype=np.uint8).repeat(32, 0).repeat(32, 1)
    (tmp_path / "a").mkdir()
    Image.fromarray(levels).save(tmp_path / "a" / "x.png")
    inputs, _ = tensors(fd.load(tmp_path, resize=56, fit="centre"))
    shrunk = Image.fromarray(levels).resize((round(64 * 14 / 9), 64), Image.Resampling.BILINEAR)
    left, top = (shrunk.width - 56) // 2, 4
    expected = np.asarray(shrunk, np.float32)[top : top + 56, left : left + 56] / 255
    # The two differ by half a pixel at most, where colours meet.
    assert (inputs[0].permute(1, 2, 0).numpy() - expected).__abs__().mean() < 0.03
    stretched, _ = tensors(fd.load(tmp_path, resize=56))
    assert (stretched - inputs).abs().mean() > 0.1
    assert fd.load(tmp_path, fit="centre").fingerprint != fd.load(tmp_path).fingerprint
    with pytest.raises(InputError, match="unknown fit 'center': did you mean centre"):
        fd.load(tmp_path, fit="center")  # type: ignore[arg-type]


def test_threads_change_nothing(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together = tensors(fd.load(pictures))
    monkeypatch.setattr(folders, "THREADS", 1)
    alone = tensors(fd.load(pictures))
    assert torch.equal(together[0], alone[0])
    assert together[1] == alone[1]


def test_empty_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected one folder per class"):
        fd.load(tmp_path)
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "x.txt").write_text("")
    with pytest.raises(DataError, match=r"cat: no images inside; expected files ending in \.png"):
        fd.load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not an image", b"\x89PNG\r\n\x1a\n" + b"\0" * 40])
def test_unreadable_images_are_named(pictures: Path, content: bytes) -> None:
    (pictures / "dog" / "z.png").write_bytes(content)
    with pytest.raises(DataError, match=r"z\.png: cannot be read as an image"):
        fd.load(pictures).batch(7)


def test_a_truncated_image_is_named(pictures: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    path = pictures / "cat" / "t.jpg"
    Image.fromarray(noise).save(path)
    path.write_bytes(path.read_bytes()[:600])
    with pytest.raises(DataError, match=r"t\.jpg: cannot be read"):
        fd.load(pictures).batch(7)


def test_other_formats_under_an_image_name_are_refused(pictures: Path) -> None:
    Image.new("RGB", (32, 32)).save(pictures / "cat" / "e.png", format="ICO")  # Pillow could read it
    with pytest.raises(DataError, match=r"e\.png: cannot be read"):
        fd.load(pictures).batch(7)


def bomb(width: int, height: int) -> bytes:
    """A PNG that claims a huge size in a few bytes."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(8001, 8000), (60_000, 60_000)])
def test_decompression_bombs_are_refused(tmp_path: Path, size: tuple[int, int]) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "bomb.png").write_bytes(bomb(*size))
    with pytest.raises(DataError, match=r"bomb\.png.*pixels"):
        fd.load(tmp_path).batch(1)


def test_fingerprint_is_of_names_and_sizes(pictures: Path, tmp_path: Path) -> None:
    before = fd.load(pictures).fingerprint
    moved = tmp_path / "elsewhere"
    pictures.rename(moved)
    assert fd.load(moved).fingerprint == before
    assert fd.load(moved, resize=8).fingerprint != before
    paint(moved / "cat" / "new.png", (1, 2, 3))
    assert fd.load(moved).fingerprint != before


def test_pillow_is_an_extra(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(library: str) -> None:
        raise ImportError(f"No module named {library!r}")

    monkeypatch.setattr("foresee.extras.importlib.import_module", missing)
    with pytest.raises(MissingExtraError, match=r"foresee\[images\]"):
        fd.load(pictures)


class TestFolder(DataSuite):
    @pytest.fixture(autouse=True)
    def _pictures(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "own"
        for number in range(11):
            paint(self.folder / "test" / ("odd" if number % 2 else "even") / f"{number}.png", (20 * number, 99, 7))
        for name in ("even", "odd"):
            paint(self.folder / "train" / name / "x.png", (200, 0, 50))

    def data(self) -> fd.Data:
        return fd.load(self.folder, resize=5, split="test")

    def others(self) -> list[fd.Data]:
        return [fd.load(self.folder, resize=5), fd.load(self.folder, resize=6, split="test")]

    def test_its_own_splits_are_named(self) -> None:
        assert fd.load(self.folder).splits == ("train", "test")
        assert fd.load(self.folder / "test").splits == ()
