"""Ours beside theirs: every cell of a published table with what was computed for it, and whether the two agree."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from foresee.papers.cells import Cell
from foresee.papers.numbers import Published
from foresee.statistics import Estimate

#: ours agrees with theirs within this much, and half of our 95 % interval; in percent it is 3 points
TOLERANCE = 0.03


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
