"""What NASI's own search picks: on NAS-Bench-1Shot1 with true and random labels and data, by width and batch, and on 201."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foresee.papers import trained
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Unavailable, missing
from foresee.papers.nasi import SPACES
from foresee.papers.one_shot_searches import TRIMMED, one_shot_rows
from foresee.papers.searches import picks
from foresee.papers.trained import NOT_TRAINED, REDUCED_CELLS, error
from foresee.papers.workshop import Workshop

MODES: Mapping[str, Mapping[str, Any]] = {
    "standard": {},
    "random-label": {"labels": "random"},
    "random-data": {"inputs": "random"},
}
WIDTHS, BATCHES = (2, 4, 8, 16, 32), (8, 16, 32, 64, 128)


def searched(
    workshop: Workshop,
    row: str,
    column: str,
    settings: Mapping[str, Any],
    benchmark: str = "",
    *,
    error: bool = True,
    searcher: str = "nasi",
) -> Cell:
    """One cell: NASI's (or another's) picks with these settings, of the benchmark that the column (or `benchmark`) names."""
    name = benchmark or column
    own = TRIMMED if "1shot1" in name else {}
    try:
        return picks(workshop, name, searcher, settings, space_settings=own).cell(row, column, workshop, error=error)
    except Unavailable as why:
        return Cell.missing(row, column, str(why))


@reproduction("nasi-table-2", also=("thesis-table-6.4",), settings=REDUCED_CELLS)
def table_2(workshop: Workshop) -> Iterator[Found]:
    """Test error of the picks of NASI's search (Algorithm 1) with true labels and data, random labels, and random data.

    The one-shot network of the benchmark at initialisation, 16 channels and 9 cells, T = 100 steps of 64 samples, mu = 1,
    nu adaptive from 1000. Means over --repeats searches (the paper: five); picks that the table does not hold are left out
    and counted. Nothing of the table is seen by the search. The cells of the DARTS space are found as preset nasi-ada-darts
    finds them and trained as in nasi-table-1: `channels`, `layers`, `epochs` of the images of --data, which is no benchmark.
    """
    own = workshop.own(REDUCED_CELLS)
    for row, settings in MODES.items():
        for column in SPACES:
            yield searched(workshop, row, column, settings)
        yield darts(workshop, row, settings, own)


def darts(workshop: Workshop, row: str, settings: Mapping[str, Any], own: Mapping[str, Any]) -> Cell:
    """The cell of the DARTS space: its picks are in no table and have to be trained, at a reduced size."""
    column = "darts-cifar10"
    try:
        workshop.check_asked(column)
    except Unavailable as why:
        return Cell.missing(row, column, str(why))
    if not own["trained"]:
        return Cell.missing(row, column, NOT_TRAINED)
    return error(workshop, row, column, trained.searched(workshop, "nasi-ada-darts", full=own["full"], **settings), own)


@reproduction("nasi-table-4", also=("thesis-table-6.1",), size="one search for each number and repeat")
def table_4(workshop: Workshop) -> Iterator[Found]:
    """Test accuracy of NASI's picks on NAS-Bench-201 with T = 100 steps and four times as many.

    The one-shot network at initialisation, 16 channels and 5 cells a stage, 64 samples a step, mu = 1, nu adaptive from 1000.
    The search looks at one data set; its picks are judged on each. ENAS, DARTS (both orders) and GDAS train a one-shot
    network on half of the data: by default a small one for a few epochs; `--set gdas.epochs=250` and the like make them
    larger. Rivals that train nothing are in thesis-table-7.3.
    """
    columns = ("nasbench201-cifar10", "nasbench201-cifar100", "nasbench201-imagenet16")
    for row, steps in (("nasi-t", 100), ("nasi-4t", 400)):
        for column in columns:
            yield searched(workshop, row, column, {"steps": steps}, error=False)
    for row, (searcher, own) in one_shot_rows(workshop, columns[0], ("enas", "darts-1st", "darts-2nd", "gdas")).items():
        for column in columns:
            yield searched(workshop, row, column, own, error=False, searcher=searcher)


def by(workshop: Workshop, values: Mapping[str, Mapping[str, Any]]) -> Iterator[Cell]:
    """A row for each space, a column for each setting."""
    for row in SPACES:
        try:
            workshop.sampled(row, size=1)
        except Unavailable as why:
            yield from missing([row], values, why)
            continue
        for column, settings in values.items():
            yield searched(workshop, row, column, settings, row)


@reproduction("nasi-table-6", also=("thesis-table-6.6",), size="one search for each number and repeat")
def table_6(workshop: Workshop) -> Iterator[Found]:
    """Test error of NASI's picks with one-shot networks of 2 to 32 channels; otherwise as nasi-table-2."""
    yield from by(workshop, {f"width-{width}": {"one_shot": {"channels": width}} for width in WIDTHS})


@reproduction("nasi-table-8", also=("thesis-table-6.8",), size="one search for each number and repeat")
def table_8(workshop: Workshop) -> Iterator[Found]:
    """Test error of NASI's picks with 8 to 128 samples a step; otherwise as nasi-table-2."""
    yield from by(workshop, {f"batch-{size}": {"batch": size} for size in BATCHES})
