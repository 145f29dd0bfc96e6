"""NASI on NAS-Bench-1Shot1: how the trace norm of the kernel is approximated, and what it foresees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from foresee.batch import Batch
from foresee.benchmarks import tasks
from foresee.benchmarks.agreement import agnosticism
from foresee.benchmarks.table import Rows, Table
from foresee.papers.asked import Asked, Coefficient, Measured
from foresee.papers.base import reproduction
from foresee.papers.bins import binned, bins
from foresee.papers.cells import Cell, Found, Scatter, Unavailable, missing
from foresee.papers.samples import BENCHMARKS, Sample
from foresee.papers.workshop import Workshop
from foresee.scoring import score
from foresee.scoring.scorer import Scorer
from foresee.seeds import generator, stream
from foresee.spaces.find import get as get_space

SPACES = ("nasbench1shot1-s1", "nasbench1shot1-s2", "nasbench1shot1-s3")
#: the networks looked at: 9 cells with 16 channels, the width of the benchmark's one-shot network; trained were 128
NETWORK = {"channels": 16}
#: and those whose kernel is taken exactly, with how many samples: a backward run for each sample and output
SMALL, EXACT = {"channels": 8}, 8
BATCH = 64
BATCHES = (4, 8, 16, 32, 64, 128)
#: architectures whose mean trace norm is the constraint (Eq. 40)
CONSTRAINT = 50
#: architectures of Table 7, and of what takes one or two backward runs for each
FEW, SIZE = 40, 300
CONDITIONED = "nasi-conditioned"


# -- with accuracies: the spaces whose tables are at hand ---------------------------------------------------------------
@reproduction("nasi-table-3", also=("thesis-table-6.5",), size=f"{SIZE} architectures of each space")
def table_3(workshop: Workshop) -> Iterator[Found]:
    """Correlation with the test accuracy: zero-cost-nas' forms with 64 samples (GraSP with its sign), NASWOT, NASI's metric.

    The networks are the cells' own with 16 channels, where the benchmark trained 128. NASI (conditioned) is the
    squared length of the gradient of the mean loss (Eq. 12), over the architectures where it is below nu, its mean
    over the first 50 of the sample (Eq. 40); nu sees no accuracy. The row nasi is the same over all of them and has
    no number in the paper.
    """
    names = ("snip", "grasp", "synflow", "naswot", "nasi")
    for benchmark in SPACES:
        columns: dict[str, Coefficient] = {f"{benchmark}:spearman": "spearman", f"{benchmark}:kendall": "kendall"}
        try:
            sample = workshop.sampled(benchmark, size=SIZE)
        except Unavailable as why:
            yield from missing([*names, CONDITIONED], columns, why)
            continue
        found = workshop.measure(
            sample, {name: Asked(name, batch_size=BATCH, space_settings=NETWORK) for name in names}
        )
        within, nu = below(found["nasi"])
        words = f"{int(within.sum())} of {len(sample)} are below nu = {nu:.4g}"
        for column, coefficient in columns.items():
            for name in names:
                yield Cell(
                    name, column, workshop.correlation(found[name], sample.truth, coefficient), found[name].words
                )
            truth = np.where(within, sample.truth, np.nan)
            yield Cell(CONDITIONED, column, workshop.correlation(found["nasi"], truth, coefficient), words)


def below(trace: Measured) -> tuple[NDArray[np.bool_], float]:
    """Which trace norms, means over repeats, are below nu, the mean of the first 50; and nu."""
    means = trace.values.mean(0)
    nu = float(np.nanmean(means[:CONSTRAINT]))
    return means < nu, nu


@reproduction(
    "nasi-figure-3",
    caption="Test error against the approximated trace norm on NAS-Bench-1Shot1, in bins",
    size=f"{SIZE} architectures of each space",
)
def figure_3(workshop: Workshop) -> Iterator[Found]:
    """The trade-off: mean error in bins of the approximated trace norm (Eq. 12, 64 samples, 16 channels).

    Bins hold equally many architectures, at least 5; bars are half of the standard deviation, as in the paper. The
    rows give the error of the bin in which it is least, of the first and of the last one; the paper has the picture
    only, in which the error falls to a minimum and rises again.
    """
    for benchmark in SPACES:
        try:
            sample = workshop.sampled(benchmark, size=SIZE)
        except Unavailable as why:
            yield Cell.missing("least error", benchmark, str(why))
            continue
        errors = 100 - sample.truth
        found = workshop.measure(sample, {"nasi": Asked("nasi", batch_size=BATCH, space_settings=NETWORK)})
        trace = found["nasi"].values.mean(0)
        groups = bins(trace)
        if not groups:
            yield Cell.missing("least error", benchmark, f"{len(sample)} architectures are too few for bins")
            continue
        best = min(range(len(groups)), key=lambda place: float(errors[groups[place]].mean()))
        for row, place in (("first bin", 0), ("least error", best), ("last bin", -1)):
            words = f"bin {best + 1} of {len(groups)}" if row == "least error" else ""
            yield Cell(row, benchmark, workshop.mean(errors[groups[place]]), words)
        text = f"error against approximated trace norm, {benchmark}; the least error of all is {errors.min():.2f} %"
        labels = ("approximated trace norm", "test error (%)")
        yield binned(f"error-{benchmark}", text, labels, trace, errors, scale=0.5)


# -- without accuracies: all three spaces -------------------------------------------------------------------------------
def drawn(workshop: Workshop, benchmark: str, size: int) -> Sample:
    """Cells drawn from the benchmark's list of the space, each as likely; accuracies play no part."""
    workshop.check_asked(benchmark)
    about = BENCHMARKS[benchmark]
    space = get_space(about.space, **tasks.of(about.space, about.task)[1])
    rng = stream(workshop.seed, "cells of", benchmark)
    texts = [str(space.sample(rng)) for _ in range(workshop.sample or size)]
    nothing = {name: np.empty(0, dtype) for name, dtype in Rows.TYPES.items()}
    table = Table(about.space, tuple(dict.fromkeys(texts)), Rows(**nothing, tasks=(), metrics=()))
    return Sample(benchmark, about.space, about.task, "", texts, np.full(len(texts), np.nan), table)


