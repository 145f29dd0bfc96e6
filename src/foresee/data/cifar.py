"""CIFAR-10 and CIFAR-100 as they are published: binary or python files, in a folder or still in their archive.

The python files are pickles, and are read without running anything of them (`pickled.py`). Archives are read in one pass
without writing to disk; only members with the published names are looked at.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from foresee.data.arrays import Arrays
from foresee.data.held import Array
from foresee.data.loading import Format, Wanted, formats, one_split, reading
from foresee.data.pickled import images_and_labels
from foresee.errors import DataError

IMAGE = 3 * 32 * 32
#: the largest published file is 155 MB, the largest archive unpacks to 187 MB
MAX_FILE_BYTES = 2**28
MAX_ARCHIVE_BYTES = 2**29


@dataclass(frozen=True)
class Version:
    """One of the four published forms: its folder and the files of each split."""

    name: str
    folder: str
    classes: int
    train: tuple[str, ...]
    test: tuple[str, ...]
    binary: bool

    @property
    def files(self) -> tuple[str, ...]:
        """All files that hold images."""
        return self.train + self.test


_BATCHES = tuple(f"data_batch_{number}" for number in range(1, 6))
VERSIONS = (
    Version("cifar10", "cifar-10-batches-py", 10, _BATCHES, ("test_batch",), binary=False),
    Version(
        "cifar10", "cifar-10-batches-bin", 10, tuple(f"{b}.bin" for b in _BATCHES), ("test_batch.bin",), binary=True
    ),
    Version("cifar100", "cifar-100-python", 100, ("train",), ("test",), binary=False),
    Version("cifar100", "cifar-100-binary", 100, ("train.bin",), ("test.bin",), binary=True),
)
_EXPECTS = f"CIFAR files, a folder or an archive of them ({', '.join(v.folder for v in VERSIONS)})"

Files = dict[str, Callable[[], bytes]]


def read_cifar(path: Path, wanted: Wanted) -> Arrays:
    """CIFAR-10 or CIFAR-100 (fine labels) from a folder, an archive or a single file. Splits: train and test."""
    version, files = _open(path)
    if path.is_file() and path.name in version.files:
        return _single(path, version, files, wanted)
    split = wanted.split or "train"
    parts = {"train": version.train, "test": version.test}
    if split not in parts:
        raise DataError(f"{path}: {version.name} has the splits train and test, not {split!r}")

    def make(part: str, like: Arrays | None) -> Arrays:
        images, labels = _read_all(path, version, parts[part], files)
        return Arrays(images, labels, name=f"{version.name}/{part}", outputs=version.classes, wanted=wanted, like=like)

    return one_split(split, [part for part, names in parts.items() if set(names) <= set(files)], make)


def _single(path: Path, version: Version, files: Files, wanted: Wanted) -> Arrays:
    part = "train" if path.name in version.train else "test"
    if wanted.split not in (None, part):
        raise DataError(f"{path}: this one file belongs to the {part} split, not to {wanted.split}; give the folder")
    images, labels = _read_all(path.parent, version, (path.name,), files)
    return Arrays(images, labels, name=f"{version.name}/{path.name}", outputs=version.classes, wanted=wanted)


def _read_all(place: Path, version: Version, names: tuple[str, ...], files: Files) -> tuple[Array, Array]:
    missing = [name for name in names if name not in files]
    if missing:
        raise DataError(f"{place}: {', '.join(missing)} missing; {version.name} needs {', '.join(names)}")
    parse = _parse_binary if version.binary else _parse_python
    parts = []
    for name in names:
        with reading(place / name, f"a file of {version.folder}"):
            images, labels = parse(files[name](), version)
            wrong = (labels < 0) | (labels >= version.classes)
            if wrong.any():
                at = int(wrong.argmax())
                raise ValueError(f"image {at} has label {labels[at]}, expected 0 to {version.classes - 1}")
            parts.append((images, labels))
    images, labels = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return images.reshape(-1, 3, 32, 32), labels


# -- the two file formats


def _parse_binary(content: bytes, version: Version) -> tuple[Array, Array]:
    """Records of label bytes (CIFAR-100: coarse, then fine) and 3,072 pixel bytes."""
    heading = 1 if version.name == "cifar10" else 2
    if not content or len(content) % (heading + IMAGE):
        raise ValueError(
            f"{len(content)} bytes are not whole records of {heading + IMAGE}: cut short, or another format"
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, heading + IMAGE)
    return records[:, heading:], records[:, heading - 1].astype(np.int64)


def _parse_python(content: bytes, version: Version) -> tuple[Array, Array]:
    """A pickled dictionary with `data`, (n, 3072) bytes, and a list of labels."""
    return images_and_labels(content, "labels" if version.name == "cifar10" else "fine_labels", IMAGE)


# -- folders, archives, single files


def _open(path: Path) -> tuple[Version, Files]:
    """The published form found at `path`, and how to get each of its files."""
    if path.is_file() and not _is_archive(path):
        version = next(v for v in VERSIONS if path.name in v.files)
        return version, {path.name: partial(_read_file, path)}
    if path.is_file():
        with reading(path, _EXPECTS):
            contents = _read_archive(path)
        found = _identify(contents)
        if len(found) != 1:
            raise DataError(f"{path}: expected an archive with one of {', '.join(v.folder for v in VERSIONS)}")
        (version,) = found
        members = {name: f"{version.folder}/{name}" for name in version.files}
        return version, {n: partial(contents.__getitem__, key) for n, key in members.items() if key in contents}
    folders = _folders(path)
    if len(folders) != 1:
        raise DataError(f"{path}: holds {' and '.join(v.folder for v in folders)}; name one of these folders")
    ((version, folder),) = folders.items()
    paths = {name: folder / name for name in version.files}
    return version, {name: partial(_read_file, file) for name, file in paths.items() if file.is_file()}


def _identify(members: Iterable[str]) -> list[Version]:
    return [v for v in VERSIONS if any(f"{v.folder}/{name}" in members for name in v.files)]


def _folders(path: Path) -> dict[Version, Path]:
    """The published forms in a folder: itself, or the published folders inside it."""
    return {
        version: folder
        for version in VERSIONS
        for folder in (path / version.folder, path)
        if any((folder / name).is_file() for name in version.files)
    }


def _is_archive(path: Path) -> bool:
    return path.name.lower().endswith((".tar.gz", ".tgz", ".tar"))


def _recognises(path: Path) -> bool:
    if path.is_file():
        return _is_archive(path) or any(path.name in version.files for version in VERSIONS)
    return path.is_dir() and bool(_folders(path))


def _read_file(path: Path) -> bytes:
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise ValueError(f"{size} bytes; no CIFAR file has more than {MAX_FILE_BYTES}")
    return path.read_bytes()


class _Capped(io.RawIOBase):
    """A stream that refuses to give more than any published archive holds, whatever it unpacks to."""

    def __init__(self, stream: BinaryIO | gzip.GzipFile) -> None:
        super().__init__()
        self._stream, self._left = stream, MAX_ARCHIVE_BYTES

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes."""
        content = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise ValueError(f"it unpacks to more than {MAX_ARCHIVE_BYTES} bytes; no CIFAR archive does")
        return content


def _read_archive(path: Path) -> dict[str, bytes]:
    """The contents of the members with published names."""
    expected = {f"{version.folder}/{name}" for version in VERSIONS for name in version.files}
    contents: dict[str, bytes] = {}
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        stream = _Capped(gzip.GzipFile(fileobj=raw) if packed else raw)
        with tarfile.open(fileobj=stream, mode="r|", bufsize=2**20) as archive:
            for member in archive:
                name = member.name.removeprefix("./")
                if name not in expected or not member.isfile():
                    continue
                file = archive.extractfile(member)
                if file is None or name in contents:
                    raise ValueError(f"the member {name} comes twice or has no content")
                contents[name] = file.read()
                if len(contents[name]) != member.size:
                    raise ValueError(f"the member {name} is cut short")
    return contents


CIFAR = Format("cifar", _EXPECTS, _recognises, read_cifar, precedence=10)
formats.add(CIFAR.name, CIFAR)
