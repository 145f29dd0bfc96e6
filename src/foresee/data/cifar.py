"""CIFAR-10 and CIFAR-100 as they are published: binary or python files, in a folder or still in their archive.

The python files are pickles, and a pickle can run anything. `_Reader` lets through only the few names that a pickled
array of bytes needs, and gives them stand-ins that do nothing but hold what they are handed: no code of the file's
choosing runs, not even numpy's. Archives are read in one pass without writing to disk; only members with the published
names are looked at.
"""

from __future__ import annotations

import gzip
import io
import pickle
import pickletools
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from foresee.data.arrays import Arrays
from foresee.data.held import Array
from foresee.data.loading import Format, Wanted, formats, one_split, reading
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
    found = _unpickle(content)
    if not isinstance(found, dict):
        raise ValueError(f"expected a dictionary, found {type(found).__name__}")
    entries = {key.decode("latin1") if isinstance(key, bytes) else key: value for key, value in found.items()}
    wanted = "labels" if version.name == "cifar10" else "fine_labels"
    if "data" not in entries or wanted not in entries:
        raise ValueError(f"expected the keys data and {wanted}, found {', '.join(sorted(map(str, entries)))}")
    data, labels = entries["data"], entries[wanted]
    if not isinstance(data, _Array):
        raise ValueError(f"data is a {type(data).__name__}, expected an array")
    images = data.unpack()
    if not isinstance(labels, list) or any(type(label) is not int for label in labels):
        raise ValueError(f"{wanted} must be a list of whole numbers")
    if len(labels) != len(images):
        raise ValueError(f"{len(images)} images but {len(labels)} labels")
    return images, np.array(labels, np.int64)


# -- pickles, disarmed


class _Array:
    """Stands in for a pickled numpy array: holds its state as plain values."""

    def __init__(self, shape: Any = None, dtype: Any = None, fortran: Any = False, content: Any = None) -> None:
        self.shape, self.dtype, self.fortran, self.content = shape, dtype, fortran, content

    def __setstate__(self, state: Any) -> None:
        _version, self.shape, self.dtype, self.fortran, self.content = state

    def unpack(self) -> Array:
        """The bytes as (n, 3072) uint8, or an error that says what they are instead."""
        kind = self.dtype.kind if isinstance(self.dtype, _DType) else None
        if kind not in ("u1", b"u1") or not isinstance(self.content, bytes | bytearray):
            raise ValueError(f"data has the type {kind!r}, expected bytes (u1)")
        shape = self.shape
        if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] != IMAGE or shape[0] < 1:
            raise ValueError(f"data has the shape {shape}, expected (n, {IMAGE}) with n at least 1")
        if len(self.content) != shape[0] * IMAGE:
            raise ValueError(f"data has {len(self.content)} bytes, expected {shape[0] * IMAGE}")
        return np.frombuffer(self.content, np.uint8).reshape(shape, order="F" if self.fortran else "C")


class _DType:
    """Stands in for a pickled numpy dtype: only its name matters here."""

    def __init__(self, kind: Any, *_: Any) -> None:
        self.kind = kind

    def __setstate__(self, state: Any) -> None:
        """Byte order, fields and flags mean nothing for single bytes."""


class _Reader(pickle.Unpickler):
    """Lets through the names that a pickled array of bytes uses, each as a stand-in, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """A stand-in, or a refusal that names what was asked for.

        The functions are made anew each time: a pickle may set attributes on what it finds, and these go with it.
        """
        match module, name:
            case (("numpy.core.multiarray" | "numpy._core.multiarray"), "_reconstruct"):
                return lambda *_: _Array()
            case (("numpy.core.numeric" | "numpy._core.numeric"), "_frombuffer"):
                return lambda content, dtype, shape, order, *_: _Array(shape, dtype, order == "F", content)
            case "numpy", "ndarray":
                return _Array
            case "numpy", "dtype":
                return _DType
            case "_codecs", "encode":
                return lambda text, encoding: _latin1(text, encoding)
        raise pickle.UnpicklingError(
            f"it asks for {module}.{name}, which such a file never needs; refused, nothing was run"
        )


def _latin1(text: Any, encoding: Any) -> bytes:
    """How Python 3 writes bytes into the protocols of Python 2."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError(
            f"it encodes a {type(text).__name__} as {encoding!r}; only text as latin1 is expected"
        )
    return text.encode("latin1")


def _unpickle(content: bytes) -> Any:
    # The memo is an array inside, numbered as it grows: a number far ahead would only serve to exhaust memory.
    for count, (opcode, argument, _) in enumerate(pickletools.genops(content)):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and isinstance(argument, int) and argument > count:
            raise ValueError(f"memo number {argument} after {count} steps: damaged")
    # The published files were written by Python 2: its texts are bytes.
    return _Reader(io.BytesIO(content), encoding="bytes").load()


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
