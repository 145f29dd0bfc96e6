"""The files in which measured accuracies are in circulation, one file of ours for each kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from foresee.benchmarks.formats import autoformer, compact, long_csv, nasbench101, nasbench301, own, pickles, suite_zero
from foresee.benchmarks.formats.base import File, Format
from foresee.benchmarks.table import Table
from foresee.errors import DataError, InputError, UnknownNameError

__all__ = ["FORMATS", "File", "Format", "read"]

#: the first that recognises a file reads it
FORMATS: tuple[Format, ...] = (
    own.FORMAT,
    pickles.FORMAT,
    nasbench101.FORMAT,
    long_csv.FORMAT,
    *compact.FORMATS,
    suite_zero.FORMAT,
    autoformer.FORMAT,
    nasbench301.FORMAT,
)


def read(
    path: Path,
    *,
    space: str | None = None,
    sha256: str | None = None,
    format: str | None = None,
    trust_pickle: bool = False,
) -> Table:
    """The table in a file of any kind, or of the kind that `format` names; pickles only where they are trusted."""
    if space is not None:
        from foresee.spaces.base import get

        get(space)  # a misspelt name is found before a large file is read
    file = File(path)
    if not file.path.exists():
        raise DataError(f"{path}: no such file")
    if sha256 is not None and file.sha256 != sha256.lower():
        raise DataError(f"{path}: sha256 is {file.sha256}, expected {sha256}; another file, or a damaged one")
    chosen = _chosen(file, format)
    if not chosen.pickled:
        table = chosen.read(file, space)
    elif trust_pickle:
        table = pickles.in_child(file, space, read)
    else:
        raise DataError(
            f"{path}: a pickle, which could run anything when it is loaded; if you trust where it comes from, make a table "
            f"of it once: foresee table convert {path} table.npz --trust-pickle"
        )
    # Our own form remembers what it was made from.
    return table if chosen is own.FORMAT and table.source else replace(table, source=file.path.name, sha256=file.sha256)


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
    known = "; ".join(dict.fromkeys(format.what for format in FORMATS))
    raise DataError(f"{file.where}: not a table that can be read; expected {known}")
