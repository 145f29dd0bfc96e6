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
from numpy.typing import NDArray

from foresee.data.clicks.blocks import Malformed
from foresee.data.clicks.chunk import Chunk
from foresee.data.clicks.schema import Schema, schema
from foresee.data.clicks.sketches import Distinct, Drawn, Frequent
from foresee.data.clicks.splitting import PARTS
from foresee.data.clicks.texts import key
from foresee.errors import DataError
from foresee.grid import Column, Grid, Shown, shortened

#: values of a category that are named, the most frequent ones
NAMED = 10
#: shares at which numbers are told
QUANTILES = (0.01, 0.25, 0.5, 0.75, 0.99)
#: groups of about equal size of the rows by a number, and runs of rows along the file, whose label rates are told
GROUPS, RUNS = 10, 64
#: pieces of a chunk that these runs are put together from
PIECES = 16
#: malformed rows that are named
SHOWN = 20


@dataclass(frozen=True)
class Rate:
    """How many rows there are of a kind, and how many of them mean yes."""

    name: str
    rows: int
    yes: int

    @property
    def rate(self) -> float:
        """Share that means yes; NaN of none."""
        return self.yes / self.rows if self.rows else math.nan


@dataclass(frozen=True)
class Categories:
    """A column of categories: how many values (`exact`, or about), and the most frequent with their label rates."""

    name: str
    missing: int
    distinct: int
    exact: bool
    most: tuple[Rate, ...]
    #: what the counts of the most frequent may lack
    lost: int


@dataclass(frozen=True)
class Numbers:
    """A column of numbers: `quantiles` at `QUANTILES` and label rates of `groups` from the smallest to the largest numbers,
    of all rows or of a sample of them (`exact` is False).
    """

    name: str
    missing: int
    distinct: int
    exact: bool
    low: float
    high: float
    mean: float
    spread: float
    quantiles: tuple[float, ...]
    groups: tuple[Rate, ...]


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
    from foresee.data.clicks.reading import chunks  # it finds an engine, which a machine may lack

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
        self._numbers = {name: _NumberTally() for name in of.numeric}
        self._categories = {name: _CategoryTally(derived=name in of.derived) for name in of.categories}
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
        return Profile(
            path,
            self._schema,
            self.rows,
            sum(yes for _, yes in self._along),
            tuple(tally.column(name, self.rows) for name, tally in self._numbers.items()),
            tuple(tally.column(name) for name, tally in self._categories.items()),
            tuple(Rate(name, *counts) for name, counts in zip(PARTS, self._parts.tolist(), strict=True) if counts[0]),
            tuple(_runs(self._along)),
            self.malformed,
            tuple(self.named),
            whole,
        )


class _NumberTally:
    """A column of numbers."""

    def __init__(self) -> None:
        self._distinct, self._drawn = Distinct(), Drawn()
        self._there, self._mean, self._squares = 0, 0.0, 0.0
        self._low, self._high = math.inf, -math.inf

    def take(self, first: int, values: NDArray[np.float64], yes: NDArray[np.bool_]) -> None:
        self._drawn.take(first, np.stack([values, yes], axis=1))
        there = values[~np.isnan(values)]
        if not len(there):
            return
        self._distinct.take((there + 0.0).view(np.uint64))  # -0.0 is 0.0
        self._low, self._high = min(self._low, float(there.min())), max(self._high, float(there.max()))
        # Means and squares of two parts, put together as Chan, Golub and LeVeque did, so that large numbers stay exact.
        many, mean = len(there), float(there.mean())
        apart, total = mean - self._mean, self._there + many
        self._squares += float(((there - mean) ** 2).sum()) + apart**2 * self._there * many / total
        self._mean, self._there = self._mean + apart * many / total, total

    def column(self, name: str, rows: int) -> Numbers:
        there = self._drawn.rows[~np.isnan(self._drawn.rows[:, 0])]
        there = there[np.argsort(there[:, 0], kind="stable")]
        quantiles = tuple(np.quantile(there[:, 0], QUANTILES).tolist()) if len(there) else ()
        spread = math.sqrt(self._squares / self._there) if self._there else math.nan
        mean = self._mean if self._there else math.nan
        distinct, exact = self._distinct.estimate, self._distinct.exact and self._drawn.exact
        ends = (self._low, self._high) if self._there else (math.nan, math.nan)
        return Numbers(name, rows - self._there, distinct, exact, *ends, mean, spread, quantiles, tuple(_groups(there)))


class _CategoryTally:
    """A column of categories; the values of a derived one are the numbers of hours, days and months."""

    def __init__(self, *, derived: bool) -> None:
        self._distinct, self._frequent, self._missing = Distinct(), Frequent(), 0
        self._names = {key(str(number)): str(number) for number in range(32)} if derived else {}

    def take(self, keys: NDArray[np.uint64], yes: NDArray[np.bool_], texts: Any) -> None:
        there = keys != 0
        self._missing += int((~there).sum())
        self._distinct.take(keys[there])
        self._frequent.take(keys[there], yes[there])
        # Whoever has just come among the most frequent was seen in these rows, so its text is here.
        for one, _, _ in self._frequent.most(NAMED):
            if one not in self._names and texts is not None and len(found := np.flatnonzero(keys == one)[:1]):
                self._names[one] = texts[int(found[0])]

    def column(self, name: str) -> Categories:
        most = tuple(Rate(self._names.get(one, "?"), *counts) for one, *counts in self._frequent.most(NAMED))
        return Categories(name, self._missing, self._distinct.estimate, self._distinct.exact, most, self._frequent.lost)


def _groups(there: NDArray[np.float64]) -> Iterator[Rate]:
    """Label rates of rows by a number, in groups of about equal size; equal numbers are in one group."""
    if not len(there):
        return
    edges = np.unique(np.quantile(there[:, 0], np.linspace(0, 1, GROUPS + 1)[1:-1]))
    places = np.searchsorted(edges, there[:, 0], side="left")
    for place in np.unique(places).tolist():
        some = there[places == place]
        low, high = some[0, 0], some[-1, 0]
        name = plain_number(low) if low == high else f"{plain_number(low)} to {plain_number(high)}"
        yield Rate(name, len(some), int(some[:, 1].sum()))


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


def plain_number(value: float) -> str:
    """A number as a table shows it.

    >>> plain_number(178_356.0), plain_number(0.123456), plain_number(3.2e15)
    ('178,356', '0.1235', '3.2e+15')
    """
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e12 else f"{value:.4g}"


def _top(one: Categories) -> str:
    return shortened(", ".join(value.name for value in one.most[:3]), 60)


def _finite(value: Any) -> Any:
    """The same with None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
