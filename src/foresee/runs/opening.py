"""How a run file is opened: looked at first, refused if it is not ours, newer or damaged, and never changed by a reader."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from foresee.errors import RunError
from foresee.runs.schema import APPLICATION_ID, SCHEMA_VERSION, version


def reading(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, to a file that was checked: ours, of a version we know, and whole."""
    check_header(path)
    with translated(path):
        log = beside(path, "-wal").exists()
        if log and not beside(path, "-shm").exists():
            connection = _apart(path)
        else:
            # Without a write-ahead log nobody is writing; read then so that no side files are left beside the store.
            connection = _connect(path, "ro" if log else "ro&immutable=1")
        try:
            check_version(path, version(connection))
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if verdict != "ok":
                words = " ".join(str(verdict).split())  # SQLite's own may have several lines
                raise RunError(f"{path} is damaged ({words}); restore it from a copy or start a new run")
        except BaseException:
            connection.close()
            raise
    return connection


def writing(path: Path) -> sqlite3.Connection:
    """A connection that writes, to a file that was looked at before."""
    connection = _connect(path, "rw")
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def in_memory(source: sqlite3.Connection) -> sqlite3.Connection:
    """All that a connection sees, as a database of its own."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    source.backup(memory)
    return memory


def beside(path: Path, ending: str) -> Path:
    """A file that lies beside another: its write-ahead log, its copy, ..."""
    return path.with_name(path.name + ending)


def which(path: str | Path) -> tuple[int, int] | None:
    """Which file it is, whatever its name; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=30)


def _apart(path: Path) -> sqlite3.Connection:
    """A killed writer's file, moved to another place: a log, and nobody who has it open.

    SQLite would make an index of the log beside it, which a reader must not (and cannot, in a folder that is read-only).
    """
    with TemporaryDirectory(prefix="foresee-") as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        shutil.copyfile(beside(path, "-wal"), beside(copy, "-wal"))
        with closing(_connect(copy, "rw")) as source:
            memory = in_memory(source)
    memory.execute("PRAGMA query_only=ON")
    return memory


def check_version(path: Path, found: int) -> None:
    """Refuse a newer schema; an older one can be migrated."""
    if not 1 <= found <= SCHEMA_VERSION:
        hint = "it was made by a newer foresee: upgrade" if found > 0 else "no foresee has made such a file"
        raise RunError(f"{path} has schema version {found}, this foresee reads up to {SCHEMA_VERSION}; {hint}")


def check_header(path: Path) -> None:
    """Refuse by the first 100 bytes, before SQLite itself opens (and perhaps touches) the file."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
        size = path.stat().st_size
    except OSError as error:
        raise RunError(f"{path}: {error.strerror or error}") from error
    if len(header) < 100 or not header.startswith(b"SQLite format 3\x00"):
        raise RunError(f"{path} is not a run of foresee: not an SQLite file (damaged, or another program's)")
    number = int.from_bytes
    if number(header[68:72], "big") != APPLICATION_ID:
        raise RunError(f"{path} is an SQLite file of another program, not a run of foresee")
    check_version(path, number(header[60:64], "big"))
    page = number(header[16:18], "big")
    page = 65536 if page == 1 else page
    pages = number(header[28:32], "big")
    log = beside(path, "-wal")
    whole = size % page == 0 and (size >= pages * page or (log.exists() and log.stat().st_size > 0))
    if not whole:
        raise RunError(
            f"{path} is truncated ({size} bytes, {pages * page} expected); restore it from a copy or start a new run"
        )


@contextmanager
def translated(path: str | Path) -> Iterator[None]:
    """SQLite's and the system's errors as ours, in words that say what to do."""
    try:
        yield
    except (sqlite3.Error, OSError, OverflowError, UnicodeEncodeError) as error:
        text = str(error)
        if "disk is full" in text or "No space left" in text or "disk I/O" in text:
            raise RunError(
                f"{path}: cannot be written, the disk is full or failing; what was scored before is kept"
            ) from error
        if "readonly" in text or "unable to open" in text or isinstance(error, PermissionError):
            raise RunError(f"{path}: cannot be opened for writing; check the folder's permissions") from error
        if "locked" in text:
            raise RunError(f"{path}: another process is writing to this run") from error
        raise RunError(f"{path}: {text}") from error
