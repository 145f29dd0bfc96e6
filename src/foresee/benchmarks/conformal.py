"""Intervals for the predictions of a rank model, from what models without a fold say of that fold: CV+.

Where every fold is one architecture this is the jackknife+ (Barber, Candès, Ramdas and Tibshirani, The Annals of Statistics
2021). With m_k and s_k the mean and deviation of the model that never saw fold k, and T_k its scale from values to scores,

    r_i = |T_k(y_i) - m_k(x_i)| / s_k(x_i)                    for i in fold k,
    low(x) = quantile over i of T_k^-1(m_k(x) - r_i s_k(x)),  high(x) = quantile over i of T_k^-1(m_k(x) + r_i s_k(x)).

For an architecture drawn like the trained ones, whatever the truth looks like, the interval holds it with a probability of
at least about 1 - 2 (1 - coverage); mostly it is about `coverage`. Models without two folds show how often: intervals made in
the same way without a fold are held against the values of that fold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from foresee.benchmarks.rank_model import Array, Indices, Likeness, RankModel, Scale


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A model without some folds: `kept` are the trained ones it saw, as columns of the likeness."""

    model: RankModel
    scale: Scale
    likeness: Likeness
    kept: Indices
    leans: Array | None

    def predict(self, rows: Indices) -> tuple[Array, Array]:
        leans = None if self.leans is None else self.leans[rows]
        return self.model.predict(self.likeness.part(rows, self.kept), leans)


class HeldOut:
    """Models without one fold, and without two: what the first say makes intervals, the second show whether they hold.

    `leans` are the normal scores, of all architectures, that the models lean on.
    """

    def __init__(
        self, likeness: Likeness, places: Indices, values: Array, dealt: Indices, leans: Array | None = None
    ) -> None:
        self.likeness, self.places, self.values, self.dealt, self.leans = likeness, places, values, dealt, leans
        self.folds: list[int] = np.unique(dealt).tolist()
        self._fitted: dict[tuple[int, ...], _Fitted] = {}

    def without(self, *folds: int) -> _Fitted:
        """The model that saw everything but these folds."""
        key = tuple(sorted(folds))
        if key not in self._fitted:
            kept = np.flatnonzero(~np.isin(self.dealt, key))
            scale = Scale(self.values[kept])
            leans = None if self.leans is None else self.leans[self.places[kept]]
            model = RankModel.fit(self.likeness.part(self.places[kept], kept), scale.scores, leans)
            self._fitted[key] = _Fitted(model, scale, self.likeness, kept, self.leans)
        return self._fitted[key]

    @cached_property
    def means(self) -> Array:
        """Of each trained architecture, the normal score foreseen without its fold.

        Scores, not values: a model that knows nothing says 0 in every fold. Values would betray what was held out, for the
        mean of the others is low where a high value is missing, and knowing nothing would look like a wrong order.
        """
        found = np.empty(len(self.values))
        for fold in self.folds:
            inside = self.dealt == fold
            found[inside] = self.without(fold).predict(self.places[inside])[0]
        return found

    def interval(self, rows: Indices, coverage: float, *without: int) -> tuple[Array, Array]:
        """Low and high ends for `rows`, made without some folds."""
        lows, highs = [], []
        for fold in self.folds:
            if fold in without:
                continue
            fitted, inside = self.without(fold, *without), self.dealt == fold
            mean, deviation = fitted.predict(self.places[inside])
            residuals = np.abs(fitted.scale.score(self.values[inside]) - mean) / deviation
            mean, deviation = fitted.predict(rows)
            reach = deviation[:, None] * residuals
            lows.append(fitted.scale.value(mean[:, None] - reach))
            highs.append(fitted.scale.value(mean[:, None] + reach))
        return quantiles(np.concatenate(lows, axis=1), np.concatenate(highs, axis=1), coverage)

    def foreseen(self, coverage: float) -> tuple[Array, Array, Array]:
        """Of each trained architecture, the value foreseen without its fold, and the ends of the interval made without it."""
        mean, low, high = (np.empty(len(self.values)) for _ in range(3))
        for fold in self.folds:
            inside = self.dealt == fold
            mean[inside] = self.without(fold).scale.value(self.means[inside])
            low[inside], high[inside] = self.interval(self.places[inside], coverage, fold)
        return mean, np.minimum(low, mean), np.maximum(high, mean)


def left_out(n: int, coverage: float) -> int:
    """How many of n ends an interval leaves out on either side, plus one; 0: n are too few for this coverage."""
    return math.floor((1 - coverage) * (n + 1) + 1e-9)


def quantiles(lows: Array, highs: Array, coverage: float) -> tuple[Array, Array]:
    """The k-th lowest of the low ends and the k-th highest of the high ones, (rows, n) each; infinite for too small an n."""
    outer, n = left_out(lows.shape[1], coverage), lows.shape[1]
    if outer < 1:
        return np.full(len(lows), -np.inf), np.full(len(lows), np.inf)
    return np.partition(lows, outer - 1, axis=1)[:, outer - 1], np.partition(highs, n - outer, axis=1)[:, n - outer]
