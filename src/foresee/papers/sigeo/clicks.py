"""SiGeo on click logs: Tables 1 and 5, Figures 3 and 4."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter, missing
from foresee.papers.clicks import REDUCED, Judged, Method, by_hand, foremost, found, log_of, searched
from foresee.papers.numbers import published
from foresee.papers.trained import seeds
from foresee.papers.workshop import NOT_ASKED, Workshop
from foresee.statistics import Estimate, mean_of_few

#: row -> the network made by hand
BY_HAND = {"dlrm": "dlrm", "xdeepfm": "xdeepfm", "autoint-plus": "autoint", "deepfm": "deepfm"}
#: searches of others, of which there is no code here
QUOTED = ("dnas", "profit", "autoctr")
WHY_QUOTED = "quoted only: this search is not run here"
ONE, SUB, ZERO = "one-shot (100% warm-up)", "sub-one-shot (1% warm-up)", "zero-shot (0% warm-up)"
#: Table 5: row without its space -> how it is searched for
METHODS = {
    f"{ONE}/random-search": Method("random"),
    f"{ONE}/nasrecnet": Method("nasrecnet"),
    f"{ONE}/sigeo": Method("sigeo", "100%"),
    f"{SUB}/zico": Method("zico", "1%"),
    f"{SUB}/sigeo": Method("sigeo", "1%"),
    f"{ZERO}/zico": Method("zico", "0%"),
    f"{ZERO}/sigeo": Method("sigeo", "0%"),
}
#: Table 1: row -> the row of Table 5 that it is the better space of
SHORT = {
    "one-shot/nasrecnet": f"{ONE}/nasrecnet",
    "zero-shot/zico": f"{ZERO}/zico",
    "zero-shot/sigeo": f"{ZERO}/sigeo",
    "sub-one-shot/sigeo": f"{SUB}/sigeo",
}
#: Figure 4: what is left of SiGeo
TERMS = ("sigeo", "zico", "fisher_rao")
COST = "search-cost"
OTHER_LOG = "the run looks at one log, and this is another (--schema, --set table.log)"
WHY_COST = "in GPU days of the authors' machine; ours is in seconds, in a column of its own"


@reproduction("sigeo-table-5", judged=False, by_row=True, by_data=True, settings=REDUCED)
def table_5(workshop: Workshop) -> Iterator[Found]:
    """Networks by hand and networks found in NASRec-Small and -Full, trained alike on the log of --data.

    The paper's procedure at a small size: batch-wise aging evolution over 24 candidates in place of 2,048 in spaces of 3
    blocks and narrow widths, by SiGeo, by its first term (ZiCo), or by the validation log loss after 20 steps of the last
    layer in place of 500 (NASRecNet), after 100 %, 1 % or no warm-up of the supernet; random search trains 4 draws. The
    best 3 of a search (the paper: 15) are trained from scratch by the recipe ctr_reduced (the paper: one epoch of ctr), the
    best by validation is judged by the test rows: log loss and AUC, means over --repeats searches and `seeds` trainings.
    Networks by hand are trained by the same recipe, with their authors' sizes. SiGeo is Definition 1 with weights 1, 1, 1
    after a warm-up and 1, 1, 0 without. DNAS, PROFIT and AutoCTR are quoted only. With --schema criteo, avazu or kdd2012
    (or --set table.log=criteo) ours stands beside that log's numbers, else in columns of its own. The paper's size is
    --set table.evaluations=2048 with population 128, sample 64, children 8, top 15, recipe ctr, supernet nasrec_supernet,
    batch 512 and steps 500, and --set nasrec_small.blocks=7 with all widths (docs/sigeo.md).
    """
    own = workshop.own(REDUCED)
    log = log_of(workshop, own)
    for row in published("sigeo-table-5").rows:
        if workshop.rows and row.address not in workshop.rows:
            yield from _empty(row.address, "sigeo-table-5", NOT_ASKED)
        elif row.key in QUOTED:
            yield from _empty(row.address, "sigeo-table-5", WHY_QUOTED)
        else:
            judged = _judged(workshop, row.address, own)
            yield from _row(row.address, "sigeo-table-5", judged, log)


@reproduction("sigeo-table-1", judged=False, by_row=True, by_data=True, settings=REDUCED)
def table_1(workshop: Workshop) -> Iterator[Found]:
    """The rows of sigeo-table-5 that the paper puts first, of each the better of NASRec-Small and -Full by validation.

    That is how the printed numbers come from Table 5. All else is as there; PROFIT and AutoCTR are quoted only.
    """
    own = workshop.own(REDUCED)
    log = log_of(workshop, own)
    for row in published("sigeo-table-1").rows:
        if workshop.rows and row.address not in workshop.rows:
            yield from _empty(row.address, "sigeo-table-1", NOT_ASKED)
        elif row.address not in SHORT:
            yield from _empty(row.address, "sigeo-table-1", WHY_QUOTED)
        else:
            both = [found(workshop, METHODS[SHORT[row.address]], size, own) for size in own["spaces"]]
            best = min(range(len(both)), key=lambda place: both[place].validation)
            workshop.note(f"{row.address}: NASRec-{own['spaces'][best].title()} is the better space")
            yield from _row(row.address, "sigeo-table-1", both[best], log)


@reproduction(
    "sigeo-figure-3",
    judged=False,
    by_data=True,
    settings=REDUCED,
    caption="Click-through prediction: log loss against the cost of the search, in NASRec-Small and NASRec-Full",
)
def figure_3(workshop: Workshop) -> Iterator[Found]:
    """Log loss on test rows against the seconds of the search, a point for each way to search: those of sigeo-table-5.

    The paper's figure has its search costs in GPU days and its log losses from Table 5: they stand there.
    """
    own = workshop.own(REDUCED)
    for size in own["spaces"]:
        points = {row: found(workshop, method, size, own) for row, method in METHODS.items()}
        for row, judged in points.items():
            yield from judged.cells(f"NASRec-{size.title()}/{row.replace('/', ', ')}", log_of(workshop, own))
        yield Scatter(
            f"nasrec-{size}",
            f"NASRec-{size.title()}: log loss against the cost of the search; from left to right "
            + "; ".join(sorted(points, key=lambda row: float(np.mean(points[row].seconds)))),
            "search (seconds)",
            "log loss on test rows",
            tuple(float(np.mean(one.seconds)) for one in points.values()),
            tuple(float(np.mean(one.losses)) for one in points.values()),
        )


@reproduction(
    "sigeo-figure-4",
    judged=False,
    by_data=True,
    settings=REDUCED,
    caption="What each term of SiGeo is worth: test log losses of the best networks by SiGeo, ZiCo and the Fisher-Rao norm",
)
def figure_4(workshop: Workshop) -> Iterator[Found]:
    """Log losses on test rows of the foremost that each proxy chooses after 1 % warm-up, all of them trained from scratch.

    SiGeo with weights 1, 1, 1, its first term alone (ZiCo) and its second alone (the Fisher-Rao norm); the searches of
    sigeo-table-5, of which the best `top` are trained (the paper: 15). The boxes go from the lower to the upper quartile.
    """
    own = workshop.own(REDUCED)
    for size in own["spaces"]:
        losses = {term: tuple(_foremost(workshop, term, size, own)) for term in TERMS}
        for term, seen in losses.items():
            row = f"NASRec-{size.title()}/{term.replace('_', '-')}"
            yield Cell(row, "mean", mean_of_few(seen), f"{len(seen)} networks trained")
            quarters = np.quantile(seen, (0, 0.25, 0.5, 0.75, 1))
            for column, value in zip(
                ("least", "lower quartile", "median", "upper quartile", "greatest"), quarters, strict=True
            ):
                yield Cell(row, column, Estimate(float(value), n=len(seen)))
        yield Scatter(
            f"nasrec-{size}",
            f"NASRec-{size.title()}: test log losses of the foremost by what is left of SiGeo",
            "what is followed",
            "log loss on test rows",
            tuple(float(place) for place, seen in enumerate(losses.values()) for _ in seen),
            tuple(loss for seen in losses.values() for loss in seen),
            boxes=("SiGeo", "ZiCo", "Fisher-Rao norm"),
        )


# -- rows -----------------------------------------------------------------------------------------------------------------
def _judged(workshop: Workshop, row: str, own: Mapping[str, Any]) -> Judged | None:
    """What stands in a row of Table 5; None where its space was not asked for."""
    group, _, key = row.partition("/")
    if group == "hand-crafted":
        return by_hand(workshop, BY_HAND[key], own)
    name, _, size = key.rpartition("-nasrec-")
    return found(workshop, METHODS[f"{group}/{name}"], size, own) if size in own["spaces"] else None


def _foremost(workshop: Workshop, term: str, size: str, own: Mapping[str, Any]) -> Iterable[float]:
    """The log losses of the foremost by what is left of SiGeo."""
    for seed in seeds(workshop):
        for one in foremost(workshop, searched(workshop, Method(term, "1%"), size, own, seed), own).foremost:
            if one.trained is not None and one.trained.judged is not None:
                yield one.trained.judged.loss


def _row(row: str, table: str, judged: Judged | None, log: str) -> Iterator[Cell]:
    """Ours in the columns of the log and in columns of its own, and why the others are empty."""
    if judged is None:
        yield from _empty(row, table, "the space was not asked for (--set table.spaces)")
        return
    yield from judged.cells(row, log)
    for column in published(table).columns:
        if column.name == COST:
            yield Cell.missing(row, COST, WHY_COST)
        elif column.name.partition(":")[0] != log:
            yield Cell.missing(row, column.name, OTHER_LOG)


def _empty(row: str, table: str, why: str) -> Iterator[Cell]:
    return missing([row], [column.name for column in published(table).columns], why)
