"""Ensembles searched by inherited weights over growing budgets: Figures 5.3, 5.6 and 5.7 of the thesis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from foresee.ensembles import sample_mc, sample_svgd_rd
from foresee.ensembles.finding.workshop import Common
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter
from foresee.papers.nesbs.inherited import over_draws, over_pools
from foresee.papers.nesbs.shared import USUAL, Study
from foresee.papers.samples import Floats
from foresee.papers.trained import seeds
from foresee.papers.workshop import Workshop
from foresee.seeds import derive, stream
from foresee.statistics import Estimate, mean_of_few

#: row -> sampler, in the order of the figures
ROWS = {"urs": "uniform", "nes-rs": "nes_rs", "nesbs-mc-sampling": "mc", "nesbs-svgd-rd": "svgd_rd"}
#: rows of ours: the posterior is a proxy's, and the proxy chooses among the draws
FREE_ROWS = {"training-free-mc-sampling": "mc", "training-free-svgd-rd": "svgd_rd"}
#: the delta that draws of SVGD-RD go through, the middle of the range first: looking for delta is part of the budget
DELTAS = (0.0, -0.5, 0.5, -1.0, 1.0, -1.5)
SEARCHES: Mapping[str, Any] = {**USUAL, "trials": 5, "draws": 6, "deltas": DELTAS, "steps": 1000}
BY_BUDGET: Mapping[str, Any] = {**SEARCHES, "sizes": (3, 5), "proxy": "naswot"}
TAUS = (0.1, 1.0, 10.0)
#: Figure 5.7 goes through the range of delta
OVER_DELTA: Mapping[str, Any] = {
    **SEARCHES, "size": 5, "taus": TAUS, "draws": 1, "deltas": (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0)
}  # fmt: skip
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
        found = {row: over_budgets(workshop, own, row, int(size)) for row in rows_of(own)}
        yield from _curves(f"n = {size}", found, int(size))


@reproduction(
    "thesis-figure-5.6",
    judged=False,
    by_data=True,
    settings={**SEARCHES, "size": 5, "taus": TAUS},
    caption="MC sampling and SVGD-RD under several temperatures: test error of ensembles against the evaluation budget",
)
def figure_5_6(workshop: Workshop) -> Iterator[Found]:
    """As thesis-figure-5.3 with ensembles of 5 and posteriors of other temperatures: 0.1 is sharper, 10 flatter (5.5.3)."""
    own = workshop.own({**SEARCHES, "size": 5, "taus": TAUS})
    for tau in own["taus"]:
        found = {
            row: over_budgets(workshop, own, row, own["size"], float(tau))
            for row in ("nesbs-mc-sampling", "nesbs-svgd-rd")
        }
        yield from _curves(f"tau = {tau:g}", found, own["size"])


@reproduction(
    "thesis-figure-5.7",
    judged=False,
    by_data=True,
    settings=OVER_DELTA,
    caption="Test error of ensembles by SVGD-RD with varying delta under several temperatures",
)
def figure_5_7(workshop: Workshop) -> Iterator[Found]:
    """Test error (%) of the best of `draws` ensembles of 5 by SVGD-RD at each delta, by inherited weights (5.5.3).

    delta* is the one whose ensembles have the least validation loss, as a search would choose it. Otherwise as
    thesis-figure-5.6; the means of disagreeing members show that delta drives them apart.
    """
    own = workshop.own(OVER_DELTA)
    for tau in own["taus"]:
        studies = [_over_delta(Study(workshop, own, seed), float(tau), own) for seed in seeds(workshop)]
        means, losses = [], []
        row = f"tau = {tau:g}"
        for place, delta in enumerate(own["deltas"]):
            by_seed = {key: [[100 * one for one in study[key][place]] for study in studies] for key in ("error", "ppd")}
            value = _estimate(by_seed["error"])
            means.append(value)
            losses.append(np.mean([study["loss"][place] for study in studies]))
            yield Cell(row, f"delta = {delta:g}", value, _words(studies[0]["error"][place], len(studies)))
            yield Cell(f"disagreement of two members/{row}", f"delta = {delta:g}", _estimate(by_seed["ppd"]))
        best = own["deltas"][int(np.argmin(losses))]
        yield Cell(row, "delta*", Estimate(float(best)), "of the least validation loss")
        values = tuple(one.value for one in means)
        bars = tuple(_or_zero(one.half_width) for one in means)
        text = f"{row}: ensembles of {own['size']} by SVGD-RD; delta* = {best:g}"
        yield Scatter(f"tau-{tau:g}", text, "delta", "test error (%)", tuple(map(float, own["deltas"])), values, bars)


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
) -> dict[str, Floats]:
    """Errors in per cent (seeds, trials, draws) and the least of a single network (seeds,)."""
    asked = {key: own[key] for key in ("trials", "draws", "deltas", "steps", "statistics")}
    if row in FREE_ROWS:
        asked |= {key: own[key] for key in ("proxy", "proxy_samples")}
    found = [
        study.kept(f"search-{row}", [row, size, tau, asked], partial(_searched, study, own, row, size, tau))
        for study in (Study(workshop, own, seed) for seed in seeds(workshop))
    ]
    return {key: 100 * np.array([one[key] for one in found], float) for key in ("errors", "best")}


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


def _over_delta(study: Study, tau: float, own: Mapping[str, Any]) -> dict[str, Any]:
    """By delta: test errors, losses and disagreements, one for each trial."""
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


# -- numbers --------------------------------------------------------------------------------------------------------------
def _curves(group: str, found: Mapping[str, Mapping[str, Floats]], size: int) -> Iterator[Found]:
    """A cell for each budget and row, a line for each row, and the single best."""
    x: list[float] = []
    y: list[float] = []
    bars: list[float] = []
    kinds: list[str] = []
    for row, one in found.items():
        errors = one["errors"]
        values = [_estimate(errors[:, :, place].tolist()) for place in range(errors.shape[2])]
        budgets = [size * (place + 1) for place in range(len(values))]
        words = _words(errors[0, :, 0].tolist(), len(errors))
        for budget, value in zip(budgets, values, strict=True):
            yield Cell(f"{group}/{row}", f"{budget} evaluations", value, words)
        x += map(float, budgets)
        y += (value.value for value in values)
        bars += (_standard_error(errors[:, :, place]) for place in range(len(values)))
        kinds += [row] * len(values)
    last = f"{budgets[-1]} evaluations"
    for row in found if "urs" in found else ():
        apart = found[row]["errors"][:, :, -1] - found["urs"]["errors"][:, :, -1]
        if row != "urs":
            column = f"minus uniform sampling's, {last}"
            yield Cell(f"{group}/{row}", column, _estimate(apart.tolist()), "paired by supernet and trial")
    least = np.min([one["best"] for one in found.values()], axis=0)
    yield Cell(f"{group}/{BEST}", last, mean_of_few(least), "the least of any network looked at, by the test")
    name, text = group.replace(" = ", "-"), f"{group}: mean and standard error; single best {np.mean(least):.2f} %"
    yield Scatter(name, text, "evaluations", "test error (%)", tuple(x), tuple(y), tuple(bars), kinds=tuple(kinds))


def _estimate(by_seed: Sequence[Sequence[float]]) -> Estimate:
    """The mean with an interval over seeds, whose trials share a supernet; over the trials where there is one seed."""
    if len(by_seed) == 1:
        return mean_of_few(list(by_seed[0]))
    return mean_of_few([float(np.mean(one)) for one in by_seed])


def _standard_error(errors: Floats) -> float:
    """Over all trials, as the thesis draws it."""
    return float(np.std(errors, ddof=1) / math.sqrt(errors.size)) if errors.size > 1 else 0.0


def _words(trials: Sequence[float], count: int) -> str:
    return f"{len(trials)} trial{'s' * (len(trials) > 1)}" + (f" of each of {count} supernets" if count > 1 else "")


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value
