"""Our own form of a table: one `.npz` file of plain arrays, with a digest of its content inside.

    header        JSON: space, names of tasks, metrics, costs and proxies, aliases, source, digest
    texts         the architectures in UTF-8, one after the other; `offsets` says where each begins and ends
    architecture, task, metric, epochs, seed, value     one row for each measurement
    costs, proxies                                      one row for each name, one column for each architecture

The same table gives the same bytes. Nothing in it is ever unpickled, and sizes are checked before anything is unpacked.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.benchmarks.formats.base import File, Format, reading, whole_file
from foresee.benchmarks.formats.collect import check_space
from foresee.benchmarks.table import Rows, Table
from foresee.errors import DataError

VERSION = 1
#: what a table may take in memory; all of NAS-Bench-101 takes a quarter of it
MAX_BYTES = 2**31
_TYPES: dict[str, np.dtype[Any]] = {
    "texts": np.dtype(np.uint8),
    "offsets": np.dtype(np.int64),
    **Rows.TYPES,
    "costs": np.dtype(np.float64),
    "proxies": np.dtype(np.float64),
}
Arrays = Mapping[str, NDArray[Any]]


def write(table: Table, path: Path) -> None:
    """Write a table; the file appears when it is whole."""
    parts = [text.encode() for text in table.architectures]
    arrays = {
        "texts": np.frombuffer(b"".join(parts), np.uint8),
        "offsets": np.cumsum([0, *map(len, parts)]),
        **{name: getattr(table.rows, name) for name in Rows.TYPES},
        **{kind: _stacked(getattr(table, kind), len(table)) for kind in ("costs", "proxies")},
    }
    arrays = {name: np.ascontiguousarray(array, _TYPES[name].newbyteorder("<")) for name, array in arrays.items()}
    header = {
        "format": "foresee table",
        "version": VERSION,
        "space": table.space,
        "space_settings": dict(table.space_settings),
        "tasks": list(table.rows.tasks),
        "metrics": list(table.rows.metrics),
        "costs": list(table.costs),
        "proxies": list(table.proxies),
        "aliases": dict(table.aliases),
        "source": table.source,
        "sha256": table.sha256,
    }
    header["content"] = _digest(header, arrays)
    arrays = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays}
    with whole_file(path) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            # A fixed date, so that the same table gives the same bytes.
            info = zipfile.ZipInfo(f"{name}.npy")
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read(file: File, space: str | None) -> Table:
    """Read a table, its digest verified."""
    with reading(file.where, "a table"), zipfile.ZipFile(file.path) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if set(members) != {"header", *_TYPES}:
            raise DataError(f"{file.where}: holds {', '.join(members) or 'nothing'}; expected {', '.join(_TYPES)}")
        total = sum(info.file_size for info in members.values())
        if total > MAX_BYTES:
            raise DataError(
                f"{file.where}: unpacks to {total / 2**30:.1f} GiB, at most {MAX_BYTES // 2**30} GiB are read"
            )
        header = json.loads(_array(archive, members["header"], np.dtype(np.uint8), file.where).tobytes())
        arrays = {name: _array(archive, members[name], kind, file.where) for name, kind in _TYPES.items()}
        if not isinstance(header, dict) or header.get("format") != "foresee table":
            raise DataError(f"{file.where}: its header is not that of a table")
        if header.get("version") != VERSION:
            raise DataError(
                f"{file.where}: version {header.get('version')!r}, this foresee reads {VERSION}; convert it again"
            )
        if header.pop("content", None) != _digest(header, arrays):
            raise DataError(f"{file.where}: its content does not match its sha256; damaged, convert it again")
        _check(header, file.where)
        check_space(file.where, header["space"], space)
        return _table(file, header, arrays)


def _check(header: Mapping[str, Any], where: str) -> None:
    """Every entry is what it should be: a digest can be written by anybody."""
    texts, lists, tables = ("space", "source", "sha256"), ("tasks", "metrics", "costs", "proxies"), ("aliases",)
    sound = (
        all(isinstance(header.get(name), str) for name in texts)
        and all(isinstance(header.get(name), list) and _are_texts(header[name]) for name in lists)
        and all(isinstance(header.get(name), dict) and _are_texts(header[name].values()) for name in tables)
        and isinstance(header.get("space_settings"), dict)
    )
    if not sound:
        raise DataError(f"{where}: its header holds something else than texts and lists of texts; convert it again")


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _table(file: File, header: Mapping[str, Any], arrays: Arrays) -> Table:
    offsets, texts = arrays["offsets"].tolist(), arrays["texts"].tobytes()
    if not offsets or offsets[0] != 0 or offsets[-1] != len(texts) or (np.diff(arrays["offsets"]) < 1).any():
        raise DataError(f"{file.where}: its texts do not fit their offsets")
    architectures = tuple(texts[a:b].decode() for a, b in pairwise(offsets))
    if len(set(architectures)) < len(architectures):
        raise DataError(f"{file.where}: an architecture comes twice")
    columns: dict[str, Any] = {
        kind: dict(zip(header[kind], arrays[kind], strict=True)) for kind in ("costs", "proxies")
    }
    rows = Rows(
        **{name: arrays[name] for name in Rows.TYPES}, tasks=tuple(header["tasks"]), metrics=tuple(header["metrics"])
    )
    names = ("space", "space_settings", "aliases", "source", "sha256")
    return Table(architectures=architectures, rows=rows, **columns, **{name: header[name] for name in names})


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, kind: np.dtype[Any], where: str) -> NDArray[Any]:
    """One array, its header checked before a byte of the rest is unpacked."""
    with archive.open(info) as member:
        np.lib.format.read_magic(member)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(member)
        size = info.file_size - member.tell()
        if dtype != kind or fortran or prod(shape) * dtype.itemsize != size:
            raise DataError(
                f"{where}: {info.filename} is {dtype} {shape} in {size} bytes, expected {kind} that fill them"
            )
        return np.frombuffer(member.read(size), dtype).reshape(shape)


def _stacked(columns: Mapping[str, NDArray[np.float64]], length: int) -> NDArray[np.float64]:
    return np.stack(list(columns.values())) if columns else np.empty((0, length))


def _digest(header: Mapping[str, Any], arrays: Arrays) -> str:
    total = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, kind in _TYPES.items():
        total.update(f"{name} {arrays[name].shape}".encode())
        total.update(np.ascontiguousarray(arrays[name], kind.newbyteorder("<")).data)
    return total.hexdigest()


def _recognises(file: File) -> bool:
    return "header.npy" in file.members


FORMAT = Format("own", "a table that foresee wrote (.npz)", _recognises, read)
