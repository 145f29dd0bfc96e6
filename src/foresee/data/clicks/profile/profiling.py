"""What is in a click log: rows, columns, cardinalities, missing values, label rates, what is malformed and where.

    found = profile("clicks.csv", "criteo")
    print(found)                                  # a table; `found.to_json()` has all of it as plain values

The file is read once, from front to back, and memory does not grow with it: see `sketches.py` for what is estimated in a long
file, which `exact` says.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foresee.data.clicks.profile.tallies import Categories, CategoryTally, Numbers, NumberTally, Rate, plain_number
from foresee.data.clicks.reading.blocks import Malformed
from foresee.data.clicks.reading.chunk import Chunk
from foresee.data.clicks.schema import Schema, schema
from foresee.data.clicks.splitting import PARTS
from foresee.errors import DataError
from foresee.grid import Column, Grid, Shown, shortened

#: runs of rows along the file whose label rates are told, and pieces of a chunk that these are put together from
RUNS, PIECES = 64, 16
#: malformed rows that are named
SHOWN = 20


@dataclass(frozen=True)
class Profile(Shown):
    """All that is told of a log; `rows` are well-formed ones, `whole` is False where not all were to be looked at."""

    path: str
    schema: Schema
    rows: int
    yes: int
    numbers: tuple[Numbers, ...]
    categories: tuple[Categories, ...]
    parts: tuple[Rate, ...]
    along: tuple[Rate, ...]
    malformed: int
    named: tuple[Malformed, ...]
    whole: bool

    @property
    def rate(self) -> float:
        """Share of rows that mean yes."""
        return self.yes / self.rows

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values; a number that is none is None."""
        plain: dict[str, Any] = _finite({**asdict(self), "schema": self.schema.to_json(), "rate": self.rate})
        return plain

    def __str__(self) -> str:
        return str(self._grid())

    def _grid(self) -> Grid:
        heads = [Column("column", words=True), Column("kind", words=True), Column("values"), Column("missing")]
        heads += [Column("median"), Column("most frequent, or range", words=True, quiet=True)]
        rows = [[one.name, "number", _many(one), self._share(one.missing), *_range(one)] for one in self.numbers]
        rows += [[one.name, "category", _many(one), self._share(one.missing), "", _top(one)] for one in self.categories]
        title = f"{self.rows:,} rows, {self.schema.label}: {100 * self.rate:.2f} % mean yes"
        return Grid(heads, rows, title)

    def _share(self, missing: int) -> str:
        return f"{100 * missing / self.rows:.1f} %" if missing else ""


def profile(
    path: str | os.PathLike[str],
    of: str | Path | Schema,
    *,
    rows: int | None = None,
    told: Callable[[int], None] = lambda rows: None,
) -> Profile:
    """What is in this file, read by this schema; of its first `rows` alone if they are stated.

    Args:
        path: the log.
        of: a schema, its name or its file.
        rows: how many to look at; None: all.
        told: is told after each piece how many rows are read.
    """
    from foresee.data.clicks.reading.streaming import chunks  # it finds an engine, which a machine may lack

    chosen = schema(of)
    tally, whole = _Tally(chosen), True
    for chunk in chunks(Path(path), chosen):
        left = None if rows is None else rows - tally.rows
        if left is not None and left < len(chunk):
            whole = False
        tally.take(chunk, left)
        told(tally.rows)
        if not whole:
            break
    if not tally.rows:
        first = f", such as line {tally.named[0].line}: {tally.named[0].reason}" if tally.named else ""
        raise DataError(f"{path}: no row of it can be used; {tally.malformed:,} are malformed{first}")
    return tally.profile(os.fspath(path), whole)


class _Tally:
    """Takes a log in, chunk by chunk."""

    def __init__(self, of: Schema) -> None:
        self._schema = of
        self.rows = self.malformed = 0
        self.named: list[Malformed] = []
        self._numbers = {name: NumberTally() for name in of.numeric}
        self._categories = {name: CategoryTally(derived=name in of.derived) for name in of.categories}
        self._parts = np.zeros((len(PARTS), 2), np.int64)
        self._along: list[tuple[int, int]] = []

    def take(self, chunk: Chunk, most: int | None = None) -> None:
        """Take rows in, at most so many."""
        some: Any = slice(0, most)
        assert chunk.labels is not None
        yes = chunk.labels[some] == 1
        for name, number in self._numbers.items():
            number.take(self.rows, chunk.numbers[name][some], yes)
        for name, category in self._categories.items():
            category.take(chunk.keys[name][some], yes, chunk.texts.get(name))
        if chunk.parts is not None:
            for part in range(len(PARTS)):
                inside = chunk.parts[some] == part
                self._parts[part] += (inside.sum(), (inside & yes).sum())
        self.malformed += chunk.malformed_count
        self.named = [*self.named, *chunk.malformed][:SHOWN]
        self.rows += len(yes)
        self._along += [(len(some), int(some.sum())) for some in np.array_split(yes, PIECES) if len(some)]

    def profile(self, path: str, whole: bool) -> Profile:
        """What was taken in."""
        yes = sum(some for _, some in self._along)
        return Profile(
            path,
            self._schema,
            self.rows,
            yes,
            tuple(tally.column(name, self.rows) for name, tally in self._numbers.items()),
            tuple(tally.column(name, self.rows, yes) for name, tally in self._categories.items()),
            tuple(Rate(name, *counts) for name, counts in zip(PARTS, self._parts.tolist(), strict=True) if counts[0]),
            tuple(_runs(self._along)),
            self.malformed,
            tuple(self.named),
            whole,
        )


def _runs(along: list[tuple[int, int]]) -> Iterator[Rate]:
    """Label rates along the file, in at most `RUNS` runs."""
    first = 0
    for some in np.array_split(np.array(along), min(RUNS, len(along))):
        rows, yes = (int(number) for number in some.sum(axis=0))
        yield Rate(f"rows {first + 1:,} to {first + rows:,}", rows, yes)
        first += rows


def _many(one: Numbers | Categories) -> str:
    return f"{one.distinct:,}" if one.exact or one.distinct <= 0 else f"about {float(f'{one.distinct:.3g}'):,.0f}"


def _range(one: Numbers) -> tuple[str, str]:
    if not one.quantiles:
        return "", ""
    return plain_number(one.quantiles[2]), f"{plain_number(one.low)} to {plain_number(one.high)}"


def _top(one: Categories) -> str:
    return shortened(", ".join(value.name for value in one.most[:3]), 60)


def _finite(value: Any) -> Any:
    """The same with None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
