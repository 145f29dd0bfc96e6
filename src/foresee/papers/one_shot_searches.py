"""Searches that train a one-shot network, as rows of the papers' tables, and over their epochs: NASI's Figure 2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter, Unavailable, missing
from foresee.papers.nasi import SPACES
from foresee.papers.samples import Floats
from foresee.papers.searches import picks
from foresee.papers.workshop import Workshop

#: the one-shot network has independent choices: cells as it gives them, without their loose ends
TRIMMED = {"loose_ends": "trimmed"}
#: by row, who searches, and what is smaller than published beside epochs and network
ROWS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "random": ("rsps", {"draws": 50, "again": 0}),
    "enas": ("enas", {"controller_steps": 20, "draws": 20}),
    "darts-1st": ("darts_1st", {}),
    "darts-2nd": ("darts_2nd", {}),
    "gdas": ("gdas", {}),
    "pc-darts": ("pc_darts", {"warmup": 2}),
}
#: epochs and batches of a size that a CPU does in minutes
REDUCED = {"epochs": 6, "batches": 20, "batch": 16}
NETWORKS: Mapping[str, Mapping[str, int]] = {
    "nasbench201": {"channels": 4, "cells": 1},
    "nasbench1shot1": {"channels": 4, "cells": 3},
}
#: rows of Figure 2, in its order; DARTS in the order that costs less
FIGURE = ("random", "pc-darts", "enas", "darts-1st", "gdas")


def one_shot_rows(workshop: Workshop, benchmark: str, names: Sequence[str]) -> dict[str, tuple[str, dict[str, Any]]]:
    """By row, the searcher and its settings at the reduced size; what the workshop asks for comes on top."""
    network = next(size for start, size in NETWORKS.items() if benchmark.startswith(start))
    epochs = f"{REDUCED['epochs']} epochs of {REDUCED['batches']} batches of {REDUCED['batch']}"
    size = " and ".join(f"{count} {name}" for name, count in network.items())
    workshop.note(
        f"one-shot searches at a reduced size: {epochs}, a network with {size}, unless --set searcher.key=value says "
        "otherwise (`foresee searchers NAME` has the published values)"
    )
    return {name: (ROWS[name][0], {**REDUCED, **ROWS[name][1], "one_shot": dict(network)}) for name in names}


@reproduction(
    "nasi-figure-2",
    also=("thesis-figure-6.2",),
    caption="Test error of what is picked over the search budget on NAS-Bench-1Shot1: NASI and searches that train",
    size=f"{REDUCED['epochs']} epochs of {REDUCED['batches']} batches, one search for each repeat",
)
def figure_2(workshop: Workshop) -> Iterator[Found]:
    """Mean test error (%) of the pick after each epoch of the search, by table lookup; bars are standard errors.

    Random search with parameter sharing, PC-DARTS, ENAS, DARTS (first order), GDAS over their epochs, on half of the data for
    weights and half for the architecture; NASI (T = 100 steps, mu = 1, nu adaptive from 1000) as one point at one epoch. By
    default a small network, NASI's too, for a few epochs, where the paper has 20 (`--set gdas.epochs=20`); means over
    --repeats searches (the paper: ten). Random search and ENAS answer after an epoch with the best of ten draws by one
    validation batch. Picks that the table does not hold are left out of the means, and their share is said. The paper has the
    picture only.
    """
    for column in SPACES:
        try:
            workshop.sampled(column, size=1)
        except Unavailable as why:
            yield from missing([*FIGURE, "nasi"], [column], why)
            continue
        small = {"batch": REDUCED["batch"], "one_shot": dict(NETWORKS["nasbench1shot1"])}
        for row, (searcher, settings) in {**one_shot_rows(workshop, column, FIGURE), "nasi": ("nasi", small)}.items():
            try:
                found = picks(workshop, column, searcher, settings, space_settings=TRIMMED)
            except Unavailable as why:
                yield Cell.missing(row, column, str(why))
                continue
            yield found.cell(row, column, workshop, error=True)
            yield from curve(f"{row}-{column}", 100 - (found.values[:, None] if row == "nasi" else found.over_steps))


def curve(name: str, errors: Floats) -> Iterator[Scatter]:
    """Errors (searches, epochs) as a line of a figure; an epoch of which the table holds no pick is left out."""
    epochs = [place for place in range(errors.shape[1]) if not np.isnan(errors[:, place]).all()]
    known = [errors[:, place][~np.isnan(errors[:, place])] for place in epochs]
    bars = [float(np.std(one, ddof=1) / np.sqrt(len(one))) if len(one) > 1 else 0.0 for one in known]
    share = float(np.isnan(errors).mean())
    text = f"test error of the pick of {name} over its epochs, {len(errors)} searches; "
    text += f"{share:.0%} of the picks are not in the table"
    x, y = tuple(float(place + 1) for place in epochs), tuple(float(one.mean()) for one in known)
    if epochs:
        yield Scatter(name, text, "epochs", "test error (%)", x, y, tuple(bars))
