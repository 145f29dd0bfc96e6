"""One self-contained HTML file that tells a run: no network, no fonts or scripts from elsewhere, light and dark.

Everything that comes from a run is escaped by the template engine. Pictures are made by `figures`, `graphs` and `networks`,
which escape for themselves.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from foresee.quantities import format_cost
from foresee.report.commands import commands
from foresee.report.figures import COUNT_NAMES, Chart, progress_chart, to_svg, tradeoff_chart
from foresee.report.finals import finals_page, why_none
from foresee.report.foremost import trained_rows
from foresee.report.front import filled_chart, picks
from foresee.report.graphs import Cells, draw, load_cells
from foresee.report.info import Entry, Info, Tradeoff, summarise
from foresee.report.outcomes import ending
from foresee.report.own import own_page
from foresee.report.page import page, report_in
from foresee.report.surrogate import chosen
from foresee.report.thinning import thinned
from foresee.report.why import why
from foresee.report.words import number, shortened
from foresee.runs.record import Record
from foresee.spaces.base import Space

#: rows of the table (as many again may be of the front), and pictures beside that of the best
TABLE, RUNNERS_UP = 20, 4
#: a score made from more parts than this has them folded away
FEW_PARTS = 8
#: reasons for missing scores that are told one by one
REASONS = 30
#: cells with more nodes than this take the whole width of the page
WIDE = 8


@dataclass(frozen=True)
class Drawing:
    """A chart for a page: its heading, a line that says what to see, and the SVG, drawn when the page asks for it."""

    heading: str
    note: str
    chart: Chart

    @cached_property
    def svg(self) -> str:
        """The chart as SVG."""
        return to_svg(self.chart)


@dataclass(frozen=True)
class Meter:
    """A count of the best candidate and the share of its upper limit that it takes (None without a limit)."""

    name: str
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
        space: the run's space where it is not a registered one, for drawing what the run has kept no pictures of.
    """
    info = summarise(record)
    top = table_of(info)
    own = own_page(record, info, distinct(info.leading, 1 + RUNNERS_UP), space)
    shown = [*top, *(pick.entry for pick in picks(info))]
    cells = Cells({}) if own else load_cells(record.settings, [e.architecture for e in shown], space)
    progress, front = _progress(info), _front(info, cells)
    tradeoffs = [_tradeoff(info, t) for t in info.tradeoffs if t.against not in info.objectives[1:]]
    return page(
        "report.html",
        title=info.title or " · ".join(text for _, text in info.asked[:3]) or "run",
        info=info,
        top=top,
        best_many=min(len(info.entries), TABLE),
        meters=_meters(info),
        finals=finals_page(info),
        trained=trained_rows(folder),
        no_finals=why_none(record),
        why=why(record, info),
        chosen=chosen(record, info),
        few_parts=FEW_PARTS,
        reasons=REASONS,
        repeats=_repeats(info),
        lines=commands(record, info.best.architecture if info.best else None, folder),
        progress=progress,
        tradeoffs=tradeoffs,
        front=front,
        cells=cells,
        own=own,
        ending=ending(record),
        pictures=pictures(cells, distinct(info.leading, 1 + RUNNERS_UP), "cell"),
        wide=any(len(g.nodes) > WIDE for graphs in cells.graphs.values() for g in graphs),
        hover=hover(info.entries, dotted([*progress, *tradeoffs, *front.get("charts", ())])),
    )


def write(folder: str | Path, record: Record | None = None, space: Space[Any] | None = None) -> Path:
    """Write `report.html` into a run's folder, whole or not at all; `record` is read from the folder if not given."""
    from foresee.runs import read, write_whole

    text = render(read(folder) if record is None else record, folder, space)
    return write_whole(report_in(folder, "run"), text)


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


def dotted(drawings: Iterable[Drawing]) -> set[int | str]:
    """Who has a dot in one of the charts."""
    return {one for made in drawings for layer in made.chart.layers for one in layer.ids}


