"""A study whose losses go by width, with maps around three cells; one cell diverged at the second rate."""

from __future__ import annotations

from foresee.insight.around import Around
from foresee.insight.curvature import Curvature
from foresee.insight.landscape import Landscape, NearConvex
from foresee.insight.studies import Curve, Study
from foresee.insight.trained import TrainedStudy
from foresee.insight.variants import family
from foresee.spaces.darts.named import NAMED

STEPS = (-0.5, 0.0, 0.5)


def made_up(variants=10, seeds=3, slope=-0.5, rates=(0.025, 0.25)):
    """Losses 3 + slope * width; `variants` as `family` makes them."""
    cells = tuple(family(NAMED["DARTS_V2"], variants, name="DARTS_V2"))
    curves = []
    for rate in rates:
        for seed in range(seeds):
            for cell in cells:
                end = 3 + slope * cell.width + 0.001 * seed
                lost = rate > 0.1 and cell.name == "DEEP"
                losses = (end + 8, end)[: 1 if lost else 2]
                ends = {"reason": "no number"} if lost else {"test_loss": end, "test_accuracy": 0.4}
                steps, right = (10, 20)[: len(losses)], (0.2, 0.3)[: len(losses)]
                curves.append(Curve(cell.name, rate, seed, steps, losses, losses, right, **ends))
    heights = tuple(tuple(1 + x * x + y * y for x in STEPS) for y in STEPS)
    bowl, convex = Landscape(STEPS, heights, heights, 1.0, 8, 0), NearConvex((0.5,), 0.5)
    around = [Around(one.name, 0, bowl, Curvature(9.0 / one.width, 0, 0, 2, 1.0, 8), convex) for one in cells[:4]]
    settings = {"epochs": 2, "channels": 4, "layers": 2, "recipe": "ch4_cifar"}
    return TrainedStudy(Study(cells, tuple(curves), settings), tuple(around))
