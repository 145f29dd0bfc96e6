"""Tables as files: the first format that recognises a file reads it, and a name's ending says how a table is written."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresee.benchmarks.formats import (
    autoformer,
    compact,
    indexed,
    long_csv,
    nasbench101,
    nasbench301,
    nasbench_macro,
    own,
    pickles,
    suite_zero,
)
from foresee.benchmarks.formats.base import File, Format, reading
from foresee.benchmarks.table import Table
from foresee.errors import DataError, InputError, UnknownNameError
from foresee.references import check_named, is_code, tidied

if TYPE_CHECKING:
    from foresee.spaces.base import Space

#: the first that recognises a file reads it
FORMATS: tuple[Format, ...] = (
    own.FORMAT,
    pickles.FORMAT,
    nasbench101.FORMAT,
    long_csv.FORMAT,
    *compact.FORMATS,
    nasbench_macro.FORMAT,
    suite_zero.FORMAT,
    autoformer.FORMAT,
    nasbench301.FORMAT,
    indexed.FORMAT,
)


def load(
    path: str | os.PathLike[str],
    *,
    space: str | Space[Any] | None = None,
    sha256: str | None = None,
    format: str | None = None,
    trust_pickle: bool = False,
) -> Table:
    """The table in a file, of whichever kind it is; nothing is unpickled in this process.

    Args:
        path: its own form, a csv, a JSON file, NAS-Bench-101's record file, a pickle that is trusted.
        space: the space, where the file does not say it, or where it is code (`module:function`): a file that names code
            is refused unless the space is said here too.
        sha256: refuse another file than the one with this digest.
        format: the name of the kind it has to be of.
        trust_pickle: read a benchmark's pickle, in a process of its own.
    """
    asked = None if space is None else _named(space)
    file = File(Path(path))
    with reading(file.where, "a file"):
        exists = file.path.exists()
    if not exists:
        raise DataError(f"{path}: no such file")
    if sha256 is not None and file.sha256 != sha256.lower():
        raise DataError(f"{path}: sha256 is {file.sha256}, expected {sha256}; another file, or a damaged one")
    chosen = _chosen(file, format)
    if not chosen.pickled:
        table = chosen.read(file, asked)
    elif trust_pickle:
        table = pickles.in_child(file, asked)
    else:
        raise DataError(
            f"{path}: a pickle, which could run anything when it is loaded; if you trust where it comes from, make a table "
            f"of it once: foresee table convert {path} table.npz --trust-pickle"
        )
    if space is None:
        check_named(str(path), table.space, f"--space {shlex.quote(table.space)}, in Python space={table.space!r}")
    elif asked is not None and is_code(asked):
        table = replace(table, space=asked)
    # Our own form remembers what it was made from.
    return table if chosen is own.FORMAT and table.source else replace(table, source=file.path.name, sha256=file.sha256)


def save(table: Table, path: str | os.PathLike[str]) -> None:
    """Write a table so that `load` reads it again: `.npz` is its own form, `.csv` and `.csv.gz` the long csv."""
    writer(Path(path))(table, Path(path))


def writer(path: Path) -> Callable[[Table, Path], None]:
    """What writes a file of this name; an `InputError` where nothing does."""
    if path.suffix == ".npz":
        return own.write
    if path.name.endswith((".csv", ".csv.gz")):
        return long_csv.write
    raise InputError(f"{path}: a table is written as .npz, or as .csv or .csv.gz; end its name so")


def _named(space: str | Space[Any]) -> str | None:
    """The name of the space that was said, None for one of a person's own; a misspelt one is found before a file is read."""
    from foresee.spaces.find import get  # torch comes with it, which reading a table does not need
    from foresee.spaces.own import OwnSpace

    if isinstance(space, OwnSpace):
        return None
    asked = tidied(getattr(space, "name", str(space)))
    get(asked)
    return asked


def _chosen(file: File, name: str | None) -> Format:
    if name is not None:
        named = {format.name: format for format in FORMATS}
        if name not in named:
            raise UnknownNameError("format", name, named)
        if not named[name].recognises(file):
            raise InputError(f"{file.where}: not {named[name].what}; leave the format out to have it recognised")
        return named[name]
    for format in FORMATS:
        if format.recognises(file):
            return format
    if file.header:
        raise DataError(f"{file.where}: {compact.nearest(file)}")
    others = ", ".join(format.name for format in FORMATS if format not in (own.FORMAT, long_csv.FORMAT))
    raise DataError(
        f"{file.where}: {_looks(file)}; expected a csv with the columns architecture, metric, value, a table that foresee "
        f"wrote, or a benchmark's file ({others})"
    )


def _looks(file: File) -> str:
    """What a file that no format recognises is."""
    if file.path.is_dir():
        return "a folder"
    if not file.head:
        return "an empty file"
    if not file.first_text:
        return "neither text in UTF-8 nor a known kind of file"
    line = file.first_text.splitlines()[0] if file.first_text.strip() else ""
    alone = f", text whose first line {line[:40]!r} has one column alone" if not file.is_json and line else ""
    return f"not a table that can be read{alone}"
