"""How a table of a paper is computed again, and how ours stands beside theirs.

A reproduction is a function that yields what it found, cell by cell, from a `Workshop` (tables, data, sample, seeds):

    @reproduction("dextr-table-7")
    def table_7(workshop: Workshop) -> Iterator[Found]:
        sample = workshop.sampled("nats-sss-cifar10")                       # raises Unavailable with the reason
        measured = workshop.measure(sample, {"dextr": Asked("dextr:reference_nb201")})
        yield Cell("dextr", "nats-sss-cifar10", workshop.correlation(measured["dextr"], sample.truth))
        yield Cell.missing("dextr", "nats-sss-cifar100", "no table with test_acc_cifar100")

Its docstring says how it was measured: which form of each proxy, which networks, which batch. The rows and columns are those
of `numbers.published(name)`: a row is `key`, or `group/key` where rows stand in groups. A number of ours appears only where
it was computed in this run.
"""

from __future__ import annotations

import csv
import inspect
import json
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from foresee.errors import ForeseeError, InputError, UnknownNameError
from foresee.papers import numbers
from foresee.papers.numbers import Published
from foresee.statistics import Estimate

if TYPE_CHECKING:
    from foresee.papers.workshop import Workshop

#: ours agrees with theirs within this much, and half of our 95 % interval; in percent it is 3 points
TOLERANCE = 0.03


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
class Scatter:
    """The points of a figure: `y` against `x`, with the half-length of each bar where there are some."""

    name: str
    text: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    bars: tuple[float, ...] = ()


#: what a reproduction yields
Found: TypeAlias = Cell | Scatter
Compute: TypeAlias = "Callable[[Workshop], Iterator[Found]]"


@dataclass(frozen=True)
class Reproduction:
    """A table or figure that is computed here.

    `judged` is False where ours cannot be of the paper's own networks; `by_row` is True where rows are proxies, of which some
    can be asked for.
    """

    name: str
    caption: str
    compute: Compute
    judged: bool = True
    by_row: bool = False

    @property
    def how(self) -> str:
        """How it is measured: the function's docstring."""
        return inspect.getdoc(self.compute) or ""

    def check_rows(self, asked: Iterable[str]) -> None:
        """Raise, before any work, for rows that cannot be asked for."""
        for row in asked:
            if not self.by_row:
                raise InputError(f"row {row}: {self.name} is computed as a whole; leave out --row")
            numbers.published(self.name).row(row)


reproductions: dict[str, Reproduction] = {}


def reproduction(
    name: str, *, also: Iterable[str] = (), caption: str = "", judged: bool = True, by_row: bool = False
) -> Callable[[Compute], Compute]:
    """Register how a table is computed; `also` names copies of it in other documents, `caption` a figure without numbers."""

    def decorate(compute: Compute) -> Compute:
        for each in (name, *also):
            words = numbers.published(each).caption if each in numbers.names() else caption
            if not words:
                raise InputError(f"{each} has no published numbers: say what it shows (caption=...)")
            if each in reproductions:
                raise InputError(f"{each} is registered already")
            reproductions[each] = Reproduction(each, words, compute, judged, by_row)
        return compute

    return decorate


def load_all() -> dict[str, Reproduction]:
    """All reproductions, by name; each paper is one module, imported on first use."""
    for module in ("dextr", "sigeo", "nasi", "thesis"):
        import_module(f"foresee.papers.{module}")
    return reproductions


def names() -> list[str]:
    """Everything that can be shown: the published tables, then the figures without printed numbers."""
    printed = numbers.names()
    return printed + sorted(name for name in load_all() if name not in printed)


def find(name: str) -> tuple[Published | None, Reproduction | None]:
    """The published table and the reproduction of this name; an unknown name is answered with the nearest ones."""
    if name not in names():
        raise UnknownNameError("table or figure of a paper", name, names())
    return (numbers.published(name) if name in numbers.names() else None), reproductions.get(name)


# -- ours beside theirs ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Line:
    """One cell of a table: the paper's number, ours, and what is between them."""

    group: str
    row: str
    column: str
    paper: float | None
    spread: float | None
    ours: Estimate | None
    tolerance: float | None
    reason: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.ours is None or self.paper is None else self.ours.value - self.paper

    @property
    def agrees(self) -> bool | None:
        """Whether the difference is within the tolerance plus half of our interval; None where that cannot be said."""
        if self.difference is None or self.ours is None or self.tolerance is None:
            return None
        half = 0.0 if math.isnan(self.ours.half_width) else self.ours.half_width
        return abs(self.difference) <= self.tolerance + half

    def to_json(self) -> dict[str, Any]:
        """Plain values, one level deep; what is not known is None."""
        ours = self.ours.to_json() if self.ours else dict.fromkeys(("value", "low", "high", "n"))
        return {
            "group": self.group,
            "row": self.row,
            "column": self.column,
            "paper": self.paper,
            "paper_std": self.spread,
            "ours": ours["value"],
            "low": ours["low"],
            "high": ours["high"],
            "n": ours["n"],
            "difference": self.difference,
            "tolerance": self.tolerance,
            "agrees": self.agrees,
            "reason": self.reason,
        }


