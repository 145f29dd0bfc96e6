"""HNAS and its rivals on NAS-Bench-201: what they pick, over the evaluations, and how the bound they follow gets better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter, Unavailable
from foresee.papers.one_shot_searches import one_shot_rows
from foresee.papers.samples import benchmark, choose
from foresee.papers.searches import Picks, picks
from foresee.papers.workshop import Workshop
from foresee.searchers.hnas import FORMS, KAPPA
from foresee.searchers.unified import Bounds
from foresee.statistics import correlate

COLUMNS = ("nasbench201-cifar10", "nasbench201-cifar100", "nasbench201-imagenet16")
#: what a search may see: validation accuracy after 12 epochs
SEEN = {column: f"val_acc_{column.rpartition('-')[2]}@12" for column in COLUMNS}
METRICS = ("grad", "snip", "grasp", "trace", "knas", "fisher", "synflow", "naswot")
#: architectures of the pool; evaluations of HNAS (released code), and of what is trained for 12,000 seconds
POOL, EVALUATIONS, TRAINED = 2000, 20, 100


@dataclass(frozen=True)
class Row:
    """A searcher as a row: whether it sees validation results, and by which proxy it scores otherwise."""

    searcher: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    sees: bool = True
    proxy: str = "params"
    evaluations: int | None = TRAINED


def hnas(metric: str, workshop: Workshop) -> Row:
    """HNAS with one metric. kappa at 4 channels, where the thesis finds it best (Table 7.11)."""
    name = metric if metric in ("fisher", "synflow", "naswot") else f"m_{metric}"
    settings = {"metric": name, "pool": workshop.sample or POOL, "kappa_settings": {"channels": 4}}
    return Row("hnas", settings, evaluations=EVALUATIONS)


def trained(workshop: Workshop, column: str) -> dict[str, Row]:
    """The rows that train a one-shot network, at a reduced size."""
    found = one_shot_rows(workshop, column, ("enas", "darts-1st", "darts-2nd", "gdas"))
    return {name: Row(searcher, settings, sees=False, evaluations=1) for name, (searcher, settings) in found.items()}


def rivals(workshop: Workshop) -> dict[str, Row]:
    """The rows of Table 7.3 that need no supernet to be trained."""
    many = workshop.sample or 1000
    return {
        "rea": Row("evolution", {"population": 10, "sample": 3}),
        "rs-w-o-sharing": Row("random"),
        "reinforce": Row("reinforce"),
        "bohb": Row("successive_halving"),
        "naswot": Row("best_of", {"pool": many}, sees=False, proxy="naswot", evaluations=1),
        "te-nas": Row("te_nas", sees=False, evaluations=1),
        "knas": Row("best_of", {"pool": many}, sees=False, proxy="knas", evaluations=1),
        "nasi": Row("nasi", {"steps": 400}, sees=False, evaluations=1),
        **{f"hnas-{metric}": hnas(metric, workshop) for metric in METRICS[:4]},
    }


def run(workshop: Workshop, row: Row, column: str) -> Picks:
    """The picks of one row on one data set."""
    return picks(
        workshop,
        column,
        row.searcher,
        row.settings,
        seen=SEEN[column] if row.sees else "",
        proxies=(row.proxy,),
        evaluations=row.evaluations,
    )


def table(workshop: Workshop, rows: Mapping[str, Row]) -> Iterator[Cell]:
    """Test accuracies of the picks, and of the best there is."""
    for column in COLUMNS:
        for name, row in rows.items():
            try:
                yield run(workshop, row, column).cell(name, column, workshop)
            except Unavailable as why:
                yield Cell.missing(name, column, str(why))
        yield best(workshop, column)


def best(workshop: Workshop, column: str) -> Cell:
    """The row `optimal`: the greatest number of the table."""
    about = benchmark(column)
    try:
        workshop.check_asked(column)
        found, target = choose(workshop.known_tables, about.space, about.targets[:1])
    except Unavailable as why:
        return Cell.missing("optimal", column, str(why))
    return Cell("optimal", column, workshop.mean(np.array([np.nanmax(found.values(target))] * 2)))


@reproduction("thesis-table-7.13", size=f"a pool of {POOL:,}, {EVALUATIONS} evaluations, one search for each repeat")
def table_7_13(workshop: Workshop) -> Iterator[Found]:
    """Test accuracy of what HNAS picks on NAS-Bench-201 with each of eight metrics.

    A pool of 2,000 (--sample), the metric on networks with 16 channels and kappa with 4, 20 evaluations: validation
    accuracies after 12 epochs, which are all that the search sees. M_SNIP and M_GraSP are the thesis' forms (Eq. 7.3). Means
    over --repeats searches (the thesis: five).
    """
    yield from table(workshop, {f"hnas-{metric}": hnas(metric, workshop) for metric in METRICS})


@reproduction("thesis-table-7.3", size=f"a pool of {POOL:,}, {EVALUATIONS} evaluations, one search for each repeat")
def table_7_3(workshop: Workshop) -> Iterator[Found]:
    """Test accuracy of HNAS beside searches that see validation results, and training-free ones, on NAS-Bench-201.

    REA (population 10, sample 3), random search, REINFORCE and BOHB (successive halving) spend 100 evaluations of the
    12-epoch validation accuracy, about what 12,000 seconds allow; NASWOT and KNAS take the best of 1,000 (--sample); TE-NAS
    prunes; NASI takes 400 steps. ENAS, DARTS (both orders) and GDAS train a one-shot network on half of the data and see no
    table: by default a small one for a few epochs; `--set gdas.epochs=250` and the like make them larger (docs/rivals.md).
    HNAS is as in thesis-table-7.13.
    """
    yield from table(workshop, {**rivals(workshop), **trained(workshop, COLUMNS[0])})


@reproduction(
    "thesis-figure-7.3",
    caption="Test accuracy over the evaluations spent, HNAS and others, NAS-Bench-201",
    size=f"a pool of {POOL:,}, {EVALUATIONS} evaluations, one search for each repeat",
)
def figure_7_3(workshop: Workshop) -> Iterator[Found]:
    """Mean test accuracy of the pick so far after each evaluation on CIFAR-10, bars are standard errors over --repeats.

    HNAS with M_Trace, random search, REA, REINFORCE, BOHB, all following the 12-epoch validation accuracy; the thesis has
    the picture only.
    """
    rows = {name: row for name, row in rivals(workshop).items() if row.sees and not name.startswith("hnas")}
    for name, row in {**rows, "hnas-trace": hnas("trace", workshop)}.items():
        try:
            curves = run(workshop, row, COLUMNS[0]).curves
        except Unavailable as why:
            yield Cell.missing(name, COLUMNS[0], str(why))
            continue
        mean = np.nanmean(curves, 0)
        errors = np.nanstd(curves, 0, ddof=1) / np.sqrt(len(curves)) if len(curves) > 1 else np.zeros_like(mean)
        yield Cell(name, COLUMNS[0], workshop.mean(curves[:, -1]))
        text = f"test accuracy of the pick of {name} over its evaluations, {len(curves)} searches"
        places = tuple(float(place) for place in range(1, len(mean) + 1))
        yield Scatter(
            name, text, "evaluations", "test accuracy (%)", places, tuple(mean.tolist()), tuple(errors.tolist())
        )


@reproduction(
    "thesis-figure-7.5",
    caption="Correlation of HNAS' bound with the test error over its steps, NAS-Bench-201",
    size=f"a pool of {POOL:,}, {EVALUATIONS} evaluations",
)
def figure_7_5(workshop: Workshop) -> Iterator[Found]:
    """Spearman of the bound kappa / M + mu (M^2 - nu)^2 with the test error over the pool, at the best (mu, nu) so far.

    After each evaluation of HNAS with M_Trace the pair that has validated best is taken; the pool stands for the whole space.
    Mean over --repeats searches, bars are half of the standard deviation. The thesis has the picture only: it rises.
    """
    column = COLUMNS[0]
    try:
        found = run(workshop, hnas("trace", workshop), column)
        held, target = choose(workshop.known_tables, "nasbench201", benchmark(column).targets[:1])
    except Unavailable as why:
        yield Cell.missing("first", column, str(why))
        return
    truth = dict(zip(held.architectures, held.values(target), strict=True))
    curves = np.array([correlations(one.record, truth, workshop) for one in found.runs])
    for name, place in (("first", 0), ("last", -1)):
        yield Cell(name, column, workshop.mean(curves[:, place]))
    mean = curves.mean(0)
    bars = tuple((0.5 * curves.std(0, ddof=1)).tolist()) if len(curves) > 1 else ()
    text = f"Spearman of the bound with the test error over the pool, {len(curves)} searches"
    places = tuple(float(place) for place in range(1, len(mean) + 1))
    yield Scatter("correlation", text, "evaluations", "Spearman with test error", places, tuple(mean.tolist()), bars)


def correlations(record: Any, truth: Mapping[str, float], workshop: Workshop) -> list[float]:
    """After each evaluation of a run of HNAS, how the bound at the best (mu, nu) so far ranks the test errors."""
    pool = [row.outcome for row in record.steps if "point" not in row.outcome]
    metric = next(name for name in pool[0] if name not in ("architecture", KAPPA))
    texts = [text for part in pool for text in part["architecture"]]
    columns = (np.array([value for part in pool for value in part[name]], float) for name in (metric, KAPPA))
    bounds = Bounds.of(np.abs(next(columns)), next(columns), power=FORMS["squared"])
    points = [row.outcome["point"] for row in record.steps if "point" in row.outcome]
    errors = np.array([100 - truth.get(text, np.nan) for text in texts])
    best, found = -np.inf, list[float]()
    for point, row in zip(points, record.candidates, strict=False):
        if row.merit is not None and row.merit > best:
            best = row.merit
            value = bounds.at(10.0 ** point[0], 10.0 ** point[1])
            known = np.isfinite(value) & np.isfinite(errors)
            now = correlate(value[known], errors[known], bootstrap=0, seed=workshop.seed, top=()).spearman.value
        found.append(now)
    return found
