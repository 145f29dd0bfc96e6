"""Pictures of a study of cells: curves over steps, losses by shape, cells beside their curves, maps around them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foresee.insight.around import MEASURED
from foresee.insight.studies import Measure, Study
from foresee.insight.trained import TrainedStudy
from foresee.insight.variants import Variant
from foresee.report.figures import Chart, Layer, Scale
from foresee.report.graphs import draw
from foresee.report.html import Drawing, drawing
from foresee.report.maps import contours, scale_of, shades
from foresee.report.words import short

MEASURES: tuple[tuple[Measure, str, float], ...] = (
    ("val_loss", "validation loss", 1.0),
    ("val_accuracy", "validation accuracy in %", 100.0),
)


#: values that differ by more than this factor have a logarithmic axis
STEEP = 5.0


@dataclass(frozen=True)
class Shown:
    """A cell that is drawn: its picture, its colour, its curve among all others, and what lies around it."""

    cell: Variant
    role: str
    picture: str
    curve: Drawing
    maps: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


# -- charts ---------------------------------------------------------------------------------------------------------------
def _line(study: Study, cell: Variant, measure: Measure, rate: float, scale: float) -> list[tuple[float, ...]]:
    """Step, mean, least and largest over the seeds that did not diverge, for each look that has one."""
    place, found = study.cells.index(cell), list[tuple[float, ...]]()
    for step in study.steps:
        values = scale * study.values(measure, step=step, rate=rate)[:, place]
        known = values[np.isfinite(values)]
        if len(known):
            found.append((float(step), float(known.mean()), float(known.min()), float(known.max())))
    return found


def _layers(
    study: Study, cells: Iterable[Variant], measure: Measure, rate: float, scale: float, role: str | dict[str, str]
) -> list[Layer]:
    """A line through the means of each cell, with bars from the least to the largest over seeds."""
    layers = []
    for one in cells:
        points = _line(study, one, measure, rate, scale)
        if points:
            colour = role if isinstance(role, str) else role[one.name]
            x, mean, low, high = (tuple(column) for column in zip(*points, strict=True))
            layers.append(Layer("bars", colour, x, low, "", to=high))
            layers.append(Layer("straight", colour, x, mean, ""))
            layers.append(Layer("dots", colour, x, mean, str(one), (f"study-{one.name}",) * len(x)))
    return layers


def _behind(study: Study, cells: Iterable[Variant], measure: Measure, rate: float, scale: float) -> list[Layer]:
    """Thin lines of the others."""
    layers, label = [], "the other cells"
    for one in cells:
        points = _line(study, one, measure, rate, scale)
        if points:
            x, mean = (tuple(point[part] for point in points) for part in (0, 1))
            layers.append(Layer("straight", "dot", x, mean, label))
            label = ""
    return layers


def _scale(layers: Sequence[Layer]) -> Scale:
    """Logarithmic where the largest is several times the least: early losses are far above what becomes of them."""
    values = [value for one in layers for part in (one.y, one.to) for value in part]
    return Scale(log=0 < STEEP * min(values, default=0.0) < max(values, default=0.0))


def curves(study: Study, rate: float, roles: dict[str, str]) -> list[Drawing]:
    """Loss and accuracy over steps at one rate: the chosen cells in colour, the others behind them."""
    made = []
    for measure, words, scale in MEASURES:
        rest = [one for one in study.cells if one.name not in roles]
        chosen = [one for one in study.cells if one.name in roles]
        layers = _behind(study, rest, measure, rate, scale) + _layers(study, chosen, measure, rate, scale, roles)
        if not layers:
            continue
        text = f"{words} of {len(study.cells)} cells while they are trained at rate {rate:g}, means over seeds"
        chart = Chart(f"study-{measure}-{rate:g}".replace(".", "_"), text, "optimiser steps", words, "whole",
                      tuple(layers), _scale(layers) if measure == "val_loss" else Scale())  # fmt: skip
        note = "Lines are means over seeds, bars reach from the least to the largest."
        made.append(drawing(f"{words.capitalize()}, rate {rate:g}", chart, note))
    return made


def shapes(found: TrainedStudy) -> list[Drawing]:
    """The final loss against width and against depth, of cells with the same operations and of the others apart."""
    study, alike = found.study, {one.name for one in found.alike.cells}
    if not study.steps:
        return []
    ends, made = study.values().mean(0), []
    for shape in ("width", "depth"):
        layers = []
        groups = {"the cell's own operations": alike, "other operations": {one.name for one in study.cells} - alike}
        for place, (label, names) in enumerate(groups.items()):
            there = [
                (float(getattr(one, shape)), float(end), f"study-{one.name}")
                for one, end in zip(study.cells, ends, strict=True)
                if one.name in names and math.isfinite(end)
            ]
            if there:
                x, y, ids = zip(*there, strict=True)
                layers.append(Layer("dots", ("best", "front")[place], x, y, label, ids))
        unit = " in c" if shape == "width" else ""
        text = (
            f"validation loss after {study.steps[-1]} steps at rate {study.rates[0]:g} against the {shape} of the cell"
        )
        chart = Chart(f"study-by-{shape}", text, f"{shape}{unit}", "validation loss at the end", "score", tuple(layers),
                      Scale())  # fmt: skip
        last = [
            one for one in found.effects if (one.shape, one.rate, one.measure) == (shape, study.rates[0], "val_loss")
        ][-1:]
        note = "".join(f"Spearman {one.estimate}, {one.estimate.n} cells." for one in last).replace("-", "−")
        made.append(drawing(f"Loss by {shape}", chart, note))
    return made


# -- cells that are drawn -------------------------------------------------------------------------------------------------
def shown(
    found: TrainedStudy,
    chosen: Sequence[Variant],
    roles: dict[str, str],
    graphs: dict[str, Any],
    colours: dict[str, int],
) -> list[Shown]:
    """The chosen cells, each with its picture, its curve, and what lies around it where that was looked at."""
    study, rate = found.study, found.study.rates[0]
    around = {one.cell: one for one in found.around}
    losses = scale_of([one.landscape.loss for one in found.around])
    noises = scale_of([one.landscape.deviation for one in found.around])
    made = []
    for cell in chosen:
        rest = [one for one in study.cells if one != cell]
        role = roles[cell.name]
        layers = _behind(study, rest, "val_loss", rate, 1.0) + _layers(study, [cell], "val_loss", rate, 1.0, role)
        text = f"validation loss of {cell} at rate {rate:g}, the other cells behind it"
        name = f"study-of-{cell.name}"
        chart = Chart(name, text, "optimiser steps", "validation loss", "whole", tuple(layers), _scale(layers))
        picture = draw(graphs[cell.name], colours, name=name, title=f"normal cell of {cell}")
        maps, facts = list[str](), list[tuple[str, str]]()
        if cell.name in around:
            there = around[cell.name]
            about = f"around the trained weights of {cell}, whose loss is {there.loss:.3g}"
            steps = there.landscape.steps
            maps.append(contours(steps, there.landscape.loss, losses, role, f"loss {about}"))
            maps.append(shades(there.landscape.deviation, noises, role, f"gradient deviation {about}"))
            facts = [(words.capitalize(), short(read(there))) for words, read in MEASURED.items()]
        made.append(Shown(cell, role, picture, drawing(str(cell), chart), tuple(maps), tuple(facts)))
    return made


def scales(found: TrainedStudy) -> tuple[str, ...]:
    """What the maps are, in words."""
    if not found.around:
        return ()
    losses = scale_of([one.landscape.loss for one in found.around])
    noises = scale_of([one.landscape.deviation for one in found.around])
    one = found.around[0].landscape
    return (
        f"Left: contours of the loss from {losses[0]:.3g} to {losses[1]:.3g}. Right: the deviation of the gradient from "
        f"{noises[0]:.3g} (empty) to {noises[1]:.3g} (full). Both on {one.samples} samples that were not learnt from, along "
        f"two random directions from {one.steps[0]:g} to {one.steps[-1]:g} times the weights, filter by filter; "
        "the directions are the same for all cells, and the middle is what training ended at.",
    )
