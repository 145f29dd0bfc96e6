"""What a report shows of a run over the user's own code: networks, picks side by side, and which picks mattered.

Picks are the text of an architecture and pictures are kept in the run as plain data, so none of this needs the code; where
a picture is missing and the person has named the space, it is made now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foresee.errors import ForeseeError, InputError, said
from foresee.quantities import format_quantity
from foresee.report import networks
from foresee.report.asked import read_task
from foresee.report.importance import FEW, Importance, importance, shown
from foresee.report.info import Entry, Info
from foresee.report.intervals import Axis
from foresee.runs.record import Record
from foresee.searchers.failures import picks_of
from foresee.spaces.base import Space
from foresee.spaces.find import is_code
from foresee.spaces.own import OwnSpace
from foresee.spaces.own.boxes import Drawing
from foresee.task import Task

#: shares are drawn on this axis
WHOLE = Axis(0.0)
#: answers of a pick that are shown with their means
MOST = 6


@dataclass(frozen=True)
class Network:
    """A candidate with the picture of its network, or the reason why there is none."""

    entry: Entry
    svg: str = ""
    note: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Row:
    """A pick of the best and of the runners-up: text, and whether it differs from the best."""

    name: str
    cells: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class OwnPage:
    """All of it. `columns` are the candidates of the rows, best first; without importance `silence` says why."""

    networks: tuple[Network, ...]
    columns: tuple[Entry, ...]
    rows: tuple[Row, ...]
    importance: tuple[Importance, ...]
    n: int
    silence: str = ""
    axis: Axis = WHOLE
    most: int = MOST


def own_page(record: Record, info: Info, best: Sequence[Entry], space: Space[Any] | None = None) -> OwnPage | None:
    """The page of an own space with something scored; None for other runs."""
    picks = {entry.id: picks_of(entry.architecture) for entry in info.entries}
    if not best or not is_code(str(record.settings.get("space", ""))) or not any(picks.values()):
        return None
    found = importance([(picks[entry.id], entry.value) for entry in info.entries], info.measure.sign)
    few = len(info.entries) < FEW
    silence = f"{len(info.entries)} scored candidates are too few to say: at least {FEW} are needed."
    return OwnPage(
        networks=_networks(record, best, space),
        columns=tuple(best),
        rows=rows([picks[entry.id] for entry in best]),
        importance=tuple(found),
        n=len(info.entries),
        silence=silence if few else "No pick had two different answers among the scored candidates.",
    )


def own_picture(record: Record, info: Info) -> dict[str, Any] | None:
    """The best network of an own run for a page of several runs, where the run has kept its picture."""
    page = own_page(record, info, info.entries[:1])
    return {"svgs": [page.networks[0].svg]} if page and page.networks[0].svg else None


def rows(picks: Sequence[Mapping[str, Any]]) -> tuple[Row, ...]:
    """Picks side by side, by name; those the first one has come first."""
    names = dict.fromkeys(name for one in picks for name in one)
    texts = [{name: shown(value) for name, value in one.items()} for one in picks]
    return tuple(
        Row(name, tuple((one.get(name, "–"), one.get(name) != texts[0].get(name)) for one in texts)) for name in names
    )


def kept_drawings(record: Record) -> dict[int, Drawing | str]:
    """The pictures that the run has kept, by candidate, or the reason why there is none."""
    found: dict[int, Drawing | str] = {}
    for event in record.events:
        if event.kind == "drawn" and event.candidate is not None:
            try:
                plain = event.details.get("drawing")
                found[event.candidate] = Drawing.from_json(plain) if plain else str(event.details.get("reason", ""))
            except InputError as error:
                found[event.candidate] = str(error)
    return found


def _networks(record: Record, best: Sequence[Entry], space: Space[Any] | None) -> tuple[Network, ...]:
    kept = kept_drawings(record)
    drawings = [kept.get(entry.id) or _drawn(record, entry, space) for entry in best]
    pictures = [one for one in drawings if isinstance(one, Drawing)]
    colours, first = networks.palette(pictures), drawings[0]
    made = []
    for entry, drawing in zip(best, drawings, strict=True):
        if isinstance(drawing, str):
            made.append(Network(entry, reason=drawing))
            continue
        new = first.new_in(drawing) if isinstance(first, Drawing) and drawing is not first else None
        svg = networks.draw(drawing, colours, title=f"network of candidate {entry.id}", new=new)
        made.append(Network(entry, svg, _note(drawing)))
    return tuple(made)


def _drawn(record: Record, entry: Entry, space: Space[Any] | None) -> Drawing | str:
    """A picture made now, where the person has named the space."""
    if not isinstance(space, OwnSpace):
        return "the run has kept none, and a report runs no code; name the space (--space) to have it drawn"
    inputs, outputs = read_task(record)
    try:
        task = Task.from_json(record.environment.get("task") or {"inputs": list(inputs), "outputs": outputs})
        return space.drawing(space.parse(entry.architecture), task)
    except ForeseeError as error:
        return str(error)
    except Exception as error:  # a stranger's network may raise anything, and a report must come out all the same
        return said(error)


def _note(drawing: Drawing) -> str:
    params = sum(box.params * drawing.times(place) for place, box in enumerate(drawing.boxes))
    words = "Found by running the network once. Numbers in boxes are parameters, those on lines the shape of one sample"
    return f"{words}; {format_quantity(params)} parameters in all."
