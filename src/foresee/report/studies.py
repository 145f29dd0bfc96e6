"""A study of a cell and its variants, for a page: curves with their spread over seeds, shapes against losses, landscapes.

    told = tell(found)                        # a `TrainedStudy` as plain values and charts
    html = render(found)                      # a page of its own; `foresee explain` has it as a section

Cells that span the widths are drawn beside their own curve; all others are thin lines behind it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foresee.insight.studies import Study
from foresee.insight.trained import Effect, TrainedStudy
from foresee.insight.variants import Variant, spanning
from foresee.report.graphs import palette
from foresee.report.html import Drawing
from foresee.report.intervals import Axis
from foresee.report.page import page
from foresee.report.studies_pictures import Shown, curves, scales, shapes, shown
from foresee.report.words import times
from foresee.runs.folder import write_whole
from foresee.spaces.find import get
from foresee.statistics import Estimate

#: cells that are drawn, beside the cell itself
DRAWN = 3
PAGE = "study.html"


@dataclass(frozen=True)
class Told:
    """All that a page says of a study."""

    headline: str
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Variant, str, tuple[str, ...]], ...]
    effects: tuple[Effect, ...]
    surroundings: tuple[tuple[str, str, Estimate], ...]
    axis: Axis
    curves: tuple[Drawing, ...]
    shapes: tuple[Drawing, ...]
    shown: tuple[Shown, ...]
    operations: dict[str, int]
    scales: tuple[str, ...]


def tell(found: TrainedStudy) -> Told:
    """The plain values and charts of a page."""
    study = found.study
    chosen = list(dict.fromkeys([study.cells[0], *spanning(found.alike.cells, DRAWN)]))
    roles = {one.name: f"series-{place}" for place, one in enumerate(chosen)}
    many = len({one.seed for one in study.curves})
    surroundings = [(shape, words, one) for shape in ("width", "depth") for words, one in _near(found, shape)]
    graphs = {one.name: get("darts").graph(one.architecture)[0] for one in chosen}
    colours = palette(graphs.values())
    steps = study.steps
    drawn = shown(found, chosen, roles, graphs, colours)
    return Told(
        headline=_headline(found),
        facts=(
            ("Cells", f"{len(study.cells)}: {_kinds(found)}"),
            (
                "Trained for",
                f"{times(int(study.settings.get('epochs') or 0), 'epoch')}, {steps[-1] if steps else 0} steps each",
            ),
            ("Learning rates", ", ".join(f"{rate:g}" for rate in study.rates)),
            ("Seeds", str(many)),
            ("Network", f"{study.settings.get('channels')} channels, {study.settings.get('layers')} cells"),
            ("Recipe", f"{study.settings.get('recipe')}, no regularisation but weight decay"),
        ),
        notes=tuple(_notes(found)),
        columns=_columns(study),
        rows=tuple((one, roles.get(one.name, "dot"), tuple(_row(study, one))) for one in study.cells),
        effects=found.effects,
        surroundings=tuple(surroundings),
        axis=Axis(-1.0),
        curves=tuple(curve for rate in study.rates for curve in curves(study, rate, roles)),
        shapes=tuple(shapes(found)),
        shown=tuple(drawn),
        operations=colours,
        scales=scales(found),
    )


def render(found: TrainedStudy, title: str = "") -> str:
    """A page of its own."""
    name = found.study.cells[0].name
    return page("studied.html", title=title or f"{name} and its variants", told=tell(found), hover=hover(found))


def write(folder: str | Path, found: TrainedStudy) -> Path:
    """`study.html` in the study's folder."""
    return write_whole(Path(folder) / PAGE, render(found))


def hover(found: TrainedStudy) -> dict[str, list[str]]:
    """What the page says of the dot of a cell."""
    return {
        f"study-{one.name}": [str(one), f"{found.study.values()[:, place].mean():.4g} validation loss at the end"]
        for place, one in enumerate(found.study.cells)
        if found.study.steps
    }


# -- words and rows -------------------------------------------------------------------------------------------------------
def _near(found: TrainedStudy, shape: str) -> list[tuple[str, Estimate]]:
    return list(found.surroundings(shape).items())  # type: ignore[arg-type]


def _headline(found: TrainedStudy) -> str:
    """What the rank correlation of width with the final loss says, no more than its interval allows."""
    said = _said(found, found.study.rates[0])
    return said[:1].upper() + said[1:] if said else "Too few cells to say what their shape has to do with learning"


def _said(found: TrainedStudy, rate: float) -> str:
    """The same of one rate, in words; "" where there is nothing to say."""
    last = [one for one in found.effects if (one.shape, one.rate, one.measure) == ("width", rate, "val_loss")][-1:]
    if not last or math.isnan(last[0].estimate.low):
        return ""
    one = last[0]
    when = f"after {one.step} steps at rate {rate:g}"
    if one.estimate.high < 0:
        return f"wider cells have learnt more {when}"
    if one.estimate.low > 0:
        return f"wider cells have learnt less {when}"
    return f"width cannot be told to matter {when}"


def _notes(found: TrainedStudy) -> list[str]:
    study = found.study
    others = [said for rate in study.rates[1:] if (said := _said(found, rate))]
    notes = [f"Beside it: {'; '.join(others)}."] if others else []
    operations, connections = (found.spread(kind) for kind in ("operations", "connections"))
    if operations is not None and connections is not None:
        notes.append(
            f"The final loss has a standard deviation of {operations} over random operations, and of {connections} over "
            "random connections that span the widths (means and intervals over seeds)."
        )
    for rate in study.rates:
        lost = sorted({one.cell for one in study.curves if one.rate == rate and one.reason})
        if lost:
            notes.append(f"At rate {rate:g} these diverged under some seed, and count as the worst: {', '.join(lost)}.")
    if len({one.seed for one in study.curves}) < 3:
        notes.append("Fewer than 3 seeds: what differs may be chance.")
    return [one.replace("-", "−") for one in notes]


def _kinds(found: TrainedStudy) -> str:
    alike = len(found.alike.cells)
    rest = len(found.study.cells) - alike
    return f"the cell, {alike - 1} connected otherwise, {rest} of other operations"


def _columns(study: Study) -> tuple[str, ...]:
    steps = study.steps
    looks = dict.fromkeys((steps[0], steps[len(steps) // 2], steps[-1])) if steps else {}
    first = [f"loss after {step}" for step in looks]
    others = [f"loss, rate {rate:g}" for rate in study.rates[1:]] if steps else []
    return (*first, *others, "test accuracy")


def _row(study: Study, cell: Variant) -> list[str]:
    place, steps = study.cells.index(cell), study.steps
    looks = dict.fromkeys((steps[0], steps[len(steps) // 2], steps[-1])) if steps else {}
    values = [study.values(step=step)[:, place] for step in looks]
    values += [study.values(rate=rate)[:, place] for rate in study.rates[1:]] if steps else []
    return [*map(_mean, values), _mean(100 * study.tests()[:, place], " %")]


def _mean(values: Any, unit: str = "") -> str:
    """Mean and standard deviation over seeds; how many diverged where some did."""
    known = values[np.isfinite(values)]
    if len(known) < len(values):
        return f"diverged, {len(values) - len(known)} of {len(values)}"
    spread = f" ± {known.std():.2g}" if len(known) > 1 else ""
    return f"{known.mean():.3g}{spread}{unit}"
