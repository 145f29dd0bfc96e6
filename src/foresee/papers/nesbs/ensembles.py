"""Ensembles found and trained, beside those of others: Tables 5.1 and 5.2 of the thesis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Unavailable, missing
from foresee.papers.darts_trained import PRINTED, known
from foresee.papers.nesbs.rows import ENSEMBLES, OTHER, apart, ensembles, errors, others, size_in_words, spent
from foresee.papers.nesbs.shared import images_of
from foresee.papers.numbers import published
from foresee.papers.trained import CIFAR, CIFAR100, printed, size
from foresee.papers.workshop import NOT_ASKED, Workshop
from foresee.spaces.find import get
from foresee.statistics import mean_of_few

#: Table 5.2: rows of single networks -> the sampler whose members they are
SINGLES = {
    "NAS algorithms/nasnet-a": "NASNet_A",
    "NAS algorithms/amoebanet-a": "AmoebaNet_A",
    "NAS algorithms/enas": "ENAS",
    "NAS algorithms/darts": "DARTS_V2",
    "NAS algorithms/gdas": "GDAS_V1",
}
#: of which a deep ensemble is trained all the same
DEEP = ("ENAS", "DARTS_V2")
OTHERS = "ensemble (search) algorithms"
#: Table 5.2: rows of ensembles -> sampler
TOGETHER = {
    f"{OTHERS}/mc-droppath-enas": "droppath:ENAS",
    f"{OTHERS}/deepens-enas": "deep:ENAS",
    f"{OTHERS}/deepens-darts": "deep:DARTS_V2",
    f"{OTHERS}/nes-rs": "nes_rs",
    "NESBS/nesbs-mc-sampling": "mc",
    "NESBS/nesbs-svgd-rd": "svgd_rd",
}
#: Table 5.1, in NAS-Bench-201
SMALL = {
    "ensemble (search) algorithms/deepens": "deep:ResNet",
    "ensemble (search) algorithms/nes-rs": "nes_rs",
    "NESBS/nesbs-mc-sampling": "mc",
    "NESBS/nesbs-svgd-rd": "svgd_rd",
}
NO_CELL = "no cell of it is at hand"
QUOTED = "quoted by the thesis from Dong and Yang (2020): searches of single networks, which thesis-table-6.1 runs"
COST = "in GPU time of the authors' machine; ours is in seconds, in a column of its own"
UNTRAINED = "trained = false, or singles = false: only counted"


@reproduction(
    "thesis-table-5.2",
    judged=False,
    by_row=True,
    by_data=True,
    settings={**ENSEMBLES, "singles": True, "trained": True},
)
def table_5_2(workshop: Workshop) -> Iterator[Found]:
    """Ensembles of 3 in the DARTS space: NESBS beside deep ensembles, MC DropPath and NES-RS, and single networks.

    Parameters are of 36 channels and 20 cells as printed, means over the members. Errors are of networks of `channels` and
    `layers` after `epochs` of nasi_cifar (the thesis' recipe), the same for all rows: they compare the rows with each other.
    Supernet, posterior and members learn from 70 % of the images or are fitted to the other 30 %; the best of T = 5 draws is
    taken by inherited weights, the draws of SVGD-RD going through delta from -2 to 1; NES-RS selects from a `pool` of trained
    networks. MC DropPath drops with probability 0.01. Rows of `others` are ours alone, at the training budget of NESBS: the
    pool of NES-RS has as many networks there as the epochs of supernet and members train. A row of a single network is the
    mean over the networks of its deep ensemble. Supernet, posterior and networks of a seed are shared by all tables of the
    chapter (--set table.work=DIR). The thesis' members: 36 channels, 20 cells, 600 epochs.
    """
    own = workshop.own({**ENSEMBLES, "singles": True, "trained": True})
    images = images_of(workshop, own)
    columns = [column.name for column in published("thesis-table-5.2").columns]
    rows = {**SINGLES, **TOGETHER}
    for row in published("thesis-table-5.2").rows:
        address = row.address
        if workshop.rows and address not in workshop.rows:
            yield from missing([address], columns, NOT_ASKED)
        elif address not in rows:
            yield from missing([address], columns, NO_CELL)
        else:
            yield from _row_5_2(workshop, own, address, images)
    for name, sampler in others(workshop, own).items() if own["trained"] else ():
        yield from _trained(workshop, {**own, "pool": 0}, f"{OTHERS}/{name}", sampler, images)


@reproduction("thesis-table-5.1", judged=False, by_row=True, by_data=True, settings=ENSEMBLES)
def table_5_1(workshop: Workshop) -> Iterator[Found]:
    """Ensembles of 3 in NAS-Bench-201 of `channels` and `cells` in a stage (the benchmark: 16 and 5), trained for
    `epochs` on the images of --data; otherwise as thesis-table-5.2.

    The thesis does not say of which cell its deep ensemble is: here of the benchmark's ResNet, whose row is the mean of those
    networks. Searches of single networks are quoted. The thesis takes the benchmark's 200 epochs.
    """
    own = workshop.own(ENSEMBLES)
    images = images_of(workshop, own)
    column = f"nasbench201-{images}" if images != "here" else images
    columns = [one.name for one in published("thesis-table-5.1").columns]
    for row in published("thesis-table-5.1").rows:
        address = row.address
        if workshop.rows and address not in workshop.rows:
            yield from missing([address], columns, NOT_ASKED)
        elif address in SMALL or address == "manual design/resnet":
            yield from _small(workshop, own, address, column, SMALL.get(address, ""))
            yield from missing([address], [one for one in columns if one not in (column, "search-cost")], OTHER)
            yield Cell.missing(address, "search-cost", COST)
        else:
            yield from missing([address], columns, QUOTED)
    for name, sampler in others(workshop, own).items():
        yield from _small(workshop, {**own, "pool": 0}, f"{OTHERS}/{name}", column, sampler)


# -- rows --------------------------------------------------------------------------------------------------------------
def _small(workshop: Workshop, own: Mapping[str, Any], row: str, column: str, sampler: str) -> Iterator[Cell]:
    """A row of Table 5.1; without a sampler that of a single ResNet, the mean over its deep ensemble."""
    try:
        found = ensembles(workshop, own, sampler or "deep:ResNet", "nasbench201")
    except Unavailable as why:
        yield Cell.missing(row, column, str(why))
        return
    yield Cell(row, column, mean_of_few(errors(found, "error" if sampler else "ate")), size_in_words(own, "cells"))
    if sampler:
        yield from spent(row, found)
    if sampler not in ("", "uniform") and "uniform" in others(workshop, own).values():
        yield _beside_uniform(workshop, own, row, column, found, "nasbench201")


def _row_5_2(workshop: Workshop, own: Mapping[str, Any], row: str, images: str) -> Iterator[Cell]:
    """A row of Table 5.2: what it counts, what it errs."""
    single, sampler = SINGLES.get(row), TOGETHER.get(row, "")
    columns = [column.name for column in published("thesis-table-5.2").columns]
    if own["trained"] and sampler:
        yield from _trained(workshop, own, row, sampler, images)
    elif own["trained"] and single and (own["singles"] or single in DEEP):
        several = {} if single in DEEP else {"size": 1}
        try:
            found = ensembles(workshop, {**own, **several}, f"deep:{single}")
            yield Cell(row, f"{images}:error", mean_of_few(errors(found, "ate")), size_in_words(own))
        except Unavailable as why:
            yield Cell.missing(row, f"{images}:error", str(why))
    else:
        yield Cell.missing(row, f"{images}:error", UNTRAINED)
    cell = single or sampler.partition(":")[2]
    if cell:
        for task, name in ((CIFAR, "cifar10"), (CIFAR100, "cifar100")):
            yield size(row, f"{name}:params", [printed(known(cell), task, **PRINTED)])
    elif not own["trained"]:
        yield from missing([row], ("cifar10:params", "cifar100:params"), UNTRAINED)
    unseen = [one for one in columns if one.endswith(":error") and one != f"{images}:error"]
    yield from missing([row], unseen, OTHER)
    yield Cell.missing(row, "search-cost", COST)


def _trained(workshop: Workshop, own: Mapping[str, Any], row: str, sampler: str, images: str) -> Iterator[Cell]:
    """Error, size and cost of the ensembles of a sampler."""
    try:
        found = ensembles(workshop, own, sampler)
    except Unavailable as why:
        yield Cell.missing(row, f"{images}:error", str(why))
        return
    yield Cell(row, f"{images}:error", mean_of_few(errors(found)), size_in_words(own))
    if sampler != "uniform" and "uniform" in others(workshop, own).values():
        yield _beside_uniform(workshop, own, row, f"{images}:error", found)
    if ":" not in sampler:  # a cell by name is counted once
        for task, name in ((CIFAR, "cifar10"), (CIFAR100, "cifar100")):
            counts = [_params(one["architectures"], task) for one in found.values()]
            yield Cell(row, f"{name}:params", mean_of_few(counts), "mean over the members")
    yield from spent(row, found)


def _beside_uniform(
    workshop: Workshop,
    own: Mapping[str, Any],
    row: str,
    column: str,
    found: Mapping[int, Mapping[str, Any]],
    space: str = "darts",
) -> Cell:
    """What an ensemble errs less than one of uniform draws."""
    column = f"{column} minus uniform sampling's"
    try:
        return Cell(
            row, column, mean_of_few(apart(found, ensembles(workshop, own, "uniform", space))), "paired by seed"
        )
    except Unavailable as why:
        return Cell.missing(row, column, str(why))


def _params(texts: Sequence[str], task: Any) -> float:
    """Mean parameters, in millions, at the printed size."""
    space = get("darts", **PRINTED)
    return float(np.mean([space.counts(space.parse(text), task).params for text in texts])) / 1e6
