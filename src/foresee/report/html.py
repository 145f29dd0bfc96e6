"""One self-contained HTML file that tells a run: no network, no fonts or scripts from elsewhere, light and dark.

Everything that comes from a run is escaped by the template engine. Pictures are made by `figures` and `graphs`, which
escape for themselves. A content policy names the one script of the page by its hash, so that a browser would run no other
even if one slipped in.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresee.errors import InputError
from foresee.quantities import format_quantity, format_seconds
from foresee.report.commands import commands
from foresee.report.figures import COUNT_NAMES, Chart, progress_chart, to_svg, tradeoff_chart
from foresee.report.graphs import Cells, draw, is_nothing, load_cells, operations
from foresee.report.info import Entry, Info, Tradeoff, summarise
from foresee.report.intervals import in_words
from foresee.runs.record import Record
from foresee.spaces.base import Space

if TYPE_CHECKING:
    from jinja2 import Environment

#: rows of the table, and pictures beside that of the best
TABLE, RUNNERS_UP = 20, 4
#: characters of an architecture under the pointer
LINE = 300
#: cells with more nodes than this take the whole width of the page
WIDE = 8
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Drawing:
    """A chart ready for a page: the SVG, its heading, and a line that says what to see."""

    heading: str
    svg: str
    note: str
    chart: Chart


@dataclass(frozen=True)
class Meter:
    """A count of the best candidate and the share of its upper limit that it takes (None without a limit)."""

    label: str
    value: float
    most: float | None

    @property
    def share(self) -> float | None:
        """Between 0 and 1."""
        return self.value / self.most if self.most else None


def render(record: Record, folder: str | Path | None = None, space: Space[Any] | None = None) -> str:
    """The report of a run as HTML text.

    Args:
        record: the run; any status, also without a single scored candidate.
        folder: the run's folder, named in the lines to copy.
        space: the run's space where it is not a registered one, for drawing its cells.
    """
    info = summarise(record)
    top = info.entries[:TABLE]
    cells = load_cells(record.settings, [e.architecture for e in top], space)
    return page(
        "report.html",
        title=info.title or " · ".join(text for _, text in info.asked[:3]) or "run",
        info=info,
        top=top,
        meters=[
            Meter(COUNT_NAMES.get(t.count, t.count), info.entries[0].counts[t.count], t.most) for t in _counted(info)
        ],
        lines=commands(record, info.best.architecture if info.best else None, folder),
        progress=_progress(info),
        tradeoffs=[_tradeoff(info, t) for t in info.tradeoffs],
        cells=cells,
        pictures=pictures(cells, distinct(info.entries, 1 + RUNNERS_UP), "cell"),
        wide=any(len(g.nodes) > WIDE for graphs in cells.graphs.values() for g in graphs),
        hover=hover(info.entries),
    )


def write(folder: str | Path, record: Record | None = None, space: Space[Any] | None = None) -> Path:
    """Write `report.html` into a run's folder, whole or not at all; `record` is read from the folder if not given."""
    from foresee.runs import read, write_whole

    text = render(read(folder) if record is None else record, folder, space)
    return write_whole(report_in(folder, "run"), text)


def report_in(folder: str | Path | None, what: str) -> Path:
    """Where the report of a result goes; `what` names the result that has no folder."""
    if folder is None:
        raise InputError(f"this {what} has no folder: name one to write the report into")
    return Path(folder) / "report.html"


