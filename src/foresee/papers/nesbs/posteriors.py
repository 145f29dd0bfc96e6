"""The posterior after a supernet's training beside that during it: Figure 5.5 and Table 5.7 of the thesis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from foresee.ensembles.finding.settings import BEST_RESPONSE, FITTED
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter, Unavailable, missing
from foresee.papers.nesbs.rows import ENSEMBLES, apart, asked, errors
from foresee.papers.nesbs.shared import USUAL, Study
from foresee.papers.nesbs.work import by_seed
from foresee.papers.workshop import NOT_ASKED, Workshop
from foresee.seeds import derive, stream
from foresee.statistics import mean_of_few

#: how the thesis calls them
CALLED = {"post-training": FITTED, "best-response": BEST_RESPONSE}
#: networks drawn uniformly and from the posterior, among which the best is looked for
LOOKED: Mapping[str, Any] = {**USUAL, "uniform": 30, "drawn": 20}
WHO = ("best-performing", "maximal-probability")


@reproduction(
    "thesis-figure-5.5",
    judged=False,
    by_data=True,
    settings=LOOKED,
    caption="Performance discrepancy of the post-training and the best-response posterior: best against likeliest network",
)
def figure_5_5(workshop: Workshop) -> Iterator[Found]:
    """Test errors (%) of the best-performing and of the likeliest network, and the gap, by inherited weights (5.5.2).

    The post-training posterior is fitted after a supernet's training with uniform paths, the best-response one while another
    supernet is trained with paths drawn from it. The space is too large to look at all of it: the best is that of `uniform`
    draws, `drawn` from the posterior, and the likeliest itself, by test error.
    """
    own = workshop.own(LOOKED)
    counts = {key: own[key] for key in ("uniform", "drawn", "statistics")}
    means: dict[tuple[str, str], float] = {}
    for row, posterior in CALLED.items():

        def look(seed: int, posterior: str = posterior) -> dict[str, Any]:
            study = Study(workshop, own, seed, posterior=posterior)
            return study.kept("discrepancy", counts, partial(_discrepancy, study, own))

        try:
            found = list(by_seed(workshop, look).values())
        except Unavailable as why:
            yield from missing([row], (*WHO, "gap"), str(why))
            continue
        for column in (*WHO, "gap"):
            value = mean_of_few([100 * one[column] for one in found])
            yield Cell(row, column, value, f"among {found[0]['looked at']} networks" if column == WHO[0] else "")
            means[row, column] = value.value
        yield Cell(row, "mean of uniform draws", mean_of_few([100 * one["mean"] for one in found]))
        yield Cell(row, "divergence from uniform", mean_of_few([one["divergence"] for one in found]), "in nats")
    there = [row for row in CALLED if (row, WHO[0]) in means]
    for column in WHO if there else ():
        workshop.note(f"{column}: {', '.join(f'{row} {means[row, column]:.2f} %' for row in there)}")
    yield Scatter(
        "discrepancy",
        "test errors of the best-performing and of the likeliest network, by inherited weights",
        ", ".join(there),
        "test error (%)",
        tuple(float(place) for place, _ in enumerate(there) for _ in WHO),
        tuple(means[row, column] for row in there for column in WHO),
        kinds=tuple(column for _ in there for column in WHO),
    )


def _discrepancy(study: Study, own: Mapping[str, Any]) -> dict[str, Any]:
    inherited, common, seed = study.inherited, study.common, derive(study.seed, "discrepancy")
    likeliest = str(common.architecture(common.posterior.mode()))
    uniform = [str(common.space.sample(stream(seed, number))) for number in range(own["uniform"])]
    drawn = [str(common.architecture(common.posterior.draw(seed, number))) for number in range(own["drawn"])]
    errors = {text: inherited.error([text]) for text in (likeliest, *uniform, *drawn)}
    best = min(errors.values())
    return {
        WHO[0]: best,
        WHO[1]: errors[likeliest],
        "gap": errors[likeliest] - best,
        "mean": sum(errors[text] for text in uniform) / max(1, len(uniform)),
        "divergence": common.posterior.divergence,
        "looked at": len(errors),
    }


@reproduction("thesis-table-5.7", judged=False, by_row=True, by_data=True, settings=ENSEMBLES)
def table_5_7(workshop: Workshop) -> Iterator[Found]:
    """Test error (%) of trained ensembles of 3 by NESBS with either posterior, and what the post-training one improves.

    Each with its own supernet, as in thesis-figure-5.5; members are trained as in thesis-table-5.2, whose ensembles those of
    the post-training posterior are. The thesis trains for 100 epochs.
    """
    own = workshop.own(ENSEMBLES)
    for row, sampler in (("nesbs-mc-sampling", "mc"), ("nesbs-svgd-rd", "svgd_rd")):
        if workshop.rows and row not in workshop.rows:
            yield from missing([row], (*CALLED, "improvement"), NOT_ASKED)
            continue
        found = dict[str, dict[int, dict[str, Any]]]()
        for column, posterior in CALLED.items():

            def look(seed: int, posterior: str = posterior, sampler: str = sampler) -> dict[str, Any]:
                return Study(workshop, own, seed, posterior=posterior).ensemble(sampler, **asked(own, sampler))

            try:
                found[column] = by_seed(workshop, look)
                yield Cell(row, column, mean_of_few(errors(found[column])))
            except Unavailable as why:
                yield Cell.missing(row, column, str(why))
        if len(found) == len(CALLED):
            gains = apart(found["best-response"], found["post-training"])
            yield Cell(row, "improvement", mean_of_few(gains), "paired by seed")
