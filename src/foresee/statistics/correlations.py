"""Every statistic of one list against another, with intervals, and the failures counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from foresee.errors import InputError
from foresee.statistics.bootstrap import draws as drawn
from foresee.statistics.counted import (
    Statistic,
    kendalls,
    pearsons,
    resampled,
    spearmans,
    weighted_taus,
)
from foresee.statistics.estimate import CONFIDENCE, Estimate
from foresee.statistics.ranks import Array, codes_of
from foresee.statistics.single import regret, top_overlap, vector

#: foremost architectures to compare: a number of them, or a share of the sample
TOP: tuple[int | float, ...] = (10, 0.05)
#: the two taus cost O(n log n) a resample: they take so many resamples that resamples x n stays below this, at least 200
TAU_WORK = 1_000_000


@dataclass(frozen=True)
class Correlations:
    """How well a proxy orders the truth, over the `n` pairs where it has a value; it `failed` on so many others.

    `top` and `regret` are by how many foremost were looked at ("10", "5 %"). `with_failures` is the same over all pairs,
    the failures taking the last places together; Pearson does not exist there. It is None where nothing failed.
    """

    spearman: Estimate
    kendall: Estimate
    pearson: Estimate
    weighted_tau: Estimate
    top: Mapping[str, Estimate] = field(default_factory=dict)
    regret: Mapping[str, Estimate] = field(default_factory=dict)
    n: int = 0
    failed: int = 0
    with_failures: Correlations | None = None

    def named(self) -> dict[str, Estimate]:
        """Every estimate by name: "spearman", ..., "top 10", "regret 10"."""
        found = {name: getattr(self, name) for name in ("spearman", "kendall", "pearson", "weighted_tau")}
        found |= {f"top {label}": one for label, one in self.top.items()}
        return found | {f"regret {label}": one for label, one in self.regret.items()}

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "n": self.n,
            "failed": self.failed,
            **{name: getattr(self, name).to_json() for name in ("spearman", "kendall", "pearson", "weighted_tau")},
            "top": {label: one.to_json() for label, one in self.top.items()},
            "regret": {label: one.to_json() for label, one in self.regret.items()},
            "with_failures": None if self.with_failures is None else self.with_failures.to_json(),
        }


def correlate(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bootstrap: int = 1000,
    seed: int = 0,
    top: Iterable[int | float] = TOP,
    confidence: float = CONFIDENCE,
) -> Correlations:
    """Every statistic of merits x against truths y, (n,) each, larger being better, with bootstrap intervals.

    An x that is not finite is a failure; a pair whose y is not finite has no truth and is left out. Pairs are resampled
    together, the same resamples for all statistics. `top` are numbers (10) or shares (0.05) of foremost architectures.
    With `bootstrap` 0 there are no intervals.
    """
    merits, truths = vector(x, "x"), vector(y, "y")
    if merits.shape != truths.shape:
        raise InputError(f"{len(merits)} merits for {len(truths)} truths: one each is needed")
    if bootstrap < 0:
        raise InputError(f"bootstrap = {bootstrap}: expected a number of resamples, or 0 for no intervals")
    known = np.isfinite(truths)
    merits, truths = merits[known], truths[known]
    valid = np.isfinite(merits)
    failed = int((~valid).sum())
    wanted = list(top)
    found = _correlations(merits[valid], truths[valid], bootstrap, seed, wanted, confidence)
    if not failed:
        return found
    # Failures share the places below the worst: any number below the least merit says so to every statistic of ranks.
    places = codes_of(merits[valid]).astype(float)
    everyone = np.full(len(merits), -1.0)
    everyone[valid] = places
    last = _correlations(everyone, truths, bootstrap, seed, wanted, confidence, linear=False)
    return replace(found, failed=failed, with_failures=last)


def _correlations(
    x: Array, y: Array, bootstrap: int, seed: int, top: Sequence[int | float], confidence: float, linear: bool = True
) -> Correlations:
    n = len(x)
    draws = drawn(n, bootstrap, seed, "bootstrap", n)

    def estimate(statistic: Statistic, at_most: int) -> Estimate:
        once = float(statistic(x, y, np.ones((n, 1), np.int64))[0]) if n > 1 else math.nan
        return Estimate.of(once, resampled(statistic, x, y, draws[:at_most]), n, confidence)

    def looped(statistic: Callable[[Array, Array, int], float], k: int) -> Estimate:
        values = np.array([statistic(x[draw], y[draw], k) for draw in draws])
        return Estimate.of(statistic(x, y, k), values, n, confidence)

    fewer = max(200, TAU_WORK // max(n, 1))
    sizes = {_label(k): _size(k, n) for k in top}
    return Correlations(
        spearman=estimate(spearmans, bootstrap),
        kendall=estimate(kendalls, fewer),
        pearson=estimate(pearsons, bootstrap) if linear else Estimate(math.nan, n=n),
        weighted_tau=estimate(weighted_taus, fewer),
        top={label: looped(top_overlap, k) for label, k in sizes.items()},
        regret={label: looped(regret, k) for label, k in sizes.items()},
        n=n,
    )


def _label(k: int | float) -> str:
    return f"{100 * k:g} %" if isinstance(k, float) else f"{k}"


def _size(k: int | float, n: int) -> int:
    if k <= 0 or (isinstance(k, float) and k > 1):
        raise InputError(f"top {k}: expected a number of architectures, or a share between 0 and 1")
    return max(1, round(k * n)) if isinstance(k, float) else int(k)
