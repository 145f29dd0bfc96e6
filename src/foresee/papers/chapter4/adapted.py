"""Chapter 4 of the thesis, popular cells made widest and shallowest: Table 4.1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from foresee.insight.variants import published, widest
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found
from foresee.papers.trained import CIFAR, CIFAR100, REDUCED_CELLS, error, printed, seeds, size
from foresee.papers.workshop import Workshop
from foresee.spaces.candidate import Candidate
from foresee.spaces.darts.named import NAMED
from foresee.spaces.find import get
from foresee.statistics.student import mean_of_few
from foresee.task import Task

TINY_IMAGENET = Task((3, 64, 64), 200)
ADAPTED: Mapping[str, Any] = {**REDUCED_CELLS, "recipe": "nasi_cifar"}
#: row -> the published cell
ROWS = {"nasnet": "NASNet_A", "amoebanet": "AmoebaNet_A", "enas": "ENAS", "darts": "DARTS_V2", "snas": "SNAS"}


@reproduction("thesis-table-4.1", judged=False, by_data=True, settings=ADAPTED)
def table_4_1(workshop: Workshop) -> Iterator[Found]:
    """Popular cells as published, and made widest and shallowest (each node reads the cell's two inputs).

    Parameters are of 36 channels and 20 cells with the auxiliary head, as printed. The error is of networks of `channels` and
    `layers` after `epochs` of `recipe` on the images of --data, under as many seeds as --repeats: it compares the two
    with each other. The thesis trains 600 epochs with cutout, auxiliary head and dropped paths, as recipe nasi_cifar does.
    The columns "random" are of a randomly connected variant, the first that the thesis' code draws. The rows "all cells" are
    the differences, mean over the five cells.
    """
    own = workshop.own(ADAPTED)
    tasks = {"cifar10": CIFAR, "cifar100": CIFAR100, "tinyimagenet200": TINY_IMAGENET}
    errors: dict[str, list[float]] = {"original": [], "adapted": [], "random": []}
    for row, name in ROWS.items():
        cell = NAMED[name]
        made = {"original": cell, "adapted": widest(cell), "random": published(cell, "connections", 1)}
        for which, architecture in made.items():
            one = Candidate(get("darts"), architecture, CIFAR)
            for task, shape in tasks.items():
                large = printed(one, shape, channels=36, layers=20, auxiliary=True)
                yield size(row, f"{task}:params-{which}", [large])
                if task != "cifar10":
                    why = "one error is trained for, of the images of --data"
                    yield Cell.missing(row, f"{task}:error-{which}", why)
            many = [one] * len(seeds(workshop))
            found = error(workshop, row, f"cifar10:error-{which}", many, own, recipe=own["recipe"])
            yield found
            if found.estimate is not None:
                errors[which].append(found.estimate.value)
    for which in ("adapted", "random") if errors["original"] else ():
        apart = np.subtract(errors[which], errors["original"])
        words = f"cifar10:error-{which} minus original"
        yield Cell("all cells", words, mean_of_few(apart), "the interval is over cells")
