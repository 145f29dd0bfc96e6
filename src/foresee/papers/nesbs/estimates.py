"""Estimated against true performance: Table 5.6 of the thesis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from foresee.ensembles.finding.estimation import BY, SIZES, agreement
from foresee.ensembles.finding.members import Member, labels_of
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Unavailable, missing
from foresee.papers.nesbs.rows import ENSEMBLES, asked
from foresee.papers.nesbs.shared import Study
from foresee.papers.nesbs.work import by_seed
from foresee.papers.workshop import Workshop
from foresee.statistics import mean_of_few

#: row -> what is measured, and times what it is printed
ROWS = {"spearman": ("spearman", 1), "pearson": ("pearson", 1), "agreement-30": ("agreement", 100)}
#: the rows of ours alone: likelihoods instead of errors
LIKELY = "by likelihood"


@reproduction("thesis-table-5.6", judged=False, by_data=True, settings=ENSEMBLES)
def table_5_6(workshop: Workshop) -> Iterator[Found]:
    """How test errors by inherited weights order those after training, over all ensembles of n networks out of a pool.

    The pool is that of NES-RS (thesis-table-5.2), uniform draws from the DARTS space trained one by one; the thesis takes 10
    networks of diverse estimates and 100 epochs (--set table.pool=10), with which there are 10, 120, 252 and 120 ensembles of
    1, 3, 5 and 7. Agreement-30% is the share of the foremost 30 % by estimate that are among the truly foremost 30 %; chance
    gives 30 %. Ensembles of one pool share networks, so the interval is over --repeats supernets and pools, not over
    ensembles. The rows by likelihood are ours: of the negative log likelihoods, which are finer than errors.
    """
    own = workshop.own(ENSEMBLES)
    how = asked(own, "nes_rs")

    def look(seed: int) -> dict[str, Any]:
        study = Study(workshop, own, seed)
        return study.kept("agreement", [how, own["statistics"]], partial(_agreement, study, how))

    try:
        found = list(by_seed(workshop, look).values())
    except Unavailable as why:
        yield from missing(ROWS, [f"n={size}" for size in SIZES], str(why))
        return
    for by in BY:
        group = "" if by == "error" else f"{LIKELY}/"
        for place, size in enumerate(SIZES):
            column = f"n={size}"
            if place >= len(found[0][by]):
                few = f"a pool of {own['pool']} has no {size} networks (--set table.pool=10)"
                yield from missing([f"{group}{row}" for row in ROWS], [column], few)
                continue
            each = [one[by][place] for one in found]
            words = f"{each[0]['ensembles']} ensembles of {own['pool']} networks"
            for row, (key, times) in ROWS.items():
                seen = [times * one[key] for one in each if one[key] is not None]
                yield Cell(f"{group}{row}", column, mean_of_few(seen), words)


def _agreement(study: Study, how: Mapping[str, Any]) -> dict[str, Any]:
    run = study.run("nes_rs", **how)
    members = [Member.from_json(one) for one in run.selected["pool"]]
    texts, labels = [one.text for one in members], labels_of(study.parts.test)
    estimated = study.inherited.together(texts, "test")
    trained = study.common.members.pool(members, "test")
    rows = {by: [one.to_json() for one in agreement(estimated, trained, labels, by=by)] for by in BY}
    return {"architectures": texts, **rows}
