"""Which part each row of a click log belongs to, row by row in one pass, in constant memory.

- random: by a hash of (seed, number of the row), so each part has its share up to chance, and which rows it has depends on
  nothing else;
- order: the parts one after the other, with exactly their shares of the rows;
- time: the same in the order of times; rows of one time stay in the order of the file, so a share is exact here too;
- column: as the column says; rows of other values are left out (-1);
- fold: one of several pieces drawn by a hash is the test, and of the rest a share, drawn for this fold, is for validation:
  over all folds, every row is in the test once.

Order and time need to know all rows first: one more pass, whose result is a `Plan`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.data.clicks.reading.chunk import Chunk
from foresee.data.clicks.reading.texts import mixed
from foresee.data.clicks.schema import Schema
from foresee.data.clicks.splitting import PARTS
from foresee.data.orders import shared_out
from foresee.seeds import derive

#: bits of a number that are looked at in one pass
DIGIT = 16


@dataclass(frozen=True)
class Plan:
    """Where the parts end: after so many rows (`ends`); by time, after so many rows (`ties`) of the time `bounds`."""

    ends: tuple[int, ...] = ()
    bounds: tuple[float, ...] = ()
    ties: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"ends": list(self.ends), "bounds": list(self.bounds), "ties": list(self.ties)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Plan:
        """Inverse of `to_json`."""
        return cls(*(tuple(plain[name]) for name in ("ends", "bounds", "ties")))


def plan(chunks: Callable[[], Iterator[Chunk]], schema: Schema, scratch: Path) -> Plan:
    """What has to be known of all rows before the first can be told its part; `scratch` is a file of 8 bytes a row."""
    split = schema.split
    if split["by"] in ("random", "column", "fold"):
        return Plan()
    if split["by"] == "order":
        rows = sum(len(chunk) for chunk in chunks())
        return Plan(_ends(rows, split))
    rows = 0
    with scratch.open("wb") as file:
        for chunk in chunks():
            assert chunk.times is not None
            file.write(_sortable(chunk.times).astype("<u8").data)
            rows += len(chunk)
    ends = _ends(rows, split)
    places = np.memmap(scratch, np.dtype("<u8"), "r") if rows else np.empty(0, np.uint64)
    found = [ranked(places, end) for end in ends[:-1]]
    scratch.unlink()
    bounds = tuple(float(_as_time(np.array([value], np.uint64))[0]) for value, _ in found)
    return Plan(ends, bounds, tuple(ties for _, ties in found))


def _ends(rows: int, split: Mapping[str, Any]) -> tuple[int, ...]:
    shares = {part: split[part] for part in PARTS if split[part] > 0}
    sizes = shared_out(rows, shares)
    return tuple(np.cumsum([sizes.get(part, 0) for part in PARTS]).tolist())


def ranked(places: NDArray[np.uint64], rank: int, piece: int = 2**20) -> tuple[int, int]:
    """The value that the first `rank` of the sorted places end before, and how many equal to it are among these.

    A few passes over the places, each of which counts by some of their bits; nothing is sorted.

    >>> ranked(np.array([5, 3, 9, 5, 5], np.uint64), 3)
    (5, 2)
    """
    value, left = 0, rank
    for shift in range(64 - DIGIT, -1, -DIGIT):
        counts = np.zeros(2**DIGIT, np.int64)
        for start in range(0, len(places), piece):
            some = places[start : start + piece]
            same = some if shift == 64 - DIGIT else some[some >> np.uint64(shift + DIGIT) == np.uint64(value)]
            counts += np.bincount(
                ((same >> np.uint64(shift)) & np.uint64(2**DIGIT - 1)).astype(np.int64), minlength=2**DIGIT
            )
        below = np.cumsum(counts) - counts
        digit = int(np.searchsorted(below + counts, left, side="right")) if left < counts.sum() else 2**DIGIT - 1
        value, left = (value << DIGIT) | digit, left - int(below[digit])
    return value, left


class Parts:
    """Tells the rows of one pass their parts, chunk after chunk."""

    def __init__(self, schema: Schema, plan: Plan) -> None:
        self.schema, self.plan = schema, plan
        self._seen = [0] * len(plan.bounds)
        split = schema.split
        if split["by"] == "random":
            self._seed = np.uint64(derive(split["seed"], "clicks", "split"))
            shares = np.cumsum([split[part] for part in PARTS])
            self._bounds = [floor(min(float(share), 1.0) * 2**53) for share in shares[:-1]]

    def of(self, chunk: Chunk) -> NDArray[np.int8]:
        """The number of the part of each row, -1 for none."""
        by = self.schema.split["by"]
        if by == "column":
            assert chunk.parts is not None
            return chunk.parts
        if by == "time":
            assert chunk.times is not None
            return self._by_time(chunk.times)
        rows = np.arange(chunk.first_row, chunk.first_row + len(chunk), dtype=np.uint64)
        if by == "order":
            return np.searchsorted(self.plan.ends[:-1], rows.astype(np.int64), side="right").astype(np.int8)
        if by == "fold":
            return self._by_fold(rows)
        draws = _draws(rows, self._seed)
        return np.searchsorted(np.array(self._bounds, np.uint64), draws, side="right").astype(np.int8)

    def _by_fold(self, rows: NDArray[np.uint64]) -> NDArray[np.int8]:
        split = self.schema.split
        pieces, kept = (
            _draws(rows, np.uint64(derive(split["seed"], "clicks", *use)))
            for use in (["folds"], ["fold", split["fold"]])
        )
        piece = (pieces >> np.uint64(21)) * np.uint64(split["folds"]) >> np.uint64(32)
        validation = kept < np.uint64(floor(split["val"] * 2**53))
        test, val = PARTS.index("test"), PARTS.index("val")
        return np.where(piece == split["fold"], test, np.where(validation, val, 0)).astype(np.int8)

    def _by_time(self, times: NDArray[np.float64]) -> NDArray[np.int8]:
        part = np.zeros(len(times), np.int8)
        for at, (bound, ties) in enumerate(zip(self.plan.bounds, self.plan.ties, strict=True)):
            equal = times == bound
            before = np.cumsum(equal) - 1 + self._seen[at]
            self._seen[at] += int(equal.sum())
            part += ~((times < bound) | (equal & (before < ties)))
        return part


def _draws(rows: NDArray[np.uint64], seed: np.uint64) -> NDArray[np.uint64]:
    """A number of 53 bits for each row."""
    return mixed(rows * np.uint64(0x9E3779B97F4A7C15) + seed) >> np.uint64(11)


def _sortable(times: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Whole numbers in the order of these."""
    bits = (np.asarray(times, np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0
    top = np.uint64(1 << 63)
    return np.where(bits & top, ~bits, bits | top)


def _as_time(places: NDArray[np.uint64]) -> NDArray[np.float64]:
    top = np.uint64(1 << 63)
    return np.where(places & top, places & ~top, ~places).view(np.float64)
