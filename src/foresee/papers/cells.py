"""What a reproduction yields: numbers of a table, points of a figure, or the reason why there are none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from foresee.errors import ForeseeError
from foresee.statistics import Estimate


class Unavailable(ForeseeError):  # noqa: N818  # it ends a cell, not a program
    """Something a reproduction needs is not at hand; the message says what. It becomes the reason of an empty cell."""


@dataclass(frozen=True)
class Cell:
    """One number of a table, or the reason why there is none."""

    row: str
    column: str
    estimate: Estimate | None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.estimate is not None and math.isnan(self.estimate.value):  # what does not exist is no number
            object.__setattr__(self, "estimate", None)
            object.__setattr__(self, "reason", self.reason or "undefined: all values are the same")

    @classmethod
    def missing(cls, row: str, column: str, reason: str) -> Cell:
        """A cell that stays empty."""
        return cls(row, column, None, reason)


@dataclass(frozen=True)
class Heights:
    """What lies behind points as contours: a height for each pair of places, `z[row][column]` at `y[row]`, `x[column]`.

    `look` is how it is drawn: `contours`, `heat` (colours with a bar beside them) or `surface` (in three dimensions), from
    `low` to `high` where maps are to be compared.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    z: tuple[tuple[float, ...], ...]
    look: str = "contours"
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Scatter:
    """The points of a figure: `y` against `x`, with the half-length of each bar where there are some.

    With `boxes` the points stand in groups of these names, `x` being the number of a point's group, and each has its box.
    With `heights` they lie on a map, as wide as it is high. With `kinds`, a name for each point, those of a name have a
    colour of their own, and a line through them where they have bars.
    """

    name: str
    text: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    bars: tuple[float, ...] = ()
    boxes: tuple[str, ...] = ()
    heights: Heights | None = None
    kinds: tuple[str, ...] = ()


#: what a reproduction yields
Found: TypeAlias = Cell | Scatter


def missing(rows: Iterable[str], columns: Iterable[str], why: object) -> Iterator[Cell]:
    """Cells that stay empty for one reason."""
    columns = list(columns)
    return (Cell.missing(row, column, str(why)) for row in rows for column in columns)
