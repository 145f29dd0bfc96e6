"""Chapter 4 of the thesis, how the loss lies around what cells have learnt: Figures 4.6, 4.7 and 4.8."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from foresee.batch import Batch
from foresee.insight.convergence import learn
from foresee.insight.curvature import curvature
from foresee.insight.landscape import Landscape, landscape, near_convex
from foresee.insight.studies import correlation
from foresee.insight.variants import Variant
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Heights, Scatter, Unavailable
from foresee.papers.chapter4.cells import exactly
from foresee.papers.chapter4.convergence import LEARNT, popular
from foresee.papers.searches import folder
from foresee.papers.trained import CIFAR
from foresee.papers.workshop import Workshop
from foresee.statistics.student import mean_of_few
from foresee.training.sources import sources
from foresee.training.trained import Trained

#: at least three cells, the widths spanned; a map of points x points, out to radius, over so many test samples
MAPPED: Mapping[str, Any] = {
    **{**LEARNT, "variants": 2, "seeds": 1},
    **{"points": 7, "radius": 0.5, "samples": 64, "lanczos": 12},
}


def trainings(workshop: Workshop, own: Mapping[str, Any]) -> Iterator[tuple[Variant, list[Trained]]]:
    """DARTS and variants that span the widths, each trained under every seed as in Figure 4.3."""
    data = workshop.looked_at()
    for one in popular("darts", own["variants"], workshop.seed, span=True):
        found = []
        for seed in range(workshop.seed, workshop.seed + own["seeds"]):
            _, trained = learn(
                one,
                data,
                seed,
                task=CIFAR,
                size={"channels": own["channels"], "layers": own["layers"]},
                device=workshop.device,
                out=folder(workshop, "studies", [data]),
                **{"epochs": own["epochs"], "lr": float(own["rate"]), "batch": own["batch"]},
            )
            if trained is None:
                workshop.note(f"{one.name} diverged under seed {seed}, and has no optimum to look around")
            else:
                found.append(trained)
        yield one, found


def looked_at(workshop: Workshop, samples: int) -> list[Batch]:
    """The first test samples, normalised as those that were learnt from."""
    parts = sources(workshop.looked_at(), share=0.1, seed=workshop.seed, inputs=CIFAR.inputs)
    source = parts.test or parts.validation or parts.train
    batches = list(islice(source.all(samples), 1))
    if not batches:
        raise Unavailable("there are no samples to look at")
    return [one.first(min(samples, len(one))).to(workshop.device) for one in batches]


def mapped(
    workshop: Workshop, own: Mapping[str, Any], *, variance: bool
) -> Iterator[tuple[Variant, list[tuple[Trained, Landscape]]]]:
    """Every cell with its trained networks and a map around each; the same directions for all of them."""
    batches = looked_at(workshop, own["samples"])
    how = {"radius": float(own["radius"]), "points": own["points"], "seed": workshop.seed, "variance": variance}
    for one, found in trainings(workshop, own):
        yield one, [(trained, landscape(trained.network, batches, **how)) for trained in found]


@reproduction("thesis-figure-4.6", caption="Loss contours around DARTS and its variants", by_data=True, settings=MAPPED)
def figure_4_6(workshop: Workshop) -> Iterator[Found]:
    """Loss on test samples around the trained weights of DARTS and variants that span the widths.

    Directions are Gaussian, filter by filter as long as the weights, and the same for all cells. "loss" is that of the
    centre, "rise" the median over the map above it, "largest eigenvalue" that of the Hessian there, "near-convex" the mean
    distance along straight lines to where the loss first bends downwards. Trained as in Figure 4.3, at a reduced size.
    """
    own = workshop.own(MAPPED)
    batches, rows, pictures = looked_at(workshop, own["samples"]), [], []
    for one, found in mapped(workshop, own, variance=False):
        if not found:
            continue
        curved = [curvature(trained.network, batches, steps=own["lanczos"], seed=workshop.seed) for trained, _ in found]
        convex = [near_convex(trained.network, batches, reach=float(own["radius"])) for trained, _ in found]
        values = {
            "loss": [there.centre for _, there in found],
            "rise": [there.rise for _, there in found],
            "largest eigenvalue": [there.largest for there in curved],
            "near-convex": [there.mean for there in convex],
        }
        yield from _cells(one, values)
        rows.append((one, {column: float(np.mean(many)) for column, many in values.items()}))
        pictures.append((one, found[0][1], found[0][1].loss))
    yield from _agreement(rows, ("rise", "largest eigenvalue", "near-convex"))
    yield from _pictures(pictures, "contours", "loss")


@reproduction(
    "thesis-figure-4.7",
    caption="Gradient variance around DARTS and its variants, as heat",
    by_data=True,
    settings=MAPPED,
)
def figure_4_7(workshop: Workshop) -> Iterator[Found]:
    """The square root of the variance of the gradient over test samples, around the same trained weights as in Figure 4.6."""
    yield from _noise(workshop, "heat")


@reproduction(
    "thesis-figure-4.8",
    caption="Gradient variance around DARTS and its variants, as surfaces",
    by_data=True,
    settings=MAPPED,
)
def figure_4_8(workshop: Workshop) -> Iterator[Found]:
    """As Figure 4.7, drawn as surfaces. The thesis takes CIFAR-100 here: give it with --data."""
    yield from _noise(workshop, "surface")


def _noise(workshop: Workshop, look: str) -> Iterator[Found]:
    own, rows, pictures = workshop.own(MAPPED), [], []
    for one, found in mapped(workshop, own, variance=True):
        if not found:
            continue
        maps = [np.array(there.deviation) for _, there in found]
        middle = own["points"] // 2
        values = {
            "loss": [there.centre for _, there in found],
            "gradient deviation in the centre": [float(there[middle, middle]) for there in maps],
            "gradient deviation, median of the map": [float(np.median(there)) for there in maps],
        }
        yield from _cells(one, values)
        rows.append((one, {column: float(np.mean(many)) for column, many in values.items()}))
        pictures.append((one, found[0][1], found[0][1].deviation))
    yield from _agreement(rows, ("gradient deviation in the centre", "gradient deviation, median of the map"))
    yield from _pictures(pictures, look, "gradient deviation")


def _cells(one: Variant, values: Mapping[str, list[float]]) -> Iterator[Cell]:
    """The shape of a cell, and what was measured of it under every seed."""
    yield Cell(one.name, "width", exactly(one.width))
    yield Cell(one.name, "depth", exactly(one.depth))
    for column, many in values.items():
        yield Cell(one.name, column, mean_of_few(many))


def _agreement(rows: list[tuple[Variant, dict[str, float]]], columns: tuple[str, ...]) -> Iterator[Cell]:
    """How the shape of the cells goes with what was measured; of fewer than three nothing can be said."""
    if len(rows) < 3:
        return
    for shape in ("width", "depth"):
        shapes = np.array([float(getattr(one, shape)) for one, _ in rows])
        for column in columns:
            found = correlation(shapes, np.array([values[column] for _, values in rows]))
            yield Cell(f"Spearman of {shape} with it", column, found, "the interval is over cells")


_Map = tuple[tuple[float, ...], ...]


def _pictures(maps: list[tuple[Variant, Landscape, _Map]], look: str, what: str) -> Iterator[Scatter]:
    """A picture of each cell, all of them on one scale, which ends above three quarters of what was measured."""
    everything = np.array([heights for _, _, heights in maps], float)
    known = everything[np.isfinite(everything)]
    if not len(known):
        return
    low, high = float(known.min()), float(np.quantile(known, 0.75))
    for one, there, heights in maps:
        text = f"{what} around the trained weights of {one}, whose loss is {there.centre:.3g}"
        finite = tuple(tuple(value if np.isfinite(value) else float(known.max()) for value in row) for row in heights)
        drawn = Heights(there.steps, there.steps, finite, look, low, high if high > low else low + 1.0)
        across = "second direction; the first goes upwards" if look != "surface" else "second direction"
        yield Scatter(one.name, text, across, f"{what} around {one}", (0.0,), (0.0,), heights=drawn)