@reproduction("nasi-table-7", also=("thesis-table-6.7",), size=f"{FEW} cells of each space")
def table_7(workshop: Workshop) -> Iterator[Found]:
    """Pearson of the approximated with the exact trace norm of the kernel, over cells drawn from each space.

    Exact: the kernel of all outputs by all parameters of 8 samples, on networks with 8 channels, because it takes a
    backward run for each sample and output; the paper says neither its width nor its samples. Mini-batch: the squared
    length of the gradient of the mean loss of 4 to 128 samples (Eq. 12); sum: of the squared lengths of the 8
    samples' own (Eq. 11).
    """
    wanted = {"exact": Asked("ntk_trace", batch_size=EXACT, space_settings=SMALL)}
    wanted |= {f"batch-{size}": Asked("nasi", batch_size=size, space_settings=SMALL) for size in BATCHES}
    wanted |= {"sum-of-sample-norms": Asked("nasi_sum", batch_size=EXACT, space_settings=SMALL)}
    for benchmark in SPACES:
        try:
            sample = drawn(workshop, benchmark, FEW)
        except Unavailable as why:
            yield from missing([benchmark], [column for column in wanted if column != "exact"], why)
            continue
        found = workshop.measure(sample, wanted)
        exact = found.pop("exact").values.mean(0)
        for column, approximated in found.items():
            estimate = workshop.correlation(approximated, exact, "pearson")
            yield Cell(benchmark, column, estimate, approximated.words.replace("ranked last", "left out"))


@reproduction("nasi-figure-1", size=f"{SIZE} cells of each space")
def figure_1(workshop: Workshop) -> Iterator[Found]:
    """Pearson of the approximated trace norm with random and with true labels, and with random and with true data.

    Cells are drawn from each space; 64 samples, 16 channels, the same weights for all three. Random labels are
    uniform, random data is Gaussian noise with the true labels; true is what the proxies look at (--data).
    """
    size = min(BATCH, workshop.batch_size or BATCH)
    for benchmark in SPACES:
        try:
            sample = drawn(workshop, benchmark, SIZE)
        except Unavailable as why:
            yield from missing(["random-vs-true-labels", "random-vs-true-data"], [benchmark], why)
            continue
        true, labels, noise = np.array(workshop.each(sample, agnostic, NETWORK, size=size)).T
        for row, other, words in (
            ("random-vs-true-labels", labels, "random labels"),
            ("random-vs-true-data", noise, "random data"),
        ):
            found = agnosticism(true, other, bootstrap=workshop.bootstrap, seed=workshop.seed)
            yield Cell(row, benchmark, found.pearson, f"{found.failed} without a value" if found.failed else "")
            text = f"approximated trace norm with {words} against true ones for {len(sample)} networks of {benchmark}"
            name = f"{row}-{benchmark}"
            yield Scatter(name, text, "true", words, tuple(true.tolist()), tuple(other.tolist()))


def agnostic(scorer: Scorer, text: str, size: int) -> list[float]:
    """The approximated trace norm of one network with the true batch, with random labels, and with random data."""
    seed = scorer.settings.seed
    network, batch = scorer.candidate(text).build(), scorer.data.batch(size, seed=seed)
    assert isinstance(batch.inputs, torch.Tensor)
    draws = generator(seed, "random labels and data")
    labels = torch.randint(scorer.task.outputs, (len(batch),), generator=draws)
    noise = torch.randn(batch.inputs.shape, generator=draws)
    seen = (batch, Batch(batch.inputs, labels), Batch(noise, batch.labels))
    found = [score(network, one, "nasi", seed=seed, device=scorer.settings.device) for one in seen]
    return [np.nan if one.value is None else one.value for one in found]