def compare(published: Published | None, cells: Iterable[Cell], *, judged: bool = True, empty: str = "") -> list[Line]:
    """Every cell of the published table beside ours, then those of ours that the paper does not have.

    `empty` is the reason for cells of which nothing was said.
    """
    found = {(cell.row, cell.column): cell for cell in cells}
    lines = []
    for row in published.rows if published else ():
        for column in published.columns if published else ():
            cell = found.pop((row.address, column.name), None)
            ours, reason = (cell.estimate, cell.reason) if cell else (None, empty or "not computed in this run")
            within = (100 * TOLERANCE if column.unit == "%" else TOLERANCE) if judged else None
            paper, spread = row.values[column.name], row.std.get(column.name)
            if paper is None:
                reason = "; ".join(filter(None, (f"paper: {row.missing.get(column.name, 'no number')}", reason)))
            lines.append(Line(row.group, row.name, column.name, paper, spread, ours, within, reason))
    for cell in found.values():
        group, _, key = cell.row.rpartition("/")
        lines.append(Line(group, key, cell.column, None, None, cell.estimate, None, cell.reason))
    return lines


@dataclass(frozen=True)
class Page:
    """A table or figure of a paper with what was computed for it in this run."""

    name: str
    caption: str
    published: Published | None
    lines: tuple[Line, ...]
    scatters: tuple[Scatter, ...] = ()
    how: str = ""
    notes: tuple[str, ...] = ()
    empty: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """How many cells agree, in words."""
        judged = [line.agrees for line in self.lines if line.agrees is not None]
        computed = sum(line.ours is not None for line in self.lines)
        if not computed:
            return "nothing computed in this run"
        if not judged:
            return f"{computed} computed; there is nothing to agree with"
        halves = [line.ours.half_width for line in self.lines if line.ours is not None and line.agrees is not None]
        width = "" if any(map(math.isnan, halves)) else f", which is {statistics.median(halves):.2g} in the median"
        within = f"within {TOLERANCE} (3 points in %) plus half of our 95 % interval{width}"
        return f"{sum(judged)} of {len(judged)} agree: {within}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "caption": self.caption,
            "document": self.published.document if self.published else numbers.DOCUMENTS[self.name.partition("-")[0]],
            "where": self.published.where if self.published else "",
            "how": self.how,
            "settings": dict(self.settings),
            "notes": list(self.notes),
            "verdict": self.verdict,
            "lines": [line.to_json() for line in self.lines],
            "figures": [asdict(scatter) for scatter in self.scatters],
        }

    def write(self, folder: Path) -> list[Path]:
        """`NAME.json` with everything, and `NAME.csv` with a line for each cell."""
        folder.mkdir(parents=True, exist_ok=True)
        plain = self.to_json()
        (folder / f"{self.name}.json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
        with (folder / f"{self.name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(plain["lines"][0]) if plain["lines"] else ["row", "column"])
            writer.writeheader()
            writer.writerows(plain["lines"])
        return [folder / f"{self.name}.json", folder / f"{self.name}.csv"]


def reproduce(name: str, workshop: Workshop | None = None, on_found: Callable[[Found], None] | None = None) -> Page:
    """Compute a table or figure in the workshop; without one, or where it is not computed here, the paper's alone."""
    published, known = find(name)
    if known and workshop:
        known.check_rows(workshop.rows)
    found: list[Found] = []
    for one in known.compute(workshop) if known and workshop else ():
        found.append(one)
        if on_found:
            on_found(one)
    cells = [one for one in found if isinstance(one, Cell)]
    empty = "not asked for in this run (--tables, --sample)" if known else numbers.WHY_EMPTY[name]
    return Page(
        name,
        known.caption if known else published.caption if published else "",
        published,
        tuple(compare(published, cells, judged=known.judged if known else True, empty=empty)),
        tuple(one for one in found if isinstance(one, Scatter)),
        known.how if known else "",
        tuple(workshop.notes) if workshop else (),
        "" if known and workshop else empty,
        workshop.settings() if workshop and known else {},
    )