def page(template: str, **context: Any) -> str:
    """A template of this room, filled, with the style and the one script of all pages."""
    script = (_TEMPLATES / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    made = _environment().get_template(template).render(script=script, script_hash=digest, **context)
    # Lone surrogates cannot be written as UTF-8, and browsers show NUL in several ways.
    return made.encode("utf-8", "replace").decode().replace("\0", "�")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(quantity=format_quantity, seconds=format_seconds, number=number, date=date, ops=ops)
    made.filters["estimate"] = in_words
    made.tests.update(nothing=is_nothing, finite=math.isfinite)
    made.globals["count_names"] = COUNT_NAMES
    return made


# -- parts of pages -------------------------------------------------------------------------------------------------------
def pictures(
    cells: Cells, entries: Sequence[Entry], name: str, colours: Mapping[str, int] | None = None
) -> list[dict[str, Any]]:
    """Drawn cells of the entries that have a picture; edges as in the first entry step back in the others."""
    colours = cells.operations if colours is None else colours
    first: Sequence[Any] = ()
    made: list[dict[str, Any]] = []
    for entry in entries:
        graphs = cells.graphs.get(entry.architecture, ())
        if not graphs:
            continue
        first = first or graphs
        svgs = [
            draw(
                graph,
                colours,
                name=f"{name}{entry.id}-{i}",
                title=f"{graph.title or 'cell'} of candidate {entry.id}",
                against=first[i] if first is not graphs and i < len(first) else None,
            )
            for i, graph in enumerate(graphs)
        ]
        made.append({"entry": entry, "svgs": svgs, "titles": [graph.title for graph in graphs]})
    return made


def distinct(entries: Sequence[Entry], many: int) -> list[Entry]:
    """The first entries that compute different functions."""
    seen: dict[str, Entry] = {}
    for entry in entries:
        seen.setdefault(entry.identity or entry.architecture, entry)
        if len(seen) == many:
            break
    return list(seen.values())


def hover(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """What the page says of the dot under the pointer: by id, the architecture and its numbers."""
    return {
        str(e.id): [
            shortened(e.architecture),
            " · ".join(
                [number(e.value), *(f"{format_quantity(v)} {COUNT_NAMES.get(k, k)}" for k, v in e.counts.items())]
            ),
        ]
        for e in entries
    }


def shortened(architecture: str) -> str:
    """The text of an architecture for a line under the pointer: at most `LINE` characters."""
    return architecture if len(architecture) <= LINE else architecture[: LINE - 1] + "…"


def ops(cells: Cells, architecture: str) -> list[tuple[str, int]]:
    """The operations of an architecture with their colours, for the small squares beside its text."""
    colours = cells.operations
    return [(name, colours[name]) for graph in cells.graphs.get(architecture, ()) for name in operations(graph)]


def _progress(info: Info) -> list[Drawing]:
    if not info.entries:
        return []
    found = len(info.by_candidate.improved)
    rate = f"{len(info.entries) / info.seconds:.3g} scored per second" if info.seconds else ""
    charts = [
        (
            "By candidate",
            progress_chart("by-candidate", info.by_candidate, info.measure),
            f"The best was improved {found - 1} times." if found != 2 else "The best was improved once.",
        ),
        ("By time", progress_chart("by-time", info.by_seconds, info.measure), f"{rate}." if rate else ""),
    ]
    return [drawing(heading, chart, note) for heading, chart, note in charts]


def _tradeoff(info: Info, one: Tradeoff) -> Drawing:
    label = COUNT_NAMES.get(one.count, one.count)
    note = f"{len(one.front)} on the front: nothing with as few {label} scores as well."
    if one.correlation is not None:
        signed = f"{one.correlation:+.2f}".replace("-", "−")
        note += f" Rank correlation of score and {label}: {signed} (n = {len(one.ids)})."
    return drawing(f"Against {label}", tradeoff_chart(f"against-{one.count}", one, info.measure), note)


def drawing(heading: str, chart: Chart, note: str = "") -> Drawing:
    """Draw a chart for a page, and say how many points its axis leaves out."""
    left = chart.scale.hidden
    note += f" {left} far {'worse one lies' if left == 1 else 'worse ones lie'} outside the axis." if left else ""
    return Drawing(heading, to_svg(chart), note.strip(), chart)


def _counted(info: Info) -> list[Tradeoff]:
    """Counts that the best candidate has."""
    return [t for t in info.tradeoffs if info.best is not None and t.count in info.best.counts]


# -- numbers for people ---------------------------------------------------------------------------------------------------
def number(value: float | None) -> str:
    """A score: six significant digits.

    >>> number(0.123456789), number(3.2e45), number(None)
    ('0.123457', '3.2e+45', '–')
    """
    return "–" if value is None or not math.isfinite(value) else f"{value:.6g}"


def date(seconds: float) -> str:
    """Seconds since the epoch as a day and time.

    >>> date(0.0)
    '1970-01-01 00:00 UTC'
    """
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
