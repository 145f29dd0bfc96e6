"""DARTS cells that NASI finds beside those of others, counted and trained: NASI Table 1, Figures 4 and 6, thesis 7.7."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter, missing
from foresee.papers.trained import (
    CIFAR,
    CIFAR100,
    NOT_TRAINED,
    REDUCED_CELLS,
    error,
    printed,
    searched,
    seeds,
    size,
    trained,
)
from foresee.papers.workshop import Workshop
from foresee.spaces.candidate import Candidate
from foresee.spaces.darts.named import NAMED
from foresee.spaces.find import get

#: what CIFAR networks of the papers are made of
PRINTED: Mapping[str, int] = {"channels": 36, "layers": 20}
#: row -> the published cell
KNOWN = {
    "nasnet-a": "NASNet_A",
    "amoebanet-a": "AmoebaNet_A",
    "enas": "ENAS",
    "darts-2nd": "DARTS_V2",
    "gdas": "GDAS_V1",
}
#: row -> the preset that finds it
NASI = {"nasi-fix": "nasi-fix-darts", "nasi-ada": "nasi-ada-darts"}
NUS, MUS = (10, 50, 100, 150, 200), (4, 3, 2, 1)
#: Figure 4: row -> what is varied, from nu = 100 and mu = 2
VARIED = {
    **{f"varying constraint nu/nu-{nu}": {"nu": nu} for nu in (10, 100, 200)},
    **{f"varying penalty mu/mu-{mu}": {"mu": mu} for mu in (1, 2, 3)},
}


def known(name: str) -> Candidate:
    """A published cell."""
    return Candidate(get("darts"), NAMED[name], CIFAR)


def compared(workshop: Workshop, presets: Mapping[str, str]) -> Iterator[Cell]:
    """The rows of published cells and those that presets find: sizes with 10 and 100 classes, and one trained error."""
    own = workshop.own(REDUCED_CELLS)
    for row in (*KNOWN, *presets):
        picks = (
            [known(KNOWN[row])] * workshop.repeats
            if row in KNOWN
            else searched(workshop, presets[row], full=own["full"])
        )
        for task, name in ((CIFAR, "cifar10"), (CIFAR100, "cifar100")):
            yield size(row, f"{name}:params", [printed(one, task, **PRINTED) for one in picks])
        yield error(workshop, row, "cifar10:error", picks, own)
        yield Cell.missing(row, "cifar100:error", "one error is trained for, of the images of --data")


@reproduction("nasi-table-1", also=("thesis-table-6.2",), judged=False, settings=REDUCED_CELLS)
def table_1(workshop: Workshop) -> Iterator[Found]:
    """Networks of NASI-FIX and NASI-ADA as their presets find them, beside published cells of others.

    Parameters (and MACs, beside them) are of 36 channels and 20 cells, as printed. The error is of networks of `channels`
    and `layers` after `epochs` of recipe nasi_cifar on the images of --data, for all rows alike: it compares them with each
    other. `full` searches at the published size; the paper trains 36 channels and 20 cells for 600 epochs. Of the other
    rivals no cell is at hand.
    """
    yield from compared(workshop, NASI)


@reproduction("thesis-table-7.7", judged=False, settings=REDUCED_CELLS)
def table_7_7(workshop: Workshop) -> Iterator[Found]:
    """NASI-ADA and HNAS as their presets find them, beside published cells of others; otherwise as nasi-table-1.

    HNAS evaluates what it chooses by a short training of its own, on the same images.
    """
    yield from compared(workshop, {"nasi-ada": NASI["nasi-ada"], "hnas-c10": "hnas-darts"})
    names = ("cifar10:error", "cifar100:error", "cifar10:params", "cifar100:params")
    yield from missing(["hnas-c100"], names, "found by looking at CIFAR-100: give it with --data, and see hnas-c10")


@reproduction("nasi-figure-4", judged=False, settings=REDUCED_CELLS)
def figure_4(workshop: Workshop) -> Iterator[Found]:
    """How large NASI's pick is under several constraints and penalties, and how the error falls while it is trained.

    Searches as preset nasi-fix-darts (the paper: nu = 100, mu = 2, T = 100, b = 64), parameters of 36 channels and 20 cells,
    curves of networks of `channels` and `layers` over `epochs`. Traces of the reduced preset are smaller than those of the
    published size, so the printed nu bind only with `full`.
    """
    own = workshop.own(REDUCED_CELLS)
    for row, settings in VARIED.items():
        picks = searched(workshop, NASI["nasi-fix"], full=own["full"], **{"nu": 100, "mu": 2, **settings})
        yield size(row, "params", [printed(one, CIFAR, **PRINTED) for one in picks])
        if not own["trained"]:
            continue
        shape = {key: own[key] for key in ("channels", "layers")}
        for one, seed in zip(picks, seeds(workshop), strict=True):
            found = trained(workshop, printed(one, CIFAR, **shape), own, "nasi_cifar", seed)
            judged = [(epoch.number, epoch.val_accuracy) for epoch in found.history if epoch.val_accuracy is not None]
            yield Scatter(
                f"{row.rpartition('/')[2]} seed {seed}",
                f"validation error while the pick under {row.rpartition('/')[2]} is trained",
                "epoch",
                "validation error (%)",
                tuple(float(number) for number, _ in judged),
                tuple(100 - 100 * accuracy for _, accuracy in judged),
            )


@reproduction("nasi-figure-6a", judged=False, settings={**REDUCED_CELLS, "mus": MUS})
def figure_6a(workshop: Workshop) -> Iterator[Found]:
    """The error of NASI's pick over a grid of constraints nu and penalties mu, trained as in nasi-table-1.

    The four mu of the printed rows cannot be read; they are `mus` here, from the top.
    """
    own = workshop.own({**REDUCED_CELLS, "mus": MUS})
    for place, mu in enumerate(own["mus"], 1):
        row = f"mu-row-{place}-from-the-top"
        for nu in NUS:
            column = f"nu-{nu}"
            if not own["trained"]:
                yield Cell.missing(row, column, NOT_TRAINED)
                continue
            picks = searched(workshop, NASI["nasi-fix"], full=own["full"], nu=nu, mu=mu)
            yield error(workshop, row, column, picks, own)
