"""From rows of a click log to the numbers that a network takes, by what was learnt of the training rows alone.

As AutoCTR prepares its data: of a count its logarithm, of a category its number in the vocabulary of values that occur often
enough (or a hash of it), and something in the place of what is missing.

- numbers: sign(x)·log(1 + |x|) of the columns that the schema names, or that are counts; float32. One that is missing is the
  mean of the training rows, or zero as a count (`fill`). Without a numeric column there is one of zeros.
- categories: 0 is rare or never seen, 1 is missing, from 2 on the values, the most frequent first; with `buckets`, 2 + key
  modulo buckets. Without a category there is one that is always missing.

One row at a time or a million, in this process or another: the same row becomes the same numbers, bit for bit. On a machine
of another kind a logarithm in float64 may end in another digit, which hardly ever survives as float32. It is saved as JSON
and .npy with their sha256, and needs numpy alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from foresee.batch import Batch
from foresee.data.base import digest
from foresee.data.clicks.reading.chunk import Chunk, chunk_of
from foresee.data.clicks.reading.columns import as_list, as_text
from foresee.data.clicks.reading.texts import Keys, Texts
from foresee.data.clicks.schema import Schema
from foresee.data.normalising import Statistics
from foresee.errors import DataError, InputError, shown
from foresee.runs.folder import write_whole

FORMAT = "foresee-preprocessing"
RARE, MISSING, FIRST = 0, 1, 2

Encoded = tuple[NDArray[np.float32], NDArray[np.int32], "NDArray[np.uint8] | None"]


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """What was learnt of the training rows.

    Args:
        schema: the columns.
        logged: for each numeric column, whether its logarithm is taken.
        fills: for each, what stands in the place of a missing one, as the network sees it before it is normalised.
        statistics: the mean and standard deviation of each column of numbers, that batches are normalised by.
        values: for each category the keys in its vocabulary, in the order of their numbers; empty where they are hashed.
        facts: what is told of the fit: `rows`, and by how much counts of each category may fall short (`shortfalls`).
    """

    schema: Schema
    logged: tuple[bool, ...]
    fills: tuple[float, ...]
    statistics: Statistics
    values: tuple[Keys, ...]
    facts: Mapping[str, Any]

    @property
    def vocabularies(self) -> tuple[int, ...]:
        """How many numbers each category may take."""
        sizes = [FIRST + (self.schema.buckets or len(keys)) for keys in self.values]
        return tuple(sizes) or (FIRST,)

    @property
    def dense(self) -> int:
        """How many numbers a row has."""
        return max(1, len(self.schema.numeric))

    @cached_property
    def fingerprint(self) -> str:
        """Of all that decides what a row becomes."""
        return digest(
            "preprocessing", json.dumps(self._plain(), sort_keys=True), *(_bytes(keys) for keys in self.values)
        )

    # -- rows ---------------------------------------------------------------------------------------------------------
    def encode(self, chunk: Chunk) -> Encoded:
        """Dense (n, d) in float32, not normalised; sparse (n, s) in int32; labels (n,) in uint8, or None."""
        dense = np.zeros((len(chunk), self.dense), np.float32)
        for at, name in enumerate(self.schema.numeric):
            dense[:, at] = self._numbers(at, chunk.numbers[name])
        sparse = np.full((len(chunk), len(self.vocabularies)), MISSING, np.int32)
        for at, name in enumerate(self.schema.categories):
            sparse[:, at] = self._ids(at, chunk.keys[name])
        return dense, sparse, chunk.labels

    def _numbers(self, at: int, values: NDArray[np.float64]) -> NDArray[np.float32]:
        taken = logged(values) if self.logged[at] else values
        return np.where(np.isnan(taken), self.fills[at], taken).astype(np.float32)

    def _ids(self, at: int, keys: Keys) -> NDArray[np.int32]:
        if self.schema.buckets is not None:
            ids = (keys % np.uint64(self.schema.buckets)).astype(np.int32) + np.int32(FIRST)
        else:
            known, numbers = self._lookup[at]
            place = np.searchsorted(known, keys)
            place[place == len(known)] = 0
            ids = (
                np.where(known[place] == keys, numbers[place], np.int32(RARE))
                if len(known)
                else np.zeros(len(keys), np.int32)
            )
        return np.where(keys == 0, np.int32(MISSING), ids)

    @cached_property
    def _lookup(self) -> list[tuple[Keys, NDArray[np.int32]]]:
        orders = [np.argsort(keys) for keys in self.values]
        return [(keys[o], (o + FIRST).astype(np.int32)) for keys, o in zip(self.values, orders, strict=True)]

    def rows(self, rows: Sequence[Mapping[str, Any]], *, normalise: bool | Statistics = True) -> Batch:
        """Rows as a server gets them, each the values of the columns by name, as texts or numbers, None for missing.

        A category is the text that stands in the log: a number is written as `7`, also where it is 7.0.

        The batch is what the same rows give in training, labels too where every row has one. `normalise` as of the data
        that the network was trained on.
        """
        if not rows:
            raise InputError("no rows; expected at least one")
        labelled = all(self.schema.label in row for row in rows)
        names = [name for name in self.schema.sources if name != self.schema.label or labelled]
        features = [self.schema.derived[n]["from"] if n in self.schema.derived else n for n in self.schema.features]
        for number, row in enumerate(rows):
            lacking = [name for name in features if name not in row and name not in self.schema.optional]
            if lacking:
                raise InputError(f"row {number}: no value of {', '.join(lacking)}; None is one that is missing")
        commas = self.schema.decimal_commas or ()
        texts = {name: Texts.of([_as_given(row.get(name), name in commas) for row in rows]) for name in names}
        plain = self.schema.but(split={})  # which part a row would be of is not asked here
        chunk = chunk_of(texts, plain, lambda wrong: wrong.tolist(), labelled=labelled)
        if chunk.malformed:
            raise InputError(f"row {chunk.malformed[0].line}: {chunk.malformed[0].reason}")
        dense, sparse, labels = self.encode(chunk)
        return batch_of(dense, sparse, labels, self.statistics if normalise is True else normalise or None)

    # -- as files -----------------------------------------------------------------------------------------------------
    def save(self, folder: str | Path) -> Path:
        """Write it: `preprocessing.json`, which names all else with its sha256, last; so there is all of it or none."""
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            content = np.concatenate([np.empty(0, np.uint64), *self.values]).astype("<u8")
            fresh = folder / "values.npy.new"
            with fresh.open("wb") as file:
                np.save(file, content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, folder / "values.npy")
        except OSError as error:
            raise DataError(f"{folder}: cannot be written ({error.strerror or error})") from error
        plain = {"format": FORMAT, "version": 1, **self._plain(), "facts": dict(self.facts)}
        plain |= {"values": [len(keys) for keys in self.values], "sha256": hashlib.sha256(content.data).hexdigest()}
        write_whole(folder / "preprocessing.json", json.dumps(plain, indent=1) + "\n")
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> Preprocessing:
        """Read what `save` wrote, checked."""
        path = Path(folder) / "preprocessing.json"
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
            if plain["format"] != FORMAT or plain["version"] != 1:
                raise DataError(f"{path}: of another program or version ({plain['format']} {plain['version']})")
            content = np.load(Path(folder) / "values.npy", allow_pickle=False)
            if hashlib.sha256(np.ascontiguousarray(content).data).hexdigest() != plain["sha256"]:
                raise DataError(f"{folder}: values.npy is not the one that preprocessing.json names")
            ends = np.cumsum(plain["values"]).astype(np.int64)
            if content.dtype != np.dtype("<u8") or len(content) != (ends[-1] if len(ends) else 0):
                raise DataError(f"{folder}: values.npy does not hold {shown(plain['values'])} values")
            values = tuple(part.astype(np.uint64) for part in np.split(content, ends)[: len(ends)])
            made = plain["schema"]
            statistics = Statistics(tuple(plain["mean"]), tuple(plain["std"]))
            found = cls(
                Schema.from_json(made),
                tuple(plain["logged"]),
                tuple(plain["fills"]),
                statistics,
                values,
                plain["facts"],
            )
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{folder}: no preprocessing that can be read ({type(error).__name__}: {error})") from error
        return found

    def _plain(self) -> dict[str, Any]:
        own = {"logged": list(self.logged), "fills": list(self.fills)}
        return {"schema": self.schema.to_json(), **own, "mean": self.statistics.mean, "std": self.statistics.std}


def logged(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """sign(x)·log(1 + |x|).

    >>> logged(np.array([0.0, -1.0])).tolist() == [0.0, -np.log(2.0)]
    True
    """
    return np.copysign(np.log1p(np.abs(values)), values)


def batch_of(
    dense: NDArray[Any], sparse: NDArray[Any], labels: NDArray[Any] | None, statistics: Statistics | None = None
) -> Batch:
    """Encoded rows as a batch: dense in float32, sparse in int64, labels float32 (n, 1)."""
    numbers = torch.from_numpy(np.ascontiguousarray(dense, np.float32))
    numbers = numbers if statistics is None else statistics.apply(numbers)
    answers = None if labels is None else torch.from_numpy(labels.astype(np.float32).reshape(-1, 1))
    return Batch((numbers, torch.from_numpy(sparse.astype(np.int64))), answers)


def _as_given(value: Any, commas: bool = False) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return as_text(float(value)).replace(".", "," if commas else ".")
    if isinstance(value, list | tuple | dict):
        return as_list(value)
    return str(value)


def _bytes(keys: Keys) -> memoryview:
    return np.ascontiguousarray(keys, "<u8").data.cast("B")
