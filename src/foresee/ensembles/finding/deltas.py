"""Which delta SVGD-RD draws with: as it is said, or several between -2 and 1 (thesis, 5.3.4).

The evaluation budget stays that of every other sampler: T ensembles are drawn and judged, whether all of them have one delta
or each another. With `grid` these are evenly spaced; with `bayes` each is where Bayesian optimisation, by what became of
those before, expects the least validation loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from foresee.ensembles.finding.settings import HIGH, LOW, EnsembleSettings
from foresee.ensembles.finding.workshop import Common
from foresee.ensembles.posterior import Posterior
from foresee.ensembles.sampling import sample_svgd_rd
from foresee.ensembles.selecting import Selected
from foresee.searchers.bayes import maximise
from foresee.seeds import derive


def grid(count: int) -> list[float]:
    """So many values from -2 to 1, evenly spaced; a single one is plain SVGD, 0.

    >>> grid(1), grid(4)
    ([0.0], [-2.0, -1.0, 0.0, 1.0])
    """
    if count == 1:
        return [0.0]
    return [LOW + (HIGH - LOW) * place / (count - 1) for place in range(count)]


def tempered(common: Common, settings: EnsembleSettings) -> Posterior:
    """The posterior at the temperature of the settings (Figures 5.6 and 5.7)."""
    return common.posterior.tempered(settings.temperature)


def drawn(common: Common, settings: EnsembleSettings, delta: float, number: int) -> Sequence[Any]:
    """The architectures of draw `number` with a delta."""
    seed = derive(settings.seed, "draw", number)
    paths = sample_svgd_rd(tempered(common, settings), settings.size, delta=delta, seed=seed)
    return [common.architecture(path) for path in paths]


def svgd_rd_drawn(common: Common, settings: EnsembleSettings, used: list[float]) -> Callable[[int], Sequence[Any]]:
    """What gives the architectures of draw t, with the one delta or the t-th of the grid; `used` hears which."""
    deltas = grid(settings.iterations) if settings.delta is None else [settings.delta] * settings.iterations

    def draw(number: int) -> Sequence[Any]:
        used.append(deltas[number])
        return drawn(common, settings, deltas[number], number)

    return draw


def optimised(common: Common, settings: EnsembleSettings) -> tuple[Selected, list[float]]:
    """The best of T draws whose deltas Bayesian optimisation chooses, and these deltas."""
    estimates = None if settings.training_free else common.estimates()
    ensembles: list[tuple[Any, ...]] = []
    tried: list[float] = []
    evaluated: list[int] = []
    seen: set[str] = set()

    def merit(point: Tensor) -> float:
        found = tuple(drawn(common, settings, float(point[0]), len(ensembles)))
        seen.update(map(str, found))
        ensembles.append(found)
        tried.append(common.proxied.loss(found) if estimates is None else estimates.loss(found))
        evaluated.append(len(seen))
        return -tried[-1]

    trials = maximise(merit, [[LOW], [HIGH]], trials=settings.iterations, seed=derive(settings.seed, "delta") % 2**31)
    best = tried.index(min(tried))
    found = Selected(ensembles[best], tried[best], tuple(tried), tuple(evaluated))
    return found, [float(point[0]) for point in trials.points]
