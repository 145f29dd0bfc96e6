"""Ensembles searched by inherited weights over growing budgets: Figures 5.3 and 5.6 of the thesis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from foresee.ensembles import sample_mc, sample_svgd_rd
from foresee.ensembles.finding.workshop import Common
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter, Unavailable, missing
from foresee.papers.nesbs.inherited import over_draws, over_pools
from foresee.papers.nesbs.shared import USUAL, Study
from foresee.papers.nesbs.work import by_seed
from foresee.papers.samples import Floats
from foresee.papers.workshop import Workshop
from foresee.seeds import derive, stream
from foresee.statistics import Estimate, mean_of_few

#: row -> sampler, in the order of the figures
ROWS = {"urs": "uniform", "nes-rs": "nes_rs", "nesbs-mc-sampling": "mc", "nesbs-svgd-rd": "svgd_rd"}
#: rows of ours: the posterior is a proxy's, and the proxy chooses among the draws
FREE_ROWS = {"training-free-mc-sampling": "mc", "training-free-svgd-rd": "svgd_rd"}
#: the delta that draws of SVGD-RD go through, the middle of the range first: looking for delta is part of the budget
DELTAS = (0.0, -0.5, 0.5, -1.0, 1.0, -1.5)
#: a size for two cores; the thesis: 5 trials, budgets up to 30 networks, L = 1000 steps of SVGD-RD
SEARCHES: Mapping[str, Any] = {
    **USUAL, "trials": 2, "draws": 2, "deltas": DELTAS, "steps": 300, "proxy_samples": 50, "statistics": 4
}  # fmt: skip
BY_BUDGET: Mapping[str, Any] = {**SEARCHES, "sizes": (3,), "proxy": "naswot"}
TAUS = (0.1, 1.0, 10.0)
BEST = "single best"


@reproduction(
    "thesis-figure-5.3",
    judged=False,
    by_data=True,
    settings=BY_BUDGET,
    caption="Search effectiveness and efficiency: test error of ensembles against the evaluation budget",
)
def figure_5_3(workshop: Workshop) -> Iterator[Found]:
    """Test error (%) of the ensemble that validation prefers, after each of `draws` draws, all by inherited weights (5.4.1).

    Uniform sampling, NES-RS (forward selection from a growing pool), NESBS by MC sampling and by SVGD-RD, in the DARTS space
    for ensembles of `sizes`; an ensemble of n costs n evaluations, whoever draws it, and NES-RS has a pool of as many. The
    draws of SVGD-RD go through `deltas`, so looking for delta is paid from the same budget. Means over `trials` draws of each
    of --repeats supernets. The single best is the least test error of any network looked at: chosen by the test, a bound.
    The training-free rows are ours: drawn from the posterior of a `proxy` ("" leaves them out) and chosen by that proxy, so
    that no inherited weight is looked at before the test, by which they are judged like the others.
    Supernet and posterior are smaller than the thesis' (C = 16, 8 cells, 50 and 20 epochs, 70 % of 50,000 images).
    """
    own = workshop.own(BY_BUDGET)
    for size in own["sizes"]:
        yield from _curves(f"n = {size}", workshop, own, rows_of(own), int(size))


@reproduction(
    "thesis-figure-5.6",
    judged=False,
    by_data=True,
    settings={**SEARCHES, "size": 3, "taus": TAUS},
    caption="MC sampling and SVGD-RD under several temperatures: test error of ensembles against the evaluation budget",
)
def figure_5_6(workshop: Workshop) -> Iterator[Found]:
    """As thesis-figure-5.3 with ensembles of `size` and posteriors of other temperatures: 0.1 is sharper, 10 flatter (5.5.3).

    The thesis has ensembles of 5.
    """
    own = workshop.own({**SEARCHES, "size": 3, "taus": TAUS})
    for tau in own["taus"]:
        rows = ("nesbs-mc-sampling", "nesbs-svgd-rd")
        yield from _curves(f"tau = {tau:g}", workshop, own, rows, own["size"], float(tau))


# -- draws ----------------------------------------------------------------------------------------------------------------
def drawn(
    common: Common, sampler: str, size: int, number: int, own: Mapping[str, Any], *use: int, tau: float = 1.0
) -> list[Any]:
    """The architectures of draw `number` of a sampler; `use` tells trials apart."""
    seed = derive(common.settings.seed, "figures", size, *use, number)
    if sampler == "uniform":
        return [common.space.sample(stream(seed, "uniform", place)) for place in range(size)]
    posterior = common.posterior.tempered(tau)
    if sampler == "mc":
        return [common.architecture(path) for path in sample_mc(posterior, size, seed)]
    delta = float(own["deltas"][number % len(own["deltas"])])
    paths = sample_svgd_rd(posterior, size, delta=delta, seed=seed, steps=own["steps"])
    return [common.architecture(path) for path in paths]


def rows_of(own: Mapping[str, Any]) -> dict[str, str]:
    """The rows of Figure 5.3, with the samplers that draw for them."""
    return {**ROWS, **(FREE_ROWS if own["proxy"] else {})}


def over_budgets(
    workshop: Workshop, own: Mapping[str, Any], row: str, size: int, tau: float = 1.0
) -> dict[int, dict[str, Floats]]:
    """By seed errors in per cent (trials, draws) and the least of a single network."""
    asked = {key: own[key] for key in ("trials", "draws", "deltas", "steps", "statistics")}
    if row in FREE_ROWS:
        asked |= {key: own[key] for key in ("proxy", "proxy_samples")}

    def look(seed: int) -> dict[str, Floats]:
        study = Study(workshop, own, seed)
        made = partial(_searched, study, own, row, size, tau)
        found = study.kept(f"search-{row}", [row, size, tau, asked], made)
        return {key: 100 * np.array(found[key], float) for key in ("errors", "best")}

    return by_seed(workshop, look)


def _searched(study: Study, own: Mapping[str, Any], row: str, size: int, tau: float) -> dict[str, Any]:
    """One method under one seed: the error over the budget of each trial."""
    inherited, common, sampler = study.inherited, study.common, {**ROWS, **FREE_ROWS}[row]
    loss: Callable[[Sequence[str]], float] = inherited.loss
    if row in FREE_ROWS:
        free = Study(study.workshop, own, study.seed, posterior=own["proxy"])
        free.ready(replace(free.settings, sampler=sampler))
        common, loss = free.common, free.common.proxied.loss
    errors, seen = [], set[str]()
    for trial in range(own["trials"]):
        # the pool of a trial of NES-RS holds the networks that uniform sampling looks at
        by, many = "uniform" if sampler == "nes_rs" else sampler, range(own["draws"])
        ensembles = [[str(one) for one in drawn(common, by, size, number, own, trial, tau=tau)] for number in many]
        networks = [text for texts in ensembles for text in texts]
        pooled = sampler == "nes_rs"
        errors.append(over_pools(inherited, networks, size) if pooled else over_draws(inherited, ensembles, loss))
        seen.update(networks)
    return {"errors": errors, "best": inherited.best_single(seen), "looked at": len(seen)}


# -- numbers --------------------------------------------------------------------------------------------------------------
def _curves(
    group: str, workshop: Workshop, own: Mapping[str, Any], rows: Iterable[str], size: int, tau: float = 1.0
) -> Iterator[Found]:
    """A cell for each budget and row, a line for each row, and the single best."""
    x: list[float] = []
    y: list[float] = []
    bars: list[float] = []
    kinds: list[str] = []
    found = dict[str, dict[int, dict[str, Floats]]]()
    budgets = [size * (place + 1) for place in range(own["draws"])]
    last = f"{budgets[-1]} evaluations"
    for row in rows:
        try:
            found[row] = over_budgets(workshop, own, row, size, tau)
        except Unavailable as why:
            yield from missing([f"{group}/{row}"], (f"{budget} evaluations" for budget in budgets), str(why))
            continue
        errors = np.array([one["errors"] for one in found[row].values()])
        values = [over_seeds(errors[:, :, place].tolist()) for place in range(errors.shape[2])]
        words = in_words(errors[0, :, 0].tolist(), len(errors))
        for budget, value in zip(budgets, values, strict=True):
            yield Cell(f"{group}/{row}", f"{budget} evaluations", value, words)
        x += map(float, budgets)
        y += (value.value for value in values)
        bars += (_standard_error(errors[:, :, place]) for place in range(len(values)))
        kinds += [row] * len(values)
    if not found:
        return
    for row, one in found.items() if "urs" in found else ():
        for place in dict.fromkeys((0, len(budgets) - 1)) if row != "urs" else ():
            pairs = [(one[seed]["errors"], found["urs"][seed]["errors"]) for seed in one if seed in found["urs"]]
            apart = [(ours[:, place] - theirs[:, place]).tolist() for ours, theirs in pairs]
            column = f"minus uniform sampling's, {budgets[place]} evaluations"
            yield Cell(f"{group}/{row}", column, over_seeds(apart), "paired by supernet and trial")
    seen = {seed for one in found.values() for seed in one}
    least = [min(float(one[seed]["best"]) for one in found.values() if seed in one) for seed in sorted(seen)]
    yield Cell(f"{group}/{BEST}", last, mean_of_few(least), "the least of any network looked at, by the test")
    name, text = group.replace(" = ", "-"), f"{group}: mean and standard error; single best {np.mean(least):.2f} %"
    yield Scatter(name, text, "evaluations", "test error (%)", tuple(x), tuple(y), tuple(bars), kinds=tuple(kinds))


def over_seeds(values: Sequence[Sequence[float]]) -> Estimate:
    """The mean with an interval over seeds, whose trials share a supernet; over the trials where there is one seed."""
    if len(values) == 1:
        return mean_of_few(list(values[0]))
    return mean_of_few([float(np.mean(one)) for one in values])


def _standard_error(errors: Floats) -> float:
    """Over all trials, as the thesis draws it."""
    return float(np.std(errors, ddof=1) / math.sqrt(errors.size)) if errors.size > 1 else 0.0


def in_words(trials: Sequence[float], count: int) -> str:
    """How many trials, of how many supernets.

    >>> in_words([31.2, 30.0], 3)
    '2 trials of each of 3 supernets'
    """
    return f"{len(trials)} trial{'s' * (len(trials) > 1)}" + (f" of each of {count} supernets" if count > 1 else "")
