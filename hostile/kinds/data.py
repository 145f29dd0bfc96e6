"""Data is handed out in finite batches, the same twice, or refused in one line; nothing in a file is run.

`.npz` files, image folders and CIFAR files: damaged, truncated, of wrong shapes and types, huge when unpacked, with code.
"""

from __future__ import annotations

import gzip
import io
import pickle
import random
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from foresee.data import load
from foresee.data.cifar import IMAGE, VERSIONS
from foresee.testing.samples import samples
from hostile import damage
from hostile.canary import Canary
from hostile.promises import or_refused

SECONDS = 120.0
MEBIBYTES = 2048
SETS_PER_CASE = 10


def case(rng: random.Random, folder: Path) -> None:
    """Some data sets, each loaded twice."""
    (folder / "mine").mkdir()
    canary = Canary(folder / "mine")
    for number in range(SETS_PER_CASE):
        path = rng.choice([_npz, _npz, _images, _cifar])(rng, folder / f"data{number}", canary)
        _load_twice(path, rng.choice([None, None, "train", "test"]))
        canary.check(f"by loading {path.name}")


def _load_twice(path: Path, split: str | None) -> None:
    found = []
    for _ in range(2):
        with or_refused(path.name):
            batch = load(path, split=split).batch(4, seed=1)
            found.append(batch)
            for part in batch.parts:
                fine = not part.is_floating_point() or bool(torch.isfinite(part).all())
                assert fine, f"{path.name}: a batch with numbers that are none"
    assert len(found) in (0, 2), f"{path.name}: read once, and refused the other time"
    if found:
        assert samples(found[:1]) == samples(found[1:]), f"{path.name}: two batches differ"


# -- npz ------------------------------------------------------------------------------------------------------------------
def _npz(rng: random.Random, path: Path, canary: Canary) -> Path:
    """Arrays of right and wrong types and shapes; objects with code in them; zeros that unpack to much."""
    whole, numbers = path.with_suffix(".npz"), np.random.default_rng(rng.randrange(2**32))
    many = rng.choice([1, 2, 8, 40])
    arrays: dict[str, Any] = {
        rng.choice(["x", "inputs", "images", "x_train", "dense"]): _array(rng, numbers, many),
        rng.choice(["y", "labels", "y_train", "sparse", "targets"]): numbers.integers(0, 3, many),
    }
    for _ in range(rng.choice([0, 0, 1, 2])):
        arrays[rng.choice(["x", "y", "x_test", "sparse", "labels", "vocabularies"])] = _array(rng, numbers, many)
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=True)
            content = member.getvalue()
            if rng.random() < 0.1:
                content = content[:128] + canary.pickle()
            if rng.random() < 0.15:
                content = damage.content(rng, content, 2)
            archive.writestr(f"{name}.npy", content)
    if rng.random() < 0.3:
        whole.write_bytes(damage.content(rng, whole.read_bytes()))
    return whole


def _array(rng: random.Random, numbers: np.random.Generator, many: int) -> Any:
    shape = rng.choice([(many, 3, 8, 8), (many, 8, 8), (many, 5), (many,), (), (0, 3, 8, 8), (many, 0), (many + 1, 4)])
    array = numbers.normal(size=shape)
    draw = rng.random()
    if draw < 0.5:
        return array.astype(rng.choice(["f4", "f8", "f2", "u1", "i8", "i2", ">f4", ">i4", "?"]))
    if draw < 0.6:
        return array.astype(rng.choice(["c16", "S3", "U2", "M8[s]"]))
    if draw < 0.7 and array.size:
        array.flat[rng.randrange(array.size)] = rng.choice([np.nan, np.inf, 1.7e308])
        return array
    if draw < 0.75:
        return np.zeros((25, 2**20), np.uint8)  # 25 MiB that pack to some KiB
    if draw < 0.85:
        return np.array([{"a": 1}, open, None], dtype=object)
    return np.asfortranarray(array)


# -- image folders --------------------------------------------------------------------------------------------------------
def _images(rng: random.Random, path: Path, canary: Canary) -> Path:
    """Class folders with images, damaged ones, other files under an image's name, links in a circle."""
    places = rng.choice([[""], ["train/", "test/"], ["train/"], ["test/"]])
    for place in places:
        for kind in rng.choice([["cat", "dog"], ["cat"], ["a b", "<b>"], ["cat", "leer"]]):
            folder = path / place / kind
            folder.mkdir(parents=True)
            if kind != "leer":
                for number in range(rng.choice([1, 1, 3])):
                    name, content = _image(rng, canary)
                    (folder / f"{number}{name}").write_bytes(content)
    if rng.random() < 0.1:
        (path / "circle").symlink_to(path)
    return path


def _image(rng: random.Random, canary: Canary) -> tuple[str, bytes]:
    from PIL import Image

    end, form = rng.choice([(".png", "PNG"), (".jpg", "JPEG"), (".gif", "GIF"), (".bmp", "BMP"), (".webp", "WEBP")])
    size = rng.choice([(1, 1), (8, 8), (33, 17), (1, 500)])
    file = io.BytesIO()
    Image.new("RGB", size, rng.choice(["red", "white", "black"])).save(file, form)
    content = file.getvalue()
    draw = rng.random()
    if draw < 0.3:
        content = damage.content(rng, content)
    elif draw < 0.4:
        content = canary.pickle()
    elif draw < 0.5:  # a header that promises more pixels than there is memory
        content = content.replace(size[0].to_bytes(4, "big"), (2**30).to_bytes(4, "big"), 1)
    return end, content


# -- CIFAR ----------------------------------------------------------------------------------------------------------------
def _cifar(rng: random.Random, path: Path, canary: Canary) -> Path:
    """One of the published forms with a few images in each file: whole, damaged, with code, in an archive perhaps."""
    version = rng.choice(VERSIONS)
    folder = path / version.folder
    folder.mkdir(parents=True)
    for name in version.files:
        if rng.random() < 0.03:
            continue
        (folder / name).write_bytes(_cifar_file(rng, version, canary))
    if rng.random() < 0.3:
        packed = path.with_suffix(rng.choice([".tar", ".tar.gz"]))
        with tarfile.open(packed, "w:gz" if packed.suffix == ".gz" else "w") as archive:
            archive.add(folder, version.folder)
        content = packed.read_bytes()
        packed.write_bytes(damage.content(rng, content) if rng.random() < 0.5 else content)
        return packed
    return rng.choice([path, folder, folder / rng.choice(version.files)])


def _cifar_file(rng: random.Random, version: Any, canary: Canary) -> bytes:
    many = rng.choice([1, 3])
    labels = [rng.randrange(version.classes) for _ in range(many)]
    pixels = rng.randbytes(many * IMAGE)
    if version.binary:
        heading = b"\0" if version.name == "cifar100" else b""
        records = (
            heading + bytes([label]) + pixels[place * IMAGE : (place + 1) * IMAGE] for place, label in enumerate(labels)
        )
        content = b"".join(records)
    else:
        plain: dict[Any, Any] = {
            b"data": np.frombuffer(pixels, np.uint8).reshape(many, IMAGE),
            b"labels" if version.name == "cifar10" else b"fine_labels": labels,
        }
        content = pickle.dumps(plain, rng.choice([2, 3, 4]))
        if rng.random() < 0.1:
            content = canary.pickle(2, inside=lambda bomb: {**plain, b"more": bomb})
    draw = rng.random()
    if draw < 0.08:
        return damage.content(rng, content)
    return gzip.compress(content) if draw < 0.1 else content
