"""Ensembles by SVGD-RD with varying delta: Figure 5.7 of the thesis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter, Unavailable, missing
from foresee.papers.nesbs.search import SEARCHES, TAUS, drawn, in_words, over_seeds
from foresee.papers.nesbs.shared import Study
from foresee.papers.nesbs.work import by_seed
from foresee.papers.workshop import Workshop
from foresee.statistics import Estimate

#: Figure 5.7 goes through the range of delta; the thesis in steps of 0.5
OVER_DELTA: Mapping[str, Any] = {
    **SEARCHES, "size": 3, "taus": TAUS, "draws": 1, "deltas": (-2.0, -1.0, 0.0, 1.0)
}  # fmt: skip


@reproduction(
    "thesis-figure-5.7",
    judged=False,
    by_data=True,
    settings=OVER_DELTA,
    caption="Test error of ensembles by SVGD-RD with varying delta under several temperatures",
)
def figure_5_7(workshop: Workshop) -> Iterator[Found]:
    """Test error (%) of the best of `draws` ensembles of `size` by SVGD-RD at each delta, by inherited weights (5.5.3).

    The thesis has ensembles of 5. delta* is the one whose ensembles have the least validation loss, as a search would choose
    it. Otherwise as
    thesis-figure-5.6; the means of disagreeing members show that delta drives them apart.
    """
    own = workshop.own(OVER_DELTA)
    for tau in own["taus"]:
        row, means, losses = f"tau = {tau:g}", [], []
        try:
            look = partial(_over_delta, workshop, own, float(tau))
            studies = list(by_seed(workshop, look).values())
        except Unavailable as why:
            yield from missing([row], (f"delta = {delta:g}" for delta in own["deltas"]), str(why))
            continue
        for place, delta in enumerate(own["deltas"]):
            each = {key: [[100 * one for one in study[key][place]] for study in studies] for key in ("error", "ppd")}
            value = over_seeds(each["error"])
            means.append(value)
            losses.append(np.mean([study["loss"][place] for study in studies]))
            yield Cell(row, f"delta = {delta:g}", value, in_words(studies[0]["error"][place], len(studies)))
            yield Cell(f"disagreement of two members/{row}", f"delta = {delta:g}", over_seeds(each["ppd"]))
        best = own["deltas"][int(np.argmin(losses))]
        yield Cell(row, "delta*", Estimate(float(best)), "of the least validation loss")
        values = tuple(one.value for one in means)
        bars = tuple(_or_zero(one.half_width) for one in means)
        text = f"{row}: ensembles of {own['size']} by SVGD-RD; delta* = {best:g}"
        yield Scatter(f"tau-{tau:g}", text, "delta", "test error (%)", tuple(map(float, own["deltas"])), values, bars)


def _over_delta(workshop: Workshop, own: Mapping[str, Any], tau: float, seed: int) -> dict[str, Any]:
    """By delta: test errors, losses and disagreements, one for each trial."""
    study = Study(workshop, own, seed)
    asked = {key: own[key] for key in ("trials", "draws", "deltas", "steps", "size", "statistics")}
    return study.kept("delta", [tau, asked], lambda: _delta_made(study, tau, own))


def _delta_made(study: Study, tau: float, own: Mapping[str, Any]) -> dict[str, Any]:
    inherited, common, size = study.inherited, study.common, own["size"]
    found: dict[str, list[list[float]]] = {"error": [], "loss": [], "ppd": []}
    for delta in own["deltas"]:
        fixed = {**own, "deltas": (delta,)}
        best = []
        for trial in range(own["trials"]):
            tried = [
                [str(one) for one in drawn(common, "svgd_rd", size, number, fixed, trial, tau=tau)]
                for number in range(own["draws"])
            ]
            best.append(min(tried, key=inherited.loss))
        found["error"].append([inherited.error(one) for one in best])
        found["loss"].append([inherited.loss(one) for one in best])
        found["ppd"].append([inherited.disagreement(one) for one in best])
    return found


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value
