"""The page of an explanation: one network, or two side by side with what differs marked.

Plain values are in `foresee.insight.explanation`; here they become one self-contained page, with the look and the script of
the other reports, and a JSON file beside it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foresee.errors import InputError
from foresee.insight.explanation import NUMBERS, PAGE, Explanation
from foresee.insight.side_by_side import Pair, side_by_side
from foresee.insight.standing import Standing
from foresee.insight.trained import TrainedStudy
from foresee.quantities import format_quantity
from foresee.report import graphs, networks, studies
from foresee.report.explained_parts import LayersShown, shapes_of
from foresee.report.html import Drawing, drawing
from foresee.report.kernels import independence_chart, output_chart, spectrum_chart
from foresee.report.page import page
from foresee.runs.folder import write_whole
from foresee.training.keeping import read_plain

#: cells that are drawn; an architecture with more has one for each position
CELLS = 4
#: what an architecture without a short name is called
ARTICLE = "an architecture"
#: the best and the worst place are said in the headline from here on, in per cent
HIGH, LOW = 75.0, 25.0


@dataclass(frozen=True)
class Row:
    """A proxy of one or two networks, and whether these differ."""

    proxy: str
    direction: str
    found: tuple[Standing | None, ...]
    differs: bool

    @property
    def anyone(self) -> Standing:
        """One that knows the others."""
        return next(one for one in self.found if one is not None)


def save(found: Explanation | Sequence[Explanation], path: str | Path, *, study: TrainedStudy | None = None) -> Path:
    """Write the page and its numbers beside it: into a folder, or under a name that ends in .html.

    A `study` of the first network's cell beside its variants is a part of the page, where there is one.
    """
    ones = [found] if isinstance(found, Explanation) else list(found)
    target = Path(path)
    if target.suffix in (".html", ".htm"):
        file, numbers = target, target.with_suffix(".json")
    else:
        file, numbers = target / PAGE, target / NUMBERS
    file.parent.mkdir(parents=True, exist_ok=True)
    plain = ones[0].to_json() if len(ones) == 1 else side_by_side(*_two(ones)).to_json()
    beside = {} if study is None else {"study": study.to_json()}
    write_whole(numbers, json.dumps({**plain, **beside}, indent=1) + "\n")
    return write_whole(file, render(*ones, study=study))


def opened(folder: Path) -> tuple[list[Explanation], TrainedStudy | None]:
    """What `save` wrote into a folder: one network or two, and the study beside, where there is one."""
    plain = read_plain(folder / NUMBERS)
    both = [plain["first"], plain["second"]] if "first" in plain else [plain]
    study = plain.get("study")
    return [Explanation.from_json(one) for one in both], None if study is None else TrainedStudy.from_json(study)


def render(*found: Explanation, study: TrainedStudy | None = None) -> str:
    """The page of one network, or of two side by side, as HTML text."""
    pair = side_by_side(*_two(found)) if len(found) > 1 else None
    colours = graphs.palette(cell.graph for one in found for cell in one.cells)
    return page(
        "explain.html",
        title=" beside ".join(one.name for one in found),
        ones=found,
        names=called(found),
        pair=pair,
        headline=headline(found),
        lead=lead(found),
        cells=_cells(found, pair, colours),
        operations=colours,
        shapes=shapes_of(found, CELLS),
        nets=_nets(found),
        rows=_rows(found, pair),
        layers=[
            LayersShown(one.layers, None if pair is None else pair.layers[place]) for place, one in enumerate(found)
        ],
        charts=_charts(found),
        facts=_facts(found, pair),
        told=None if study is None else studies.tell(study),
        hover={} if study is None else studies.hover(study),
    )


def _two(found: Sequence[Explanation]) -> tuple[Explanation, Explanation]:
    if len(found) != 2:
        raise InputError(f"{len(found)} networks: one is explained, and two are put side by side")
    return found[0], found[1]


# -- words ----------------------------------------------------------------------------------------------------------------
def headline(found: Sequence[Explanation]) -> str:
    """What is to be known first."""
    if len(found) > 1:
        return _begun(" beside ".join(called(found)))
    one, (name,) = found[0], called(found)
    steering = one.standing("foresee")
    if steering is None or steering.percentile is None:
        return _begun(name)
    return (
        f"{_begun(name)}: better than {steering.percentile:.0f} % of {steering.others} random ones by the default score"
    )


def called(found: Sequence[Explanation]) -> list[str]:
    """What each is called, two never alike; a long text of a space is left to the facts."""
    short = [one.name if len(one.name) <= 40 else "" for one in found]
    if len(found) == 1:
        return [short[0] or ARTICLE + (f" of {found[0].space}" if found[0].space else "")]
    alike = len(set(short)) < len(short)
    return [f"network {place}" if alike or not name else name for place, name in enumerate(short, 1)]


def _begun(words: str) -> str:
    """Words at the beginning of a sentence; a name stays as it is written."""
    return words[0].upper() + words[1:] if words.startswith((ARTICLE, "network ")) else words


def lead(found: Sequence[Explanation]) -> str:
    """Costs, shape, and where it stands, in a few sentences."""
    said = []
    for name, one in zip(called(found), found, strict=True):
        macs = "" if one.macs is None else f" and {format_quantity(one.macs)} MACs for one sample"
        words = f"{_begun(name)} has {format_quantity(one.params)} parameters{macs}."
        if one.still:
            words += " Its outputs are the same whatever goes in: as it is wired, it can learn nothing of its inputs."
        placed = [each for each in one.standings if each.percentile is not None]
        high = sum(each.percentile is not None and each.percentile >= HIGH for each in placed)
        low = sum(each.percentile is not None and each.percentile <= LOW for each in placed)
        if placed:
            words += f" Of {len(placed)} proxies, {high} put it into the best quarter and {low} into the worst."
        said.append(words)
    return " ".join(said)


def _facts(found: Sequence[Explanation], pair: Pair | None) -> list[tuple[str, list[str], bool]]:
    """Labels with the text of each network, and whether these differ."""
    labels = dict.fromkeys(label for one in found for label, _ in one.facts)
    rows = [
        (label, [dict(one.facts).get(label, "–") for one in found], pair is not None and label in pair.facts)
        for label in labels
    ]
    costs = [("Parameters", [f"{one.params:,}" for one in found])]
    costs += [("MACs", ["–" if one.macs is None else f"{one.macs:,}" for one in found])]
    if any(one.architecture for one in found):
        costs += [("Architecture", [one.architecture or "–" for one in found])]
    return [*((label, texts, len(set(texts)) > 1) for label, texts in costs), *rows]


# -- pictures -------------------------------------------------------------------------------------------------------------
def _cells(found: Sequence[Explanation], pair: Pair | None, colours: dict[str, int]) -> list[list[dict[str, Any]]]:
    """A row for each cell, with a drawing of each network; beside each other what is shared steps back."""
    rows, names = [], called(found)
    for place in range(min(max((len(one.cells) for one in found), default=0), CELLS)):
        row = []
        for number, one in enumerate(found):
            if place >= len(one.cells):
                continue
            cell = one.cells[place]
            against = found[1 - number].cells[place].graph if pair and place < len(found[1 - number].cells) else None
            title = f"{cell.shape.title or 'cell'} of {names[number]}"
            svg = graphs.draw(cell.graph, colours, name=f"cell-{number}-{place}", title=title, against=against)
            row.append({"title": title, "svg": svg, "shape": cell.shape, "note": _note(cell.graph.title)})
        rows.append(row)
    return rows


def _note(title: str) -> str:
    """What a space says of a cell after its name, but for the width and depth, which are said anyway."""
    said = title.partition(": ")[2]
    return "" if said.startswith("width") else said


def _nets(found: Sequence[Explanation]) -> list[dict[str, str]]:
    drawn = [one.drawing for one in found if one.drawing is not None]
    colours = networks.palette(drawn)
    made, names = [], called(found)
    for place, one in enumerate(found):
        if one.drawing is None:
            continue
        other = found[1 - place].drawing if len(found) > 1 else None
        new = None if other is None else other.new_in(one.drawing)
        made.append({"title": names[place], "svg": networks.draw(one.drawing, colours, title=one.name, new=new)})
    return made


def _rows(found: Sequence[Explanation], pair: Pair | None) -> list[Row]:
    names = dict.fromkeys(one.proxy for each in found for one in each.standings)
    rows = []
    for name in names:
        ones = tuple(each.standing(name) for each in found)
        known = next(one for one in ones if one is not None)
        rows.append(Row(name, known.direction, ones, pair is not None and name in pair.proxies))
    return rows


def _charts(found: Sequence[Explanation]) -> list[Drawing]:
    names = called(found)
    spectra = {name: one.spectrum for name, one in zip(names, found, strict=True) if one.spectrum is not None}
    layers = {name: one.independence for name, one in zip(names, found, strict=True) if one.independence is not None}
    made = []
    if spectra:
        words = []
        for name, one in spectra.items():
            kappa = (
                "no condition number: the least eigenvalue is rounding"
                if one.condition is None
                else (f"condition number {one.condition:.4g}")
            )
            words.append(
                f"{name}: trace {one.trace:.4g}, {kappa}, as if {one.effective:.3g} eigenvalues of {one.samples}."
            )
        made.append(drawing("Tangent kernel: eigenvalues", spectrum_chart("spectrum", spectra), " ".join(words)))
    if layers:
        note = "Near 1, the feature maps of a layer are independent of one another (Dextr, Figure 3)."
        made.append(drawing("Independence of feature maps", independence_chart("independence", layers), note))
    for place, each in enumerate(found):
        if each.curve is not None:
            heading = "Outputs along a circle of inputs" + (f": {names[place]}" if len(found) > 1 else "")
            note = (
                f"It turns {each.curve.turning:.3g} times; a circle turns once, and the more it is tangled the more "
                "a network can tell apart (Dextr, Figure 1b)."
            )
            made.append(drawing(heading, output_chart(f"curve-{place}", each.curve), note))
    return made
