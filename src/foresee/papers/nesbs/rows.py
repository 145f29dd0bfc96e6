"""Ensembles as rows of the thesis' tables: what is asked of a sampler, what came of it, what it spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foresee.ensembles.finding.settings import FITTED, FROM_POSTERIOR
from foresee.papers.cells import Cell
from foresee.papers.nesbs.shared import USUAL, Study
from foresee.papers.nesbs.work import by_seed
from foresee.papers.workshop import Workshop
from foresee.statistics import mean_of_few

#: the thesis: T = 5, a pool of 50 networks of 50 epochs for NES-RS
ENSEMBLES: Mapping[str, Any] = {
    **USUAL, "size": 3, "iterations": 5, "pool": 4, "others": ("uniform", "nes_rs", "svgd_rd:naswot")
}  # fmt: skip
OTHER = "the run looks at other images (--data, --set table.images)"


def ensembles(
    workshop: Workshop, own: Mapping[str, Any], sampler: str, space: str = "darts"
) -> dict[int, dict[str, Any]]:
    """What came of a sampler, by seed; `own["pool"]` of 0 is one of equal budget."""
    name, posterior = split(sampler)

    def look(seed: int) -> dict[str, Any]:
        return Study(workshop, own, seed, space=space, posterior=posterior).ensemble(name, **asked(own, name))

    return by_seed(workshop, look)


def errors(found: Mapping[int, Mapping[str, Any]], key: str = "error") -> list[float]:
    """Test errors of ensembles in per cent, or another measure that is a share."""
    return [100 * one["test"][key] for one in found.values()]


def apart(found: Mapping[int, Mapping[str, Any]], others: Mapping[int, Mapping[str, Any]]) -> list[float]:
    """Differences of test errors in per cent, of the seeds that both have."""
    return [100 * (found[seed]["test"]["error"] - others[seed]["test"]["error"]) for seed in found if seed in others]


def split(sampler: str) -> tuple[str, str]:
    """A sampler's name and where its posterior comes from.

    >>> split("svgd_rd:naswot"), split("mc"), split("deep:ENAS")
    (('svgd_rd', 'naswot'), ('mc', 'fitted'), ('deep:ENAS', 'fitted'))
    """
    head, _, proxy = sampler.partition(":")
    return (head, proxy) if proxy and head in FROM_POSTERIOR else (sampler, FITTED)


def others(workshop: Workshop, own: Mapping[str, Any]) -> dict[str, str]:
    """Rows of ours alone, by name, where not some rows were asked for."""
    named = () if workshop.rows else own["others"]
    return {_called(sampler): sampler for sampler in named}


def _called(sampler: str) -> str:
    name, posterior = split(sampler)
    if posterior != FITTED:  # no supernet is trained: it spends less
        return f"{name.replace('_', '-')}, training-free by {posterior}"
    return f"{name.replace('_', '-')} at equal budget"


def asked(own: Mapping[str, Any], sampler: str) -> dict[str, Any]:
    """What the sampler is asked for, of the table's settings: only what matters to it, so that it is kept once."""
    if sampler.startswith("nes"):
        return {"size": own["size"], "pool": own["pool"] or None}
    looks = sampler in ("mc", "svgd_rd", "uniform")
    return {"size": own["size"], **({"iterations": own["iterations"]} if looks else {})}


def spent(row: str, found: Mapping[int, Mapping[str, Any]]) -> Iterator[Cell]:
    """Networks trained, and the seconds before the members are: supernet, posterior, pool."""
    budgets = [one["budget"] for one in found.values()]
    networks = [float(one["networks"]) for one in budgets]
    epochs = [float(one["epochs"] + one["supernet_epochs"]) for one in budgets]
    seconds = [float(sum(one["seconds"].values())) for one in budgets]
    yield Cell(row, "networks trained", mean_of_few(networks))
    yield Cell(row, "epochs of all trainings", mean_of_few(epochs), "the supernet's among them")
    yield Cell(row, "seconds", mean_of_few(seconds), "of all stages, trainings shared with others counted in")


def size_in_words(own: Mapping[str, Any], depth: str = "layers") -> str:
    """What was trained, and how long."""
    return f"{own['channels']} channels, {own[depth]} {depth}, {own['epochs']} epochs of {own['recipe']}"
