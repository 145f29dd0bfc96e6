"""Estimated against true performance: Table 5.6 of the thesis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from foresee.ensembles.finding.members import Member, labels_of
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, missing
from foresee.papers.nesbs_agreement import MEASURED, by_size
from foresee.papers.nesbs_rows import ENSEMBLES, asked
from foresee.papers.nesbs_shared import Study
from foresee.papers.trained import seeds
from foresee.papers.workshop import Workshop
from foresee.statistics import mean_of_few

SIZES = (1, 3, 5, 7)


@reproduction("thesis-table-5.6", judged=False, by_data=True, settings=ENSEMBLES)
def table_5_6(workshop: Workshop) -> Iterator[Found]:
    """How test accuracies by inherited weights order those after training, over all ensembles of n networks out of a pool.

    The pool is that of NES-RS (thesis-table-5.2), uniform draws from the DARTS space trained one by one; the thesis takes 10
    networks of 100 epochs (--set table.pool=10), with which there are 10, 120, 252 and 120 ensembles of 1, 3, 5 and 7.
    Agreement-30% is the share of the foremost 30 % by estimate that are among the truly foremost 30 %. Ensembles of one pool
    share networks, so the interval is over --repeats supernets and pools, not over ensembles.
    """
    own = workshop.own(ENSEMBLES)
    how = asked(own, "nes_rs")
    found = []
    for seed in seeds(workshop):
        study = Study(workshop, own, seed)
        found.append(study.kept("agreement", [how, own["statistics"]], partial(_agreement, study, how)))
    for size in SIZES:
        column = f"n={size}"
        if column not in found[0]["sizes"]:
            yield from missing(
                MEASURED, [column], f"a pool of {own['pool']} has no {size} networks (--set table.pool=10)"
            )
            continue
        for row in MEASURED:
            seen = [value for one in found if (value := one["sizes"][column][row]) is not None]
            words = f"{math.comb(own['pool'], size)} ensembles of {own['pool']} networks"
            yield Cell(row, column, mean_of_few(seen), words)


def _agreement(study: Study, how: Mapping[str, Any]) -> dict[str, Any]:
    run = study.run("nes_rs", **how)
    members = [Member.from_json(one) for one in run.selected["pool"]]
    inherited, common = study.inherited, study.common
    estimated = inherited.together([one.text for one in members], "test")
    trained = common.members.pool(members, "test")
    sizes = by_size(estimated, trained, labels_of(study.parts.test), SIZES)
    plain = {
        column: {row: None if math.isnan(value) else value for row, value in one.items()}
        for column, one in sizes.items()
    }
    return {"architectures": [one.text for one in members], "sizes": plain}
