"""The unified objective of HNAS over a pool: kappa / M + mu F(M^2 - nu) of every architecture, and where mu and nu may lie.

Eq. 7.7 of the thesis (`proxies.kernels.hnas.hnas_score` is the formula) leaves mu and nu open. The searcher `hnas` chooses
them by the validation results of what they select; the papers' tables by how the bound ranks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from foresee.errors import InputError, UnknownNameError
from foresee.proxies.kernels.hnas import SCENARIOS, hnas_score

Floats = NDArray[np.float64]

#: the box is made for the architectures between these quantiles, and a decade of mu wider on both sides
QUANTILES, DECADES = (0.1, 0.9), 1.0


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

    def box(self, quantiles: tuple[float, float] = QUANTILES) -> Tensor:
        """Where to look for (log10 mu, log10 nu): lows and highs, (2, 2), from M and kappa alone.

        nu is the square of a metric, so it lies among those of the architectures at hand, between two of their quantiles. mu
        goes from where the trade-off is the smaller part of most architectures' bounds, a tenth or less, to where it is ten
        times the rest or more.
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
            np.stack([np.quantile(alike, QUANTILES) + margins, np.quantile(squares, quantiles)], axis=1)
        )
