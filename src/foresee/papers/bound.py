"""mu and nu of the bounds of HNAS, chosen on validation results by Bayesian optimisation.

The bound kappa / M + mu (M^2 - nu)^2 (Eq. 7.7, `proxies.kernels.hnas.hnas_score`) leaves mu and nu open. They are chosen here
so that the bound ranks a subset of architectures as short trainings do: what is maximised over (log mu, log nu), by
`searchers.bayes`, is the rank correlation. The accuracies that a table is judged on are never seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from foresee.errors import InputError, UnknownNameError
from foresee.proxies.kernels.hnas import SCENARIOS, hnas_score
from foresee.searchers.bayes import CANDIDATES, TRIALS, maximise
from foresee.seeds import derive
from foresee.statistics import ranks_of, spearman

Floats = NDArray[np.float64]

#: the box is made for the architectures between these quantiles, and a decade of mu wider on both sides
QUANTILES, DECADES = (0.1, 0.9), 1.0
#: fewer architectures than this rank nothing
LEAST = 4


@dataclass(frozen=True)
class Bounds:
    """The numbers that bounds are made of, one of each per architecture; `kappa` infinite where a kernel has no inverse."""

    metric: Floats
    kappa: Floats
    scenario: str = "non_realizable"
    power: float = 2.0
    epsilon: float = 0.0

    @classmethod
    def of(cls, metric: ArrayLike, kappa: ArrayLike = 1.0, **form: object) -> Bounds:
        """From anything array-like; `form` is the scenario, power and epsilon of `hnas_score`."""
        values = np.asarray(metric, dtype=np.float64)
        return cls(values, np.broadcast_to(np.asarray(kappa, dtype=np.float64), values.shape), **form)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        if self.scenario not in SCENARIOS:
            raise UnknownNameError("scenario", self.scenario, SCENARIOS)

    def __getitem__(self, part: NDArray[np.bool_] | slice) -> Bounds:
        return Bounds(self.metric[part], self.kappa[part], self.scenario, self.power, self.epsilon)

    def at(self, mu: float, nu: float) -> Floats:
        """The bound of each architecture, lower is better."""
        metric, kappa = torch.from_numpy(self.metric), torch.from_numpy(self.kappa.copy())
        score = hnas_score(metric, kappa, mu, nu, scenario=self.scenario, power=self.power, epsilon=self.epsilon)
        return np.asarray(score, dtype=np.float64)

    def box(self) -> Tensor:
        """Where to look for (log10 mu, log10 nu): lows and highs, (2, 2), from M and kappa alone.

        nu is the square of a metric, so it lies among those of the architectures at hand. mu goes from where the trade-off is
        the smaller part of most architectures' bounds, a tenth or less, to where it is ten times the rest or more.
        """
        gap = self.at(0.0, 0.0)
        usable = np.isfinite(gap) & (gap > 0) & (self.metric > 0)
        if not usable.any():
            raise InputError(
                "mu and nu: no architecture has a positive metric and a finite bound; nothing to choose by"
            )
        squares = np.log10(self.metric[usable] ** 2)
        alike = np.log10(gap[usable]) - self.power * squares  # log10 of gap / M^(2 power): as much trade-off as gap
        margins = np.array([-DECADES, DECADES])
        return torch.tensor(
            np.stack([np.quantile(alike, QUANTILES) + margins, np.quantile(squares, QUANTILES)], axis=1)
        )


@dataclass(frozen=True)
class Choice:
    """The mu and nu found, their rank correlation with the validation errors, and every (mu, nu, correlation) tried."""

    mu: float
    nu: float
    agreement: float
    tried: tuple[tuple[float, float, float], ...]
    architectures: int

    def __str__(self) -> str:
        return (
            f"mu = {self.mu:.3g}, nu = {self.nu:.3g}: the best of {len(self.tried)} tried, Spearman {self.agreement:.3f} "
            f"with the validation errors of {self.architectures} architectures ({self.tried[0][2]:.3f} without a trade-off)"
        )


def choose(
    bounds: Bounds, errors: ArrayLike, *, evaluations: int = TRIALS, seed: int = 0, method: str = "bayes"
) -> Choice:
    """The mu and nu whose bound ranks architectures most nearly as `errors` do: validation errors, lower is better.

    The first try is mu = 0, so the choice is never worse there than no trade-off.
    Architectures without a metric or an error (NaN) are left out; those with an infinite bound rank last. The same arguments
    give the same choice. `method` "random" tries as many random points instead, and is taken only when asked for; "bayes"
    needs the extra `bayes`.

    >>> metric = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    >>> found = choose(Bounds.of(metric), abs(metric**2 - 9.0), method="random")  # best at M = 3, as nu = 9 says
    >>> bool(4 < found.nu < 16), f"{found.agreement:.2f}"
    (True, '1.00')
    """
    truth = np.asarray(errors, dtype=np.float64)
    if truth.shape != bounds.metric.shape:
        raise InputError(
            f"{truth.shape[0]} validation errors for {bounds.metric.shape[0]} architectures: one each is needed"
        )
    known = ~(np.isnan(truth) | np.isnan(bounds.at(1.0, 1.0)))
    if known.sum() < LEAST:
        raise InputError(
            f"mu and nu: {known.sum()} architectures with a metric and an error, at least {LEAST} are needed"
        )
    if not 1 <= evaluations <= CANDIDATES:
        raise InputError(f"mu and nu: {evaluations} evaluations, expected at least 1 and at most {CANDIDATES}")
    among, truth = bounds[known], truth[known]

    def agreement(mu: float, nu: float) -> float:
        return spearman(ranks_of(among.at(mu, nu)), truth)  # ranks: an infinite bound is a last place

    def at(point: Tensor) -> float:
        mu, nu = (10.0**point).tolist()
        return agreement(mu, nu)

    found = maximise(at, among.box(), trials=evaluations - 1, seed=derive(seed, "mu and nu"), method=method)
    tried = [(0.0, 0.0, agreement(0.0, 0.0))]  # first without a trade-off
    tried += [(*(10.0**point).tolist(), value) for point, value in zip(found.points, found.values, strict=True)]
    mu, nu, best = max(tried, key=lambda one: -math.inf if math.isnan(one[2]) else one[2])  # the first of equals
    return Choice(mu, nu, best, tuple(tried), len(truth))
