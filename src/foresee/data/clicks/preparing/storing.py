"""Arrays that are written row by row, and the files of a prepared folder: what is there is there whole."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.errors import DataError

FORMAT, VERSION = "foresee-clicks", 1
MANIFEST = "manifest.json"
#: the header of an .npy file takes so much, whatever it says
HEADER = 128


class Growing:
    """An .npy file that rows are added to; how many there are is written when it is closed.

    The digest is of the numbers, without the header.
    """

    def __init__(self, path: Path, kind: str, columns: int | None) -> None:
        self.path, self.kind, self.columns = path, np.dtype(kind), columns
        self.rows, self._digest = 0, hashlib.sha256()
        self._file = path.open("wb")
        self._file.write(self._header())

    def _header(self) -> bytes:
        shape = (self.rows,) if self.columns is None else (self.rows, self.columns)
        text = repr({"descr": self.kind.str, "fortran_order": False, "shape": shape}).encode()
        return b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little") + text.ljust(HEADER - 11) + b"\n"

    def add(self, rows: NDArray[Any]) -> None:
        """Some more rows."""
        content = np.ascontiguousarray(rows, self.kind)
        self._digest.update(content.data)
        self._file.write(content.data)
        self.rows += len(rows)

    def close(self) -> dict[str, Any]:
        """Write how many there are and wait for the disk; what a manifest says of the file."""
        self._file.seek(0)
        self._file.write(self._header())
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return {"sha256": self._digest.hexdigest(), "bytes": self.path.stat().st_size}


def manifest_of(folder: Path) -> dict[str, Any] | None:
    """What a prepared folder says of itself, checked; None where it is no such folder."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(plain, dict) or plain.get("format") != FORMAT:
            return None
        if plain["version"] != VERSION:
            raise DataError(f"{folder}: prepared by another version ({plain['version']}); prepare it again")
        for name, told in plain["files"].items():
            size = (folder / name).stat().st_size if (folder / name).is_file() else None
            if size != told["bytes"]:
                raise DataError(
                    f"{folder}: {name} has {size} bytes, the manifest says {told['bytes']}; prepare it again"
                )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{folder}: the manifest cannot be read ({type(error).__name__}: {error})") from error
    return plain


def check_whole(folder: Path) -> None:
    """Every number is the one that was written: all files are read, against their sha256."""
    found = manifest_of(folder)
    if found is None:
        raise DataError(f"{folder}: no folder of prepared click logs")
    for name, told in found["files"].items():
        total = hashlib.sha256()
        with (folder / name).open("rb") as file:
            file.seek(HEADER)
            while piece := file.read(2**20):
                total.update(piece)
        if total.hexdigest() != told["sha256"]:
            raise DataError(f"{folder}: {name} is damaged: not the numbers that were written; prepare it again")


@contextmanager
def only_one(work: Path) -> Iterator[bool]:
    """Hold a folder that is made if needed; whoever comes meanwhile waits. False where it was taken away meanwhile.

    The hold is dropped by the system however the process ends.
    """
    work.mkdir(parents=True, exist_ok=True)
    try:
        held = os.open(work, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX)
        except ImportError:  # no such locks on this system
            pass
        try:
            same = os.path.samestat(os.fstat(held), work.stat())
        except FileNotFoundError:
            same = False
        yield same
    finally:
        os.close(held)


def source_of(path: Path) -> dict[str, Any]:
    """What a file is known by: its size, when it was written, and the digest of its first and last mebibyte."""
    told = path.stat()
    total = hashlib.sha256()
    with path.open("rb") as file:
        total.update(file.read(2**20))
        file.seek(max(0, told.st_size - 2**20))
        total.update(file.read(2**20))
    return {"name": path.name, "bytes": told.st_size, "written": told.st_mtime_ns, "ends": total.hexdigest()}
