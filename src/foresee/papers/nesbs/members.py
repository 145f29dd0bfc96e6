"""Members of ensembles, how good and how diverse: Table 5.5 and Figure 5.4 of the thesis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter, Unavailable, missing
from foresee.papers.nesbs.maps import distances, laid_out
from foresee.papers.nesbs.rows import ENSEMBLES, OTHER, ensembles, errors, others
from foresee.papers.nesbs.shared import images_of
from foresee.papers.numbers import published
from foresee.papers.trained import seeds
from foresee.papers.workshop import NOT_ASKED, Workshop
from foresee.statistics import Estimate, mean_of_few

#: Table 5.5 and Figure 5.4
COMPARED = {
    "mc-droppath-darts": "droppath:DARTS_V2",
    "deepens-darts": "deep:DARTS_V2",
    "nes-rs": "nes_rs",
    "nesbs-mc-sampling": "mc",
    "nesbs-svgd-rd": "svgd_rd",
}


@reproduction("thesis-table-5.5", judged=False, by_row=True, by_data=True, settings=ENSEMBLES)
def table_5_5(workshop: Workshop) -> Iterator[Found]:
    """Averaged test error of the members (ATE) and pairwise predictive disagreement (PPD), in %, of thesis-table-5.2's
    ensembles; beside them the ensemble's own error, what it gains over its best member, likelihood and calibration.
    """
    own = workshop.own(ENSEMBLES)
    images = images_of(workshop, own)
    columns = [column.name for column in published("thesis-table-5.5").columns]
    equal = others(workshop, own)
    for row, sampler in (COMPARED | equal).items():
        if workshop.rows and row not in workshop.rows:
            yield from missing([row], columns, NOT_ASKED)
            continue
        try:
            found = ensembles(workshop, {**own, "pool": 0} if row in equal else own, sampler)
        except Unavailable as why:
            yield from missing([row], columns, str(why))
            continue
        for column, key in (
            ("ate", "ate"),
            ("ppd", "ppd"),
            ("error", "error"),
            ("calibration error", "calibration_error"),
        ):
            yield Cell(row, f"{images}:{column}", mean_of_few(errors(found, key)))
        gains = [100 * (min(one["test"]["members"]) - one["test"]["error"]) for one in found.values()]
        yield Cell(row, f"{images}:gain over the best member", mean_of_few(gains))
        yield Cell(row, f"{images}:nll", mean_of_few([one["test"]["nll"] for one in found.values()]))
        yield from missing([row], [one for one in columns if one.partition(":")[0] != images], OTHER)


@reproduction(
    "thesis-figure-5.4",
    judged=False,
    by_data=True,
    settings=ENSEMBLES,
    caption="Single-model performances and diverse model predictions of ensembles of 3: errors and a map of predictions",
)
def figure_5_4(workshop: Workshop) -> Iterator[Found]:
    """Test errors of the members of thesis-table-5.5's ensembles as boxes, and a map of what they predict.

    On the map two members are as far apart as the share of test samples on which they differ, as nearly as a plane allows
    (classical scaling, where the thesis has t-SNE, whose distances mean little); one map for each seed.
    """
    own = workshop.own(ENSEMBLES)
    found = dict[str, dict[int, dict[str, Any]]]()
    for row, sampler in COMPARED.items():
        try:
            found[row] = ensembles(workshop, own, sampler)
        except Unavailable as why:
            yield from missing([row], (f"{one} error of a member" for one in ("least", "mean", "greatest")), str(why))
    many = {
        row: [100 * error for one in runs.values() for error in one["test"]["members"]] for row, runs in found.items()
    }
    for row, seen in many.items():
        for column, value in (("least", min(seen)), ("mean", float(np.mean(seen))), ("greatest", max(seen))):
            yield Cell(row, f"{column} error of a member", Estimate(value, n=len(seen)))
    yield Scatter(
        "errors",
        "test errors of members, by how their ensemble was found",
        "found by",
        "test error (%)",
        tuple(float(place) for place, seen in enumerate(many.values()) for _ in seen),
        tuple(error for seen in many.values() for error in seen),
        boxes=tuple(many),
    )
    for seed in seeds(workshop):
        named = [(row, one) for row, runs in found.items() if seed in runs for one in runs[seed]["answers"]]
        if not named:
            continue
        points, shown = laid_out(distances(np.array([answers for _, answers in named])))
        text = (
            f"what members predict under seed {seed}: as far apart as they disagree; {shown:.0%} of it is in the plane"
        )
        x, y = (tuple(map(float, axis)) for axis in points.T)
        yield Scatter(f"map-seed-{seed}", text, "", "", x, y, kinds=tuple(row for row, _ in named))
