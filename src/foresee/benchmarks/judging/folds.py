"""Which rows are learnt from, which an epoch is judged by, and which are kept for the test: k times, every row once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from foresee.data import Data, load
from foresee.data.base import Part, digest
from foresee.data.clicks.clicks import guessed
from foresee.data.clicks.schema import Schema
from foresee.data.clicks.schema import schema as schema_of
from foresee.data.loading import formats
from foresee.errors import InputError
from foresee.seeds import generator


@dataclass(frozen=True)
class Parts:
    """The three parts of one fold."""

    train: Data
    validation: Data
    test: Data


def folded(data: Data, folds: int, fold: int, *, share: float = 0.1, seed: int = 0) -> Parts:
    """Fold number `fold` of a data set in memory.

    All rows, in an order that the seed draws, are cut into `folds` pieces of equal size as far as possible: piece `fold` is
    the test, and of the rest, in an order drawn for this fold, a share is for validation. Statistics of normalising are those
    of the training rows.

    >>> import numpy as np
    >>> from foresee.data import Arrays
    >>> parts = folded(Arrays(np.zeros((10, 1, 2, 2)), np.arange(10) % 2), 5, 0, share=0.25)
    >>> len(parts.train), len(parts.validation), len(parts.test)
    (6, 2, 2)
    """
    if data.endless or not data.numbered:
        raise InputError(f"judge: {data.name} has no numbered rows that could be cut into folds")
    if not 2 <= folds <= len(data) or not 0 <= fold < folds:
        raise InputError(f"judge: fold {fold} of {folds}: {data.name} has {len(data)} rows, expected 2 folds or more")
    pieces = torch.randperm(len(data), generator=generator(seed, "folds")).tensor_split(folds)
    rest = torch.cat([piece for place, piece in enumerate(pieces) if place != fold])
    rest = rest[torch.randperm(len(rest), generator=generator(seed, "folds", fold))]
    kept = max(1, round(len(rest) * share))
    if kept >= len(rest):
        raise InputError(f"judge: {len(rest)} rows beside the test are too few to keep {kept} of them for validation")
    train = Part(data, f"fold{fold}-train", rest[kept:].sort().values, data.like)
    like = data.like or train
    return Parts(
        train,
        Part(data, f"fold{fold}-val", rest[:kept].sort().values, like),
        Part(data, f"fold{fold}-test", pieces[fold].sort().values, like),
    )


@dataclass(frozen=True)
class Ground:
    """What is judged on: data in memory, or a name or path that is read when a fold is asked for (so that it can travel).

    Args:
        data: a `Data`, a name, or a path.
        schema: of a raw click log: the preprocessing is then fitted anew on the training rows of each fold.
        folds: how many.
        share: of the rows beside the test, kept for validation.
        seed: draws the folds.
    """

    data: Any
    schema: Any = None
    folds: int = 5
    share: float = 0.1
    seed: int = 0

    @property
    def travels(self) -> bool:
        """Whether another process can read it."""
        return isinstance(self.data, str | os.PathLike)

    def fold(self, number: int) -> Parts:
        """The parts of a fold."""
        if self.raw is not None:
            split = {"by": "fold", "folds": self.folds, "fold": number, "val": self.share, "seed": self.seed}
            known = self.raw.but(split=split)
            return Parts(*(load(self.data, schema=known, split=part) for part in ("train", "val", "test")))
        return folded(self.whole(), self.folds, number, share=self.share, seed=self.seed)

    @cached_property
    def raw(self) -> Schema | None:
        """The schema of a raw click log, stated or guessed; None of other data."""
        if not self.travels or not _is_log(Path(self.data)):
            if self.schema is not None:
                raise InputError(f"judge: schema: only a raw click log has one, not {self.data}; leave it out")
            return None
        return schema_of(self.schema) if self.schema is not None else guessed(Path(self.data))[0]

    def whole(self) -> Data:
        """All rows of data that is no raw log: the training split where there are several, as `load` gives it."""
        return self.data if isinstance(self.data, Data) else _read(os.fspath(self.data))

    @property
    def words(self) -> dict[str, Any]:
        """What it is, as plain values."""
        cut = {"folds": self.folds, "validation": self.share, "fold_seed": self.seed}
        if self.raw is None:
            whole = self.whole()
            return {"name": whole.name, "samples": len(whole), "fingerprint": whole.fingerprint, **cut}
        parts = self.fold(0)
        some = (parts.train, parts.validation, parts.test)
        said = {"name": Path(self.data).name, "samples": sum(map(len, some))}
        return {**said, "fingerprint": digest(*(one.fingerprint for one in some)), "schema": self.raw.to_json(), **cut}


def _is_log(path: Path) -> bool:
    return path.is_file() and formats["clicks"].recognises(path)


_KEPT: dict[tuple[str, int], Data] = {}


def _read(reference: str) -> Data:
    """Read once in a process, and again where the file has changed."""
    path = Path(reference)
    key = reference, path.stat().st_mtime_ns if path.exists() else 0
    if key not in _KEPT:
        _KEPT.clear()
        _KEPT[key] = load(reference)
    return _KEPT[key]
