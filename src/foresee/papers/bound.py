"""mu and nu of the bounds of HNAS, chosen on validation results by Bayesian optimisation.

The bound kappa / M + mu (M^2 - nu)^2 (Eq. 7.7, `searchers.unified`) leaves mu and nu open. They are chosen here
so that the bound ranks a subset of architectures as short trainings do: what is maximised over (log mu, log nu), by
`searchers.bayes`, is the rank correlation. The accuracies that a table is judged on are never seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from foresee.errors import InputError
from foresee.searchers.bayes import CANDIDATES, TRIALS, maximise
from foresee.searchers.unified import Bounds
from foresee.seeds import derive
from foresee.statistics import ranks_of, spearman

#: fewer architectures than this rank nothing
LEAST = 4
#: nu lies between these quantiles of M^2: up to the largest, where Corollary 7.2 has no trade-off left among those at hand
NU = (0.1, 1.0)


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
    >>> bool(4 < found.nu < 16), found.agreement >= 0.9
    (True, True)
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

    found = maximise(at, among.box(NU), trials=evaluations - 1, seed=derive(seed, "mu and nu"), method=method)
    tried = [(0.0, 0.0, agreement(0.0, 0.0))]  # first without a trade-off
    tried += [(*(10.0**point).tolist(), value) for point, value in zip(found.points, found.values, strict=True)]
    mu, nu, best = max(tried, key=lambda one: -math.inf if math.isnan(one[2]) else one[2])  # the first of equals
    return Choice(mu, nu, best, tuple(tried), len(truth))
