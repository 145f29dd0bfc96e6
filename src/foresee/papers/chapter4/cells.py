"""Chapter 4 of the thesis, the cells themselves: Tables 4.2 and 4.3, Figures 4.2 and 4.9."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from foresee.insight.distributions import connected
from foresee.insight.linear_cells import CURVING, compare
from foresee.insight.topology import shapes
from foresee.insight.variants import Variant, published, variants_of
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter
from foresee.papers.trained import CIFAR
from foresee.papers.workshop import Workshop
from foresee.spaces.darts.named import NAMED
from foresee.spaces.find import get
from foresee.statistics import Estimate
from foresee.statistics.student import mean_of_few

#: row -> the published cell
BASES: Mapping[str, str] = {"darts": "DARTS_V2", "enas": "ENAS", "amoebanet": "AmoebaNet_A", "nasnet": "NASNet_A"}
#: random connections of Table 4.2, random operations of Table 4.3
CONNECTED, OPERATED = 13, 10
LINEAR: Mapping[str, Any] = {"nodes": 4, "width": 6, "samples": 64, "draws": 3, "scales": (0.5, 1.0, 2.0)}


def exactly(value: float) -> Estimate:
    """A number that is counted, not estimated."""
    return Estimate(float(value), n=1)


@reproduction("thesis-table-4.2", judged=False, by_data=True, size="the printed size: 4 cells with 13 variants each")
def table_4_2(workshop: Workshop) -> Iterator[Found]:
    """Width and depth of four popular normal cells (C0) and of 13 variants each with random connections.

    The variants are drawn as the thesis' code draws them, under the seeds 1 to 13, and stand from the narrowest and deepest
    to the widest and shallowest. Which seeds the thesis kept is not said, so only C0 can agree in number; of the others the
    spread can be compared. Nothing is looked at: any --data will do.
    """
    space = get("darts")
    for row, name in BASES.items():
        drawn = [Variant("", published(NAMED[name], "connections", seed)) for seed in range(1, 1 + CONNECTED)]
        drawn.sort(key=lambda one: (one.width, -one.depth))
        cells = [NAMED[name], *(one.architecture for one in drawn)]
        for place, architecture in enumerate(cells):
            shape = shapes(space, architecture)[0]
            yield Cell(row, f"C{place}:width", exactly(shape.width))
            yield Cell(row, f"C{place}:depth", exactly(shape.depth))
        own = shapes(space, NAMED[name])[0]
        if row == "darts":
            where = connected(4, repeated=True, words="all ways to connect four nodes, repeats included")
            workshop.note(f"{row}: {own} is {where.place(own)}; of {where.words}")
        wider = sum(one.width > own.width for one in drawn)
        workshop.note(f"{row}: {wider} of {CONNECTED} variants are wider than the cell itself")


@reproduction("thesis-table-4.3", by_data=True, size="the printed size: 36 channels and 20 cells, 10 variants each")
def table_4_3(workshop: Workshop) -> Iterator[Found]:
    """Parameters in millions of four popular cells (C0) and of ten variants each with random operations, C = 36, 20 cells.

    The variants are those of the thesis' code under the seeds 1 to 10. Of DARTS the printed C1 to C5 are of other draws;
    AmoebaNet's C9 is printed 3.42, which exchanges two digits of 3.24. Nothing is looked at: any --data will do.
    """
    space = get("darts", channels=36, layers=20)
    for row, name in BASES.items():
        cells = [NAMED[name], *(published(NAMED[name], "operations", seed) for seed in range(1, 1 + OPERATED))]
        for place, architecture in enumerate(cells):
            yield Cell(row, f"C{place}", exactly(space.counts(architecture, CIFAR).params / 1e6))


@reproduction(
    "thesis-figure-4.2",
    caption="Width and depth of the DARTS cell and of randomly connected variants among all cells",
    by_data=True,
    settings={"variants": 4},
    size="all 180 ways to connect four nodes, 3 cells by name and 4 variants",
)
def figure_4_2(workshop: Workshop) -> Iterator[Found]:
    """The DARTS cell, some randomly connected variants and the popular cells, by width and depth among all connections.

    A row's share of all 180 ways to connect four nodes that are as wide and as shallow says how rare its shape is. The cells
    themselves are drawn by `foresee explain`. Nothing is looked at: any --data will do.
    """
    own, where, space = workshop.own({"variants": 4}), connected(4), get("darts")
    cells = [Variant(name, NAMED[name]) for name in ("DARTS_V1", "DARTS_V2", "SNAS")]
    cells += variants_of(NAMED["DARTS_V2"], own["variants"], seed=workshop.seed)
    for one in cells:
        shape = shapes(space, one.architecture)[0]
        place = where.place(shape)
        yield Cell(one.name, "width", exactly(shape.width), str(place))
        yield Cell(one.name, "depth", exactly(shape.depth))
        yield Cell(one.name, "share as wide and shallow (%)", exactly(100 * place.as_wide_and_shallow))
    for (width, depth), count in sorted(where.counts.items()):
        yield Cell(f"all cells/{width:g}c, {depth}", "cells of 180", exactly(count))
    points = [(width, float(depth), "all cells") for width, depth in sorted(where.counts)]
    points += [(one.width, float(one.depth), one.name) for one in cells]
    x, y, kinds = zip(*points, strict=True)
    yield Scatter(
        "all-cells", f"width and depth of {where.words}, and of cells by name", "width", "depth", x, y, kinds=kinds
    )


@reproduction(
    "thesis-figure-4.9",
    caption="The widest and the narrowest linear cell: Theorems 4.3 and 4.4 measured",
    by_data=True,
    settings=LINEAR,
)
def figure_4_9(workshop: Workshop) -> Iterator[Found]:
    """Block-wise Lipschitz constants and gradient variances of the narrowest linear cell over those of the widest.

    For three objectives and several sizes of the matrices (λ is about twice the scale); means over `draws`. The columns
    "holds" are the shares of blocks of which Theorem 4.3, Theorem 4.4, and our bound in the place of Theorem 4.3 are true.
    Theorem 4.3 as printed needs an objective that is linear in the nodes; see `foresee.insight.linear_cells`.
    """
    own = workshop.own(LINEAR)
    size = {key: own[key] for key in ("nodes", "width", "samples")}
    for objective in CURVING:
        for scale in own["scales"]:
            seeds = range(workshop.seed, workshop.seed + own["draws"])
            found = [compare(objective, scale=scale, seed=seed, **size) for seed in seeds]  # type: ignore[arg-type]
            row, blocks = f"{objective}/scale-{scale:g}", [block for one in found for block in one.blocks]
            yield Cell(row, "Lipschitz, narrowest over widest", mean_of_few([one.smoothness for one in found]))
            yield Cell(row, "gradient variance, narrowest over widest", mean_of_few([one.noise for one in found]))
            for column, key in (
                ("Theorem 4.3 holds (%)", "smooth_holds"),
                ("our bound holds (%)", "ours_holds"),
                ("Theorem 4.4 holds (%)", "variance_holds"),
            ):
                yield Cell(row, column, exactly(100 * float(np.mean([getattr(one, key) for one in blocks]))))
