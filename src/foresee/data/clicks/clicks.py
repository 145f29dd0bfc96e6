"""A click log as a data set: one part of a prepared folder, or all of it, mapped into memory."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from foresee.batch import Batch
from foresee.data.base import SPLITS, Data, digest
from foresee.data.clicks.guessing.guess import guess
from foresee.data.clicks.preparing.prepare import prepare
from foresee.data.clicks.preparing.storing import HEADER, check_whole, manifest_of
from foresee.data.clicks.preparing.windows import Windows
from foresee.data.clicks.preprocessing import Preprocessing, batch_of
from foresee.data.clicks.reading.blocks import Malformed
from foresee.data.clicks.schema import Schema
from foresee.data.clicks.schema import schema as schema_of
from foresee.data.clicks.splitting import PARTS
from foresee.data.loading import Format, Wanted, formats
from foresee.data.orders import Orders
from foresee.errors import DataError, InputError, UnknownNameError
from foresee.task import Task


@dataclass(frozen=True)
class MalformedRows:
    """How many rows of a file were malformed, and the first of them."""

    count: int = 0
    first: tuple[Malformed, ...] = ()

    def __str__(self) -> str:
        if not self.count:
            return "no malformed rows"
        named = "; ".join(f"line {one.line}: {one.reason}" for one in self.first[:3])
        return (
            f"{self.count:,} malformed row{'s' if self.count > 1 else ''} ({named}{'; ...' if self.count > 3 else ''})"
        )


class Clicks(Data):
    """One part of a prepared click log; batches are `(dense, sparse)` with labels (n, 1).

    Args:
        folder: what `prepare` made.
        split: "train", "val", "test", or "all" of them one after the other (for folds of one's own).
        wanted: what else was asked; its `normalise` True is by the preprocessing's statistics, those of all training rows.

    Numbers are read from the disk when they are asked for and stay there; two processes that look at one folder share what
    the system keeps of it.
    """

    normalised_part = 0

    def __init__(self, folder: str | Path, split: str = "train", *, wanted: Wanted | None = None) -> None:
        self.folder, self.part = Path(folder), SPLITS.get(split, split)
        wanted = wanted or Wanted()
        manifest = manifest_of(self.folder)
        if manifest is None:
            raise DataError(f"{self.folder}: no folder of prepared click logs; make one by foresee.data.prepare")
        self._manifest = manifest
        rows = manifest["rows"]
        self.splits = tuple(part for part in PARTS if rows[part])
        chosen = self.splits if self.part == "all" else (self.part,)
        if self.part != "all" and self.part not in self.splits:
            raise UnknownNameError(f"split of {self.folder}", split, (*self.splits, "all"))
        self.preprocessing = Preprocessing.load(self.folder / "preprocessing")
        if self.preprocessing.fingerprint != manifest["preprocessing"]:
            raise DataError(f"{self.folder}: the preprocessing is not the one that the rows were made by")
        self._open(chosen)
        own = Task((self.preprocessing.dense,), 1, self.preprocessing.vocabularies)
        if wanted.fitted(own) != own:
            raise InputError(f"{self.folder}: rows for {own}, not for the task {wanted.fitted(own)} that was asked for")
        name = f"{manifest['asked']['source']['name']}/{self.part}"
        normalise = self.preprocessing.statistics if wanted.normalise is True else wanted.normalise
        super().__init__(name, own, normalise=normalise)
        #: what was said about the schema, where it was guessed
        self.said = ""

    def _open(self, chosen: tuple[str, ...]) -> None:
        self._parts = chosen
        self._ends = np.cumsum([self._manifest["rows"][part] for part in chosen])

    @cached_property
    def _arrays(self) -> list[tuple[NDArray[Any], ...]]:
        """Mapped when they are first needed, and by each process for itself."""
        return [
            tuple(np.load(self.folder / f"{part}.{what}.npy", mmap_mode="r") for what in ("dense", "sparse", "labels"))
            for part in self._parts
        ]

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_arrays", "_orders")}

    @cached_property
    def _orders(self) -> Orders:
        return Windows(self._coming)

    def _coming(self, pieces: list[tuple[int, int]]) -> None:
        """The system is told what will be read next, so that it reads it in long pieces."""
        for array in self._arrays[0] if len(self._parts) == 1 else ():
            mapped, row = getattr(array, "_mmap", None), array.nbytes // max(1, len(array))
            for first, last in pieces if hasattr(mapped, "madvise") else ():
                start = (HEADER + first * row) // mmap.PAGESIZE * mmap.PAGESIZE
                mapped.madvise(mmap.MADV_WILLNEED, start, HEADER + last * row - start)  # type: ignore[union-attr]

    def __len__(self) -> int:
        return int(self._ends[-1])

    def whole(self) -> Clicks:
        """All parts as one, normalised as this one: for folds of one's own."""
        return Clicks(self.folder, "all", wanted=Wanted(normalise=self.normalise))

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.preprocessing.schema

    @cached_property
    def malformed(self) -> MalformedRows:
        """What could not be used of the file."""
        told = self._manifest["malformed"]
        return MalformedRows(told["count"], tuple(Malformed(**one) for one in told["first"]))

    @property
    def rate(self) -> float:
        """The share of rows that mean yes."""
        return float(sum(self._manifest["yes"][part] for part in self._parts) / len(self))

    @cached_property
    def fingerprint(self) -> str:
        """Of the numbers, by the digests that were made when they were written, and of what normalises them."""
        told = self._manifest["files"]
        content = [
            told[f"{part}.{what}.npy"]["sha256"] for part in self._parts for what in ("dense", "sparse", "labels")
        ]
        return digest("clicks", self.task.vocabularies, self.normalise, *content)

    def check(self) -> None:
        """Read everything once and compare it with the digests: whether the disk has kept it."""
        check_whole(self.folder)

    def read(self, indices: Tensor) -> Batch:
        """The rows with these numbers."""
        rows = indices.numpy()
        if len(self._arrays) == 1:
            dense, sparse, labels = (np.asarray(array)[rows] for array in self._arrays[0])
            return batch_of(dense, sparse, labels)
        if len(rows) and (rows.min() < -len(self) or rows.max() >= len(self)):
            raise IndexError(f"{self.name}: a row beyond {len(self)}")
        rows = np.where(rows < 0, rows + len(self), rows)
        where = np.searchsorted(self._ends, rows, side="right")
        found = [np.empty((len(rows), *array.shape[1:]), array.dtype) for array in self._arrays[0]]
        for number, arrays in enumerate(self._arrays):
            here = np.flatnonzero(where == number)
            start = 0 if number == 0 else int(self._ends[number - 1])
            for into, array in zip(found, arrays, strict=True):
                into[here] = np.asarray(array)[rows[here] - start]
        dense, sparse, labels = found
        return batch_of(dense, sparse, labels)


def read_log(path: Path, wanted: Wanted) -> Data:
    """A file of rows: prepared in the cache, and its part."""
    given, said = wanted.preprocessing, ""
    preprocessing = Preprocessing.load(given) if isinstance(given, str | Path) else given
    if wanted.schema is not None:
        known = schema_of(wanted.schema)
    elif preprocessing is not None:
        known = preprocessing.schema
    else:
        known, said = guessed(path)
    data = Clicks(prepare(path, known, preprocessing=preprocessing), wanted.split or "train", wanted=wanted)
    data.said = said
    return data


def guessed(path: Path) -> tuple[Schema, str]:
    """The schema that a log seems to have, and in words why."""
    found = guess(path)
    return found.schema, str(found)


def read_prepared(path: Path, wanted: Wanted) -> Data:
    """A part of a folder that was prepared."""
    data = Clicks(path, wanted.split or "train", wanted=wanted)
    asked_for = Schema.from_json(data._manifest["asked"]["schema"])
    if wanted.schema is not None and schema_of(wanted.schema).fingerprint != asked_for.fingerprint:
        raise InputError(
            f"{path}: prepared by another schema than the one asked for; leave it out, or prepare it again"
        )
    given = wanted.preprocessing
    asked = Preprocessing.load(given) if isinstance(given, str | Path) else given
    if asked is not None and asked.fingerprint != data.preprocessing.fingerprint:
        raise InputError(f"{path}: prepared by another preprocessing than the one asked for; name the log itself")
    return data


def _is_log(path: Path) -> bool:
    suffix = path.with_suffix("").suffix if path.suffix.lower() == ".gz" else path.suffix
    return path.is_file() and suffix.lower() in (".csv", ".tsv", ".txt", ".parquet", ".pq")


LOG = Format(
    "clicks", "a click log (.csv, .tsv, .txt, each also .gz, or .parquet)", _is_log, read_log, 20, described=True
)
PREPARED = Format(
    "prepared",
    "a folder of a prepared click log",
    lambda path: path.is_dir() and manifest_of(path) is not None,
    read_prepared,
    20,
    described=True,
)
formats.add(LOG.name, LOG)
formats.add(PREPARED.name, PREPARED)
