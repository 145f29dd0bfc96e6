"""A page: a table or figure of a paper with all that was computed for it, as plain values and as files."""

from __future__ import annotations

import csv
import json
import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from foresee.papers import numbers
from foresee.papers.base import find
from foresee.papers.cells import Cell, Found, Scatter
from foresee.papers.comparing import TOLERANCE, Line, compare
from foresee.papers.numbers import Published
from foresee.papers.workshop import Workshop


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
    document: str = ""
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
            "document": self.document,
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
        known.check_settings(workshop.table_settings)
    found: list[Found] = []
    for one in known.compute(workshop) if known and workshop else ():
        found.append(one)
        if on_found:
            on_found(one)
    cells = [one for one in found if isinstance(one, Cell)]
    asked = "--data" if known and known.by_data else "--tables, --sample"
    empty = f"not asked for in this run ({asked})" if known else numbers.WHY_EMPTY[name]
    return Page(
        name,
        known.caption if known else published.caption if published else "",
        published,
        tuple(compare(published, cells, judged=known.judged if known else True, empty=empty)),
        tuple(one for one in found if isinstance(one, Scatter)),
        known.how if known else "",
        tuple(workshop.notes) if workshop else (),
        "" if known and workshop else empty,
        known.document if known else published.document if published else "",
        workshop.settings() if workshop and known else {},
    )
