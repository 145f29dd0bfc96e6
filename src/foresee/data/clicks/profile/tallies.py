"""Columns of a click log, tallied chunk by chunk: what they hold, and how often the label means yes where they hold it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.data.clicks.profile.sketches import Distinct, Drawn, Frequent
from foresee.data.clicks.reading.texts import key

#: values of a category that are named, the most frequent ones
NAMED = 10
#: shares at which numbers are told
QUANTILES = (0.01, 0.25, 0.5, 0.75, 0.99)
#: groups of about equal size of the rows by a number
GROUPS = 10


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
    #: rows of all other values and of none
    rest: Rate
    #: what the counts of the most frequent may lack
    lost: int

    @property
    def tells(self) -> float:
        """What it alone tells of the label, by its most frequent values: see `told`."""
        return told([*self.most, self.rest])


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
    #: rows without a number
    rest: Rate

    @property
    def tells(self) -> float:
        """What it alone tells of the label, by its groups: see `told`."""
        return told([*self.groups, self.rest])


def told(rates: Sequence[Rate]) -> float:
    """What is told of the label by which of these groups a row is in: the share of its entropy, from 0 to 1.

    >>> told([Rate("a", 50, 50), Rate("b", 50, 0)]), told([Rate("a", 50, 10), Rate("b", 100, 20)])
    (1.0, 0.0)
    """
    whole = sum(one.rows for one in rates)
    total = _bits(sum(one.yes for one in rates) / whole) if whole else 0.0
    left = sum(one.rows * _bits(one.rate) for one in rates if one.rows) / max(whole, 1)
    return max(0.0, 1.0 - left / total) if total else 0.0


def _bits(rate: float) -> float:
    return -sum(p * math.log2(p) for p in (rate, 1 - rate) if 0 < p < 1)


class NumberTally:
    """A column of numbers."""

    def __init__(self) -> None:
        self._distinct, self._drawn = Distinct(), Drawn()
        self._there, self._mean, self._squares = 0, 0.0, 0.0
        self._low, self._high = math.inf, -math.inf

    def take(self, first: int, values: NDArray[np.float64], yes: NDArray[np.bool_]) -> None:
        """Take numbers in, NaN where missing; `first` is the number of the first row."""
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
        """What was taken in, of so many rows."""
        absent = np.isnan(self._drawn.rows[:, 0])
        rest = Rate("missing", int(absent.sum()), int(self._drawn.rows[absent, 1].sum()))
        there = self._drawn.rows[~absent]
        there = there[np.argsort(there[:, 0], kind="stable")]
        quantiles = tuple(np.quantile(there[:, 0], QUANTILES).tolist()) if len(there) else ()
        spread = math.sqrt(self._squares / self._there) if self._there else math.nan
        mean = self._mean if self._there else math.nan
        distinct, exact = self._distinct.estimate, self._distinct.exact and self._drawn.exact
        ends = (self._low, self._high) if self._there else (math.nan, math.nan)
        return Numbers(
            name, rows - self._there, distinct, exact, *ends, mean, spread, quantiles, tuple(_groups(there)), rest
        )


class CategoryTally:
    """A column of categories; the values of a derived one are the numbers of hours, days and months."""

    def __init__(self, *, derived: bool) -> None:
        self._distinct, self._frequent, self._missing = Distinct(), Frequent(), 0
        self._names = {key(str(number)): str(number) for number in range(32)} if derived else {}

    def take(self, keys: NDArray[np.uint64], yes: NDArray[np.bool_], texts: Any) -> None:
        """Take keys in, 0 where missing; `texts` are what they stand for, None of a derived column."""
        there = keys != 0
        self._missing += int((~there).sum())
        self._distinct.take(keys[there])
        self._frequent.take(keys[there], yes[there])
        # Whoever has just come among the most frequent was seen in these rows, so its text is here.
        for one, _, _ in self._frequent.most(NAMED):
            if one not in self._names and texts is not None and len(found := np.flatnonzero(keys == one)[:1]):
                self._names[one] = texts[int(found[0])]

    def column(self, name: str, rows: int, yes: int) -> Categories:
        """What was taken in, of so many rows of which so many mean yes."""
        most = tuple(Rate(self._names.get(one, "?"), *counts) for one, *counts in self._frequent.most(NAMED))
        rest = Rate("others", rows - sum(one.rows for one in most), yes - sum(one.yes for one in most))
        return Categories(
            name, self._missing, self._distinct.estimate, self._distinct.exact, most, rest, self._frequent.lost
        )


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


def plain_number(value: float) -> str:
    """A number as a table shows it.

    >>> plain_number(178_356.0), plain_number(0.123456), plain_number(3.2e15)
    ('178,356', '0.1235', '3.2e+15')
    """
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e12 else f"{value:.4g}"
