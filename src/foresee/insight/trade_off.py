"""How an error goes with a metric over many architectures: the trade-off of the thesis' Figure 7.4 and of NASI's Figure 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresee.errors import InputError
from foresee.statistics import spearman

#: as the papers draw them, where there are enough architectures
BINS = 20
#: architectures in a bin, at least
LEAST = 5


def bins(values: NDArray[np.float64], *, least: int = LEAST, most: int = BINS) -> list[NDArray[np.int64]]:
    """The places of `values`, smallest first, in up to `most` equally full bins of at least `least`; NaN are in none.

    >>> [part.tolist() for part in bins(np.array([3.0, np.nan, 1.0, 2.0, 9.0]), least=2)]
    [[2, 3], [0, 4]]
    """
    order = np.argsort(values, kind="stable")[: int(np.isfinite(values).sum())]
    count = min(most, len(order) // least)
    return [np.asarray(part, np.int64) for part in np.array_split(order, count)] if count else []


@dataclass(frozen=True)
class Bin:
    """Architectures of similar metric: how many, the mean metric, mean and standard deviation of the error, and the least.

    `kappa` is the rank correlation of the condition number with the error among them, where it was given.
    """

    architectures: int
    metric: float
    error: float
    spread: float
    least: float
    kappa: float | None = None


@dataclass(frozen=True)
class TradeOff:
    """The error by bins of a metric.

    `best` is the number of the bin of least mean error; `inside` says that it is neither the first nor the last, so
    that there is a trade-off at all. `rise` is how much the error of the last bin lies above the best one, in
    standard errors of their difference: below 2 the turn may be chance. `falls` and `rises` are the rank correlations
    of metric and error up to the best bin and from it on. `kappa` is the mean over bins of the correlation of the
    condition number with the error.
    """

    metric: str
    bins: tuple[Bin, ...]
    best: int
    rise: float
    falls: float
    rises: float
    kappa: float | None = None

    @property
    def inside(self) -> bool:
        """Whether the best bin is neither the first nor the last."""
        return 0 < self.best < len(self.bins) - 1

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> TradeOff:
        """What `to_json` gave."""
        return cls(**{**plain, "bins": tuple(Bin(**one) for one in plain["bins"])})


def trade_off(
    metric: ArrayLike, error: ArrayLike, kappa: ArrayLike | None = None, *, name: str = "metric", count: int = BINS
) -> TradeOff:
    """The trade-off of one metric over architectures (n,), their errors (n,) and, if given, condition numbers (n,).

    Architectures without a metric or an error are left out; an infinite condition number ranks last.

    >>> m = np.linspace(0.0, 2.0, 100)
    >>> found = trade_off(m, (m - 1) ** 2)
    >>> found.inside, round(found.bins[found.best].metric, 1), found.rises > 0.9
    (True, 0.9, True)
    """
    values, errors = (np.asarray(one, np.float64) for one in (metric, error))
    conditions = None if kappa is None else np.asarray(kappa, np.float64)
    if (
        values.ndim != 1
        or values.shape != errors.shape
        or (conditions is not None and conditions.shape != values.shape)
    ):
        raise InputError(
            f"trade-off: metrics {values.shape} and errors {errors.shape}: one of each for an architecture"
        )
    known = np.isfinite(values) & np.isfinite(errors)
    values, errors = values[known], errors[known]
    conditions = None if conditions is None else conditions[known]
    groups = bins(values, most=count)
    if len(groups) < 3:
        raise InputError(f"{len(values)} architectures with a metric and an error: at least {3 * LEAST} are needed")
    found = tuple(_bin(values[one], errors[one], None if conditions is None else conditions[one]) for one in groups)
    best = min(range(len(found)), key=lambda place: found[place].error)
    low, last = found[best], found[-1]
    scatter = float(np.hypot(low.spread / low.architectures**0.5, last.spread / last.architectures**0.5))
    down, up = np.concatenate(groups[: best + 1]), np.concatenate(groups[best:])
    known_kappas = [one.kappa for one in found if one.kappa is not None and np.isfinite(one.kappa)]
    return TradeOff(
        name,
        found,
        best,
        (last.error - low.error) / scatter if scatter > 0 else float(last.error > low.error),
        spearman(values[down], errors[down]),
        spearman(values[up], errors[up]),
        float(np.mean(known_kappas)) if known_kappas else None,
    )


def _bin(values: NDArray[np.float64], errors: NDArray[np.float64], kappa: NDArray[np.float64] | None) -> Bin:
    correlation = None
    if kappa is not None:
        finite = np.where(np.isfinite(kappa), kappa, np.finfo(np.float64).max)
        correlation = float(spearman(finite, errors))
    return Bin(
        len(values),
        float(values.mean()),
        float(errors.mean()),
        float(errors.std(ddof=1)),
        float(errors.min()),
        correlation,
    )
