"""What a format is, and a file that is looked at once however many formats ask.

A format says from a file's first bytes, csv columns or JSON whether it is its own, and reads it into a `Table`. Sizes are
bounded before anything is unpacked, and nothing is unpickled here.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import itertools
import json
import math
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from foresee.benchmarks.table import Floats, Table
from foresee.errors import DataError, ForeseeError

#: the most text that is unpacked; the largest published JSON file has about a tenth of this
MAX_TEXT = 2**30
_GZIP = b"\x1f\x8b"
#: how people write that there is no number
_MISSING = {"null", "none", "na", "n/a", "-", "--", "?", "missing"}


@dataclass(frozen=True)
class Format:
    """A kind of file: its name for `--format`, what it is in words, how it is recognised and read.

    `pickled` formats are read only by `foresee table convert --trust-pickle`.
    """

    name: str
    what: str
    recognises: Callable[[File], bool]
    read: Callable[[File, str | None], Table]
    pickled: bool = False


class File:
    """A file (or folder) and the looks that formats take at it, each once."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser()
        self.where = str(path)

    @cached_property
    def head(self) -> bytes:
        """The first bytes as they are on disk; none of a folder."""
        if self.path.is_dir():
            return b""
        with reading(self.where, "a file"), self.path.open("rb") as file:
            return file.read(64)

    @cached_property
    def sha256(self) -> str:
        """Digest of the file; of a folder, of the names, sizes and digests of its files."""
        if self.path.is_dir():
            lines = [f"{p.relative_to(self.path)} {_digest(p)}" for p in sorted(self.path.rglob("*")) if p.is_file()]
            return hashlib.sha256("\n".join(lines).encode()).hexdigest()
        return _digest(self.path)

    @cached_property
    def members(self) -> tuple[str, ...]:
        """Names in a zip file; empty where it is none."""
        if self.head[:2] != b"PK":
            return ()
        with reading(self.where, "a zip file"), zipfile.ZipFile(self.path) as archive:
            return tuple(archive.namelist())

    @cached_property
    def first_text(self) -> str:
        """The beginning of a text file, unpacked; empty where it is not text."""
        if self.path.is_dir():
            return ""
        try:
            with self._open() as file:
                start: bytes = file.read(2**16)
        except (OSError, EOFError, ValueError, zlib.error):
            return ""
        if b"\0" in start:
            return ""
        try:
            return start.decode("utf-8-sig")
        except UnicodeDecodeError as error:  # a character cut in two at the end is still text
            return start[: error.start].decode("utf-8-sig") if error.start > len(start) - 4 else ""

    @property
    def is_json(self) -> bool:
        """Whether the text begins as JSON does."""
        return self.first_text.lstrip()[:1] in ("[", "{")

    @property
    def _first_line(self) -> str:
        """Lines may end in any of the three ways that systems had."""
        return re.split("[\r\n]", self.first_text, maxsplit=1)[0]

    @cached_property
    def separator(self) -> str:
        """What stands between a csv's columns: a comma, or a semicolon or tab where its first line has none; else nothing."""
        return next((mark for mark in ",;\t" if mark in self._first_line), "")

    @cached_property
    def header(self) -> tuple[str, ...]:
        """Names of a csv's columns; empty where it is none."""
        if self.is_json or not self.separator:
            return ()
        try:
            return tuple(name.strip() for name in next(csv.reader([self._first_line], delimiter=self.separator)))
        except csv.Error:  # a name that fills the whole beginning of the file
            return ()

    @cached_property
    def first_row(self) -> dict[str, str]:
        """The first row of a csv by column, without reading the others; empty where there is none."""
        try:
            lines = csv.reader(io.StringIO(self.first_text, newline=""), delimiter=self.separator or ",")
            entries = next(row for row in itertools.islice(lines, 1, None) if row)
        except (csv.Error, StopIteration):
            return {}
        return {name: entry.strip() for name, entry in zip(self.header, entries, strict=False)}

    def line(self, row: int) -> int:
        """The line in the file, from 1, at which a row of `columns` ends."""
        return self._lines[row]

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The texts of a csv, by column."""
        with reading(self.where, "a csv file"):
            lines = csv.reader(io.StringIO(self._text(), newline=""), delimiter=self.separator or ",", strict=True)
            names = [name.strip() for name in next(lines)]
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise DataError(f"{self.where}: column {min(twice)} comes twice")
            rows, self._lines = [], list[int]()
            for row in lines:
                if not row:
                    continue
                if len(row) != len(names):
                    raise DataError(
                        f"{self.where}, row {lines.line_num}: {len(row)} entries, expected {len(names)}; truncated?"
                    )
                rows.append(row)
                self._lines.append(lines.line_num)
            if not rows:
                raise DataError(f"{self.where}: a header and no rows")
            return dict(zip(names, zip(*rows, strict=True), strict=True))

    def numbers(self, name: str, *, measured: bool) -> Floats:
        """A csv column as numbers, NaN where empty; a written NaN or infinity is refused where it was `measured`."""
        values = np.empty(len(self.columns[name]))
        for row, text in enumerate(self.columns[name]):
            try:
                values[row] = float(text) if text.strip() else math.nan
            except ValueError:
                point = " with a point" if "," in text else ""
                empty = ", or nothing where it was not measured" if text.strip().lower() in _MISSING else ""
                raise DataError(
                    f"{self.where}, row {self.line(row)}: {name} is {text[:40]!r}, expected a number{point}{empty}"
                ) from None
        wrong = [row for row in np.flatnonzero(~np.isfinite(values)).tolist() if self.columns[name][row].strip()]
        if measured and wrong:
            text = self.columns[name][wrong[0]]
            raise DataError(
                f"{self.where}, row {self.line(wrong[0])}: {name} is {text}; leave it empty if it was not measured"
            )
        values[wrong] = math.nan
        return values

    @cached_property
    def json(self) -> Any:
        """The parsed JSON."""
        with reading(self.where, "a JSON file"):
            return json.loads(self._text())

    def _open(self) -> Any:
        return gzip.open(self.path, "rb") if self.head[:2] == _GZIP else self.path.open("rb")

    def _text(self) -> str:
        with self._open() as file:
            content: bytes = file.read(MAX_TEXT + 1)
        if len(content) > MAX_TEXT:
            raise DataError(f"{self.where}: unpacks to more than {MAX_TEXT // 2**20:,} MiB of text, which is not read")
        return content.decode("utf-8-sig")


@contextmanager
def reading(where: str, expected: str) -> Iterator[None]:
    """Whatever goes wrong while a stranger's bytes are taken apart becomes one error that names the file."""
    try:
        yield
    except ForeseeError:
        raise
    except FileNotFoundError as error:
        raise DataError(f"{where}: no such file") from error
    except Exception as error:  # parsers of damaged files raise nearly anything
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise DataError(f"{where}: cannot be read as {expected} ({reason[:300]})") from error


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place to write to that becomes `path` when all is written; nothing is left behind otherwise."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield unfinished
        unfinished.replace(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})") from error
    finally:
        with suppress(OSError, ValueError):  # a name that cannot be written cannot be taken away either
            unfinished.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    with reading(str(path), "a file"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
