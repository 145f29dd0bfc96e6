"""Chapter 7 of the thesis, the metrics among themselves: how they go together, and how error and kappa go with them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from foresee.papers.asked import Coefficient, Measured
from foresee.papers.base import reproduction
from foresee.papers.bins import binned, bins
from foresee.papers.cells import Cell, Found, Scatter, Unavailable, missing
from foresee.papers.guarantees import (
    COEFFICIENTS,
    FURTHER,
    METRICS,
    SIZE,
    UNSIGNED,
    WRITTEN,
    asked,
    base,
    metrics,
)
from foresee.papers.samples import Floats
from foresee.papers.workshop import Workshop
from foresee.statistics import Estimate, known_pairs, spearman

PAIRS = (
    *[("grad", "snip"), ("grad", "grasp"), ("grad", "trace"), ("snip", "grasp"), ("snip", "trace"), ("grasp", "trace")],
    *[("knas", "grad"), ("knas", "snip"), ("knas", "grasp"), ("knas", "trace")],
    *[("fisher", "trace"), ("synflow", "trace"), ("naswot", "trace")],
)
#: the same with Eq. 7.2 and 7.3 as they stand
WRITTEN_PAIRS = (("m-grad", "trace"), ("m-snip", "trace"), ("m-grasp", "trace"))


def between(workshop: Workshop, first: Measured, second: Measured, coefficient: Coefficient) -> tuple[Estimate, str]:
    """The correlation of two metrics over the architectures that have both, mean over repeats; and how many have not."""
    there = np.isfinite(first.values) & np.isfinite(second.values)
    found = [
        workshop.correlation(Measured(one[None, known]), other[known], coefficient)
        for one, other, known in zip(first.values, second.values, there, strict=True)
    ]
    left_out = int((~there).any(0).sum())
    return Estimate.mean(found), f"{left_out} of {there.shape[1]} left out: without one of the two" if left_out else ""


@reproduction("thesis-table-7.4", size=f"{SIZE} architectures of each benchmark")
def table_7_4(workshop: Workshop) -> Iterator[Found]:
    """Correlation between two metrics of the same architectures.

    Grad, SNIP, GraSP (without its sign), Fisher, SynFlow are zero-cost-nas' forms, as in the thesis' own code; the
    rows m-grad, m-snip, m-grasp are Eq. 7.2 and 7.3 as they stand and have no number in the thesis. 64 samples
    (M_Trace and M_KNAS 16, m-grasp 4), 16 channels, LeCun's weights; all metrics look at the same images.
    """
    for benchmark in ("nasbench101", "nasbench201-cifar10"):
        columns: dict[str, Coefficient] = {f"{benchmark}:{one}": one for one in ("pearson", *COEFFICIENTS)}
        rows = {f"gradient-based metrics/{a}-vs-{b}": (a, b) for a, b in PAIRS[:-3] + WRITTEN_PAIRS}
        rows |= {f"non-gradient-based metrics/{a}-vs-{b}": (a, b) for a, b in PAIRS[-3:]}
        try:
            sample = workshop.sampled(benchmark, size=SIZE)
        except Unavailable as why:
            yield from missing(rows, columns, why)
            continue
        wanted = {name: asked(proxy) for name, proxy in (METRICS | FURTHER | WRITTEN).items()}
        found = metrics(workshop, sample, wanted)
        for row, (a, b) in rows.items():
            proxies = [wanted[name].proxy for name in (a, b)]
            for column, coefficient in columns.items():
                estimate, words = between(workshop, found[a], found[b], coefficient)
                others = workshop.by_others(sample, proxies, coefficient, unsigned=UNSIGNED)
                yield Cell(row, column, estimate, "; ".join(filter(None, (words, others))))


@reproduction("thesis-figure-7.2", size=f"{SIZE} architectures of each benchmark")
def figure_7_2(workshop: Workshop) -> Iterator[Found]:
    """M_Trace against Grad, SNIP, GraSP, with Spearman's coefficient; the same scores as in Table 7.4.

    The thesis' coefficients are in the picture only.
    """
    for benchmark in ("nasbench101", "nasbench201-cifar10"):
        column, others = f"{benchmark}:spearman", [name for name in METRICS if name != "trace"]
        try:
            sample = workshop.sampled(benchmark, size=SIZE)
        except Unavailable as why:
            yield from missing([f"{name}-vs-trace" for name in others], [column], why)
            continue
        found = metrics(workshop, sample, {name: asked(proxy) for name, proxy in METRICS.items()})
        for name in others:
            yield Cell(f"{name}-vs-trace", column, *between(workshop, found[name], found["trace"], "spearman"))
            x, y = found["trace"].values.mean(0), found[name].values.mean(0)
            there = np.isfinite(x) & np.isfinite(y)
            text = f"{METRICS[name]} against M_Trace for {int(there.sum())} networks of {benchmark}"
            yield Scatter(
                f"{name}-{benchmark}",
                text,
                "M_Trace",
                METRICS[name],
                tuple(x[there].tolist()),
                tuple(y[there].tolist()),
            )


@reproduction(
    "thesis-figure-7.4",
    caption="Test error by bins of a metric (a), and kappa against the test error within each bin (b)",
    size=f"{SIZE} architectures of each benchmark",
)
def figure_7_4(workshop: Workshop) -> Iterator[Found]:
    """(a) Mean and standard deviation of the error in bins of a metric; (b) Spearman of kappa with the error in each bin.

    Bins hold equally many architectures, at least 5, and there are 20 where the sample allows; metrics and kappa as
    in Table 7.1. The row of a metric gives the mean of (b) over the bins, the row kappa the same over all architectures at
    once; the thesis has the picture only.
    """
    column = "kappa within bins:spearman"
    try:
        sample = workshop.sampled("nasbench201-cifar10", size=SIZE)
    except Unavailable as why:
        yield from missing(METRICS, [column], why)
        return
    found = metrics(workshop, sample, base(METRICS))
    condition, errors = found["kappa"].values.mean(0), 100 - sample.truth
    have, theirs = known_pairs(condition, errors)
    if len(have) > 2:
        every = workshop.correlation(Measured(have[None]), theirs, "spearman")
        yield Cell("kappa", "kappa over all:spearman", every, f"{len(have)} of {len(sample)} have a condition number")
    for name, proxy in METRICS.items():
        x = found[name].values.mean(0)
        groups = bins(x)
        within = [_within(condition[group], errors[group]) for group in groups]
        known = [(float(place), one) for place, one in enumerate(within, 1) if np.isfinite(one)]
        if not known:
            yield Cell.missing(name, column, f"{len(sample)} architectures are too few for bins")
            continue
        text = f"test error by {proxy} on {sample.benchmark}"
        yield binned(f"error-{name}", text, (proxy, "test error (%)"), x, errors)
        yield Cell(name, column, workshop.mean(np.array([one for _, one in known])), f"mean over {len(known)} bins")
        text = f"Spearman of kappa with the test error within {len(known)} bins of {proxy}"
        places, correlations = zip(*known, strict=True)
        yield Scatter(f"kappa-{name}", text, f"bin of {proxy}", "Spearman", places, correlations)


def _within(condition: Floats, errors: Floats) -> float:
    """Spearman over those with a condition number; NaN where there are too few."""
    known, theirs = known_pairs(condition, errors)
    return spearman(known, theirs) if len(known) > 2 else np.nan
