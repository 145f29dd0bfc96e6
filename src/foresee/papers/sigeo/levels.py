"""SiGeo's Table 3: ZiCo and SiGeo after a little warm-up, and what it gains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeAlias

import numpy as np

from foresee.papers.asked import Measured
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Unavailable, missing
from foresee.papers.dextr.suite import suite_targets
from foresee.papers.samples import Floats, Sample
from foresee.papers.sigeo.shared import Sharing
from foresee.papers.sigeo.warming import WARM_UP, Descent, Levels, Warming, warmed
from foresee.papers.workshop import Workshop
from foresee.proxies.base import Score
from foresee.statistics import Estimate, gain

#: networks of a benchmark where no sample is asked for
SIZE = 300
#: SiGeo's batch, of which it takes four
BATCH = 64
#: Appendix F.2: the weights of the three terms without warm-up, and with it
COLD, WARM = (1.0, 1.0, 0.0), (1.0, 50.0, 1.0)
#: the terms as the parts of a score are called, with their signs
TERMS = {"steadiness": 1, "fisher_rao": 1, "loss": -1}
#: SiGeo as it is read, by the names of its rows; every term is asked for at every level and weighted afterwards
READINGS = {"sigeo": "sigeo:vision", "sigeo-literal": "sigeo:literal", "sigeo-released": "sigeo:released_cv"}
EVERY_TERM = {proxy: {"lambda2": WARM[1], "lambda3": WARM[2]} for proxy in READINGS.values()}
#: the terms alone, as rows; the first is ZiCo (Remark 2)
ALONE = {"zico": "steadiness", "fisher-rao": "fisher_rao", "loss": "loss"}
GRADIENT = "mean_abs_gradient"
NAMES = ("zico", "sigeo", "sigeo-literal", "sigeo-released", "fisher-rao", "loss", "mean-abs-gradient")
BENCHMARKS = (
    "nasbench101",
    "nasbench201-cifar10",
    "nasbench201-cifar100",
    "nasbench201-imagenet16",
    "nasbench301",
)
#: the table's own settings; `shared` adds the same from one supernet
SETTINGS: dict[str, Any] = {**WARM_UP, "shared": False}
#: what was measured, by the name of a row and its level
Rows: TypeAlias = dict[tuple[str, int], Measured]
COEFFICIENTS: tuple[Literal["spearman", "kendall"], ...] = ("spearman", "kendall")


@reproduction("sigeo-table-3", settings=SETTINGS, size=f"{SIZE} architectures of each benchmark")
def table_3(workshop: Workshop) -> Iterator[Found]:
    """Spearman and Kendall of ZiCo and SiGeo with the accuracy after 0, 10, 20 and 40 % warm-up, and what warm-up gains.

    Every network is trained by itself (4.3.2) and scored on its way. How is not said: here SGD as NAS-Bench-201 trains (rate
    0.1, momentum 0.9, decay 0.0005, batches of 128) at a rate that stays, without augmentation. 40 % are 156 steps, those of
    40 % of 50,000 images, whatever the number of images at hand (--set table.samples=6000 counts other ones). SiGeo is
    Definition 1 at weights that stay, from four batches of 64, with 1, 1, 0 at 0 % and 1, 50, 1 above; ZiCo is its first
    term (Remark 2). Beside the paper's rows: the literal reading of the first term, the form of the public code, the terms
    alone, and the gain from the first to the last level (a paired bootstrap over the networks). Accuracies as in
    sigeo-table-2. --set table.shared=true adds the same with weights inherited from one supernet, whose paths are drawn
    uniformly, after as many steps. One benchmark: --benchmark nasbench201-cifar10; thinner networks: --set
    nasbench201.channels=8.
    """
    own = workshop.own(SETTINGS)
    descent = Descent.of(own)
    for benchmark in BENCHMARKS:
        try:
            sample = workshop.sampled(benchmark, size=SIZE, targets=suite_targets(benchmark))
        except Unavailable as why:
            rows = [row(name, level) for name in ("zico", "sigeo") for level in descent.levels]
            yield from missing(rows, [f"{benchmark}:{one}" for one in COEFFICIENTS], why)
            continue
        size = min(BATCH, workshop.batch_size or BATCH)
        scorer = workshop.scorer(sample, (*READINGS.values(), GRADIENT), settings=EVERY_TERM, batch_size=size)
        found = made(warmed(workshop, Warming(scorer, descent), sample.texts), descent.levels)
        yield from cells(workshop, sample, found, descent.levels)
        if own["shared"]:
            with supernets_of(workshop) as folder:
                work = Sharing(scorer, descent, folder)
                work.prepare(range(workshop.seed, workshop.seed + workshop.repeats))
                found = made(warmed(workshop, work, sample.texts), descent.levels)
            yield from cells(workshop, sample, found, descent.levels, "from one supernet")


@contextmanager
def supernets_of(workshop: Workshop) -> Iterator[Path]:
    """Where supernets are kept: beside the scores, or for this run only."""
    if workshop.cache is not None:
        yield workshop.cache.parent / "supernets"
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)


def cells(workshop: Workshop, sample: Sample, found: Rows, levels: Sequence[int], group: str = "") -> Iterator[Cell]:
    """The correlation of every row at every level, then what each gains from the first level to the last."""
    under = f"{group}/" if group else ""
    for name, level, coefficient in product(NAMES, levels, COEFFICIENTS):
        column = f"{sample.benchmark}:{coefficient}"
        yield workshop.cell(f"{under}{row(name, level)}", column, found[name, level], sample.truth, coefficient)
    title = " ".join(filter(None, (f"gain from {levels[0]} to {levels[-1]} %", group)))
    for name, coefficient in product(NAMES, COEFFICIENTS):
        ends = [found[name, level].merits for level in (levels[0], levels[-1])]
        each = [
            gain(before, after, sample.truth, coefficient=coefficient, bootstrap=workshop.bootstrap, seed=workshop.seed)
            for before, after in zip(*ends, strict=True)
        ]
        yield Cell(f"{title}/{name}", f"{sample.benchmark}:{coefficient}", Estimate.mean(each))


def row(name: str, level: int) -> str:
    """How the table calls a row."""
    return f"{name}-{level}-warm-up"


def made(scores: Levels, levels: Sequence[int]) -> Rows:
    """The rows, by name and level, from the scores of the readings and of the gradient; more is better."""
    found: Rows = {}
    for level in levels:
        weights = WARM if level else COLD
        for name, proxy in READINGS.items():
            of = scores[level, proxy]
            # A term of weight 0 is not even looked at: where it is infinite it would turn the value into NaN.
            weighted = [w * s * _part(of, term) for w, (term, s) in zip(weights, TERMS.items(), strict=True) if w]
            found[name, level] = Measured(np.sum(weighted, axis=0), reasons=_reasons(of))
        of = scores[level, READINGS["sigeo"]]
        for name, term in ALONE.items():
            found[name, level] = Measured(TERMS[term] * _part(of, term), reasons=_reasons(of))
        of = scores[level, GRADIENT]
        values = np.array([[np.nan if one.value is None else one.value for one in each] for each in of], np.float64)
        found["mean-abs-gradient", level] = Measured(values, reasons=_reasons(of))
    return found


def _part(scores: Sequence[Sequence[Score]], term: str) -> Floats:
    return np.array([[one.parts.get(term, np.nan) for one in each] for each in scores], np.float64)


def _reasons(scores: Sequence[Sequence[Score]]) -> Mapping[str, int]:
    return Counter(one.reason for each in scores for one in each if not one.ok)