def hover(entries: Sequence[Entry], those: Container[int | str]) -> dict[str, list[str]]:
    """What the page says of the dot under the pointer: by id, the architecture and its numbers, of those that have one."""
    return {str(e.id): [shortened(e.architecture), " · ".join(_numbers(e))] for e in entries if e.id in those}


def _numbers(entry: Entry) -> list[str]:
    first = next(iter(entry.objectives), "")
    further = [(name, value) for name, value in list(entry.objectives.items())[1:] if name not in entry.counts]
    return [
        *([] if first in entry.counts else [number(entry.value)]),
        *(f"{name} {number(value)}" for name, value in further),
        *(f"{format_cost(name, value)} {COUNT_NAMES.get(name, name)}" for name, value in entry.counts.items()),
    ]


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
    first, several = COUNT_NAMES.get(info.measure.name, info.measure.name), len(info.objectives)
    of_the_run = one.against in info.objectives[1:]
    if of_the_run:
        note = f"{len(info.front)} on the front of {first} and {label}: no other is as good in both and better in one."
        if several > 2:
            note = f"{len(info.front)} on the run's front of {several} objectives; the line is that of these two alone."
    elif several > 1:
        note = f"{len(one.front)} on the front of {first} and {label}, which is not what the run followed."
    else:
        as_well = f"has as few {first}" if info.measure.cost else "scores as well"
        note = f"{len(one.front)} on the front: nothing with as few {label} {as_well}."
    if one.correlation is not None:
        signed = f"{one.correlation:+.2f}".replace("-", "−")
        what = first if info.measure.cost or several > 1 else "score"
        note += f" Rank correlation of {what} and {label}: {signed} (n = {len(one.ids)})."
    name = f"against-{one.count}"
    if of_the_run:
        chart = tradeoff_chart(name, one, info.measure, info.front, info.knee, "knee of the front")
    else:
        chart = tradeoff_chart(name, one, info.measure, None, info.best.id if info.best else None)
    return drawing(f"{first} against {label}" if several > 1 else f"Against {label}", chart, note)


def _front(info: Info, cells: Cells) -> dict[str, Any]:
    """What a page shows of the front of several objectives: charts, and networks to pick from; nothing where there is one."""
    chosen = picks(info)
    if not chosen:
        return {}
    charts = [_tradeoff(info, one) for one in info.tradeoffs if one.against in info.objectives[1:]]
    if info.filled:
        note = "Up to the worst value of each objective among all that were scored; 100 % would be one that is best in all."
        charts.append(drawing("The front over time", filled_chart("filled", info.filled), note))
    drawn = {picture["entry"].id: picture for picture in pictures(cells, [pick.entry for pick in chosen], "pick")}
    return {"charts": charts, "picks": chosen, "pictures": drawn}


def drawing(heading: str, chart: Chart, note: str = "") -> Drawing:
    """A chart for a page; the note also says how many points its axis leaves out."""
    left = chart.scale.hidden
    note += f" {left} far {'worse one lies' if left == 1 else 'worse ones lie'} outside the axis." if left else ""
    return Drawing(heading, note.strip(), thinned(chart))


def table_of(info: Info) -> list[Entry]:
    """The best, and of a run that follows several objectives those on its front that are not among them."""
    on_front = set(info.front)
    rest = [entry for entry in info.entries[TABLE:] if entry.id in on_front]
    return [*info.entries[:TABLE], *rest[:TABLE]]


def _meters(info: Info) -> list[Meter]:
    """The costs of the best candidate, but not the one that ranks: that one is shown above them."""
    best, counted = info.best, [one for one in info.tradeoffs if one.against.cost]
    if best is None:
        return []
    return [Meter(t.count, best.counts[t.count], t.most) for t in counted if t.count in best.counts]


def _repeats(info: Info) -> int:
    """Draws behind the spreads that are shown; 0 where there is no spread."""
    rows = (row for entry in info.entries for row in entry.scores.values())
    return max((row.repeats for row in rows if row.spread is not None), default=0)
