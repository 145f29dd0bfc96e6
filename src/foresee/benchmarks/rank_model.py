"""A Gaussian process on ranks: what it expects of an architecture after seeing how a few others were ranked.

Everything enters as ranks, turned into normal scores: the k-th smallest of m has the score F^-1((k - 1/2) / m), with F the
standard normal distribution. So a proxy counts by how it orders the architectures and by nothing else, and no unit, outlier
or monotone curve can matter. Architectures are compared in *views* (their proxies, the parts of their graphs), each by an
inner product and by a distance,

    k(x, x') = sum over views v of  a_v <x_v, x'_v> + b_v exp(-|x_v - x'_v|^2 / 2 l_v^2),

and an observed rank is c u(x) + f(x) plus noise of variance s. u is a score that the model *leans* on: what it says before it
has seen anything, so that ten observations need not find out what an untrained score knows. The share c, and the logarithms
of a, b, l and s, are those of the highest posterior probability: marginal likelihood, times a wide prior that decides where
ten observations cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import ndtri

from foresee.statistics import ranks_of

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: standard deviations of the prior on logarithms: variances may well be e^2 times smaller or larger, lengths e times
SPREAD_OF_VARIANCES, SPREAD_OF_LENGTHS = 2.0, 1.0
#: the share of a score that is leaned on, before anything is seen, and its standard deviation: it is likely to be right
LEAN, SPREAD_OF_LEAN = 0.8, 0.3
#: the least variance of an observation, so that equal architectures with different accuracies leave a matrix to invert
LEAST_NOISE = 1e-6
#: beyond the smallest and the largest value, the scale goes on as steeply as over this share of the values next to it
END_SHARE = 0.2


def normal_scores(values: ArrayLike) -> Array:
    """Ranks as quantiles of the standard normal distribution; ties share their mean rank.

    What is infinite is a failure and ranks last. What is NaN is not known: it is not ranked, and gets the middle, 0.

    >>> normal_scores([10.0, 30.0, float("nan"), 20.0, float("-inf")]).round(2).tolist()
    [-0.32, 1.15, 0.0, 0.32, -1.15]
    """
    found = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(found)
    ranks = ranks_of(np.where(np.isinf(found), -np.inf, found)[known])
    scores = np.zeros(found.shape)
    scores[known] = ndtri((ranks - 0.5) / max(len(ranks), 1))
    return scores


# -- views --------------------------------------------------------------------------------------------------------------
def view_of_proxies(merits: Mapping[str, ArrayLike]) -> Array:
    """(architectures, proxies that differ at all): normal scores, scaled so that two of them are about sqrt(2) apart."""
    columns = [normal_scores(column) for column in merits.values()]
    return _scaled([column for column in columns if np.ptp(column) > 0], len(columns[0]) if columns else 0)


def _scaled(columns: Sequence[Array], rows: int) -> Array:
    return np.stack(columns, axis=1) / np.sqrt(len(columns)) if columns else np.empty((rows, 0))


# -- values and their normal scores -------------------------------------------------------------------------------------
class Scale:
    """Between values and normal scores: an increasing, piecewise linear curve through the observed values."""

    def __init__(self, values: Array) -> None:
        self.scores = normal_scores(values)
        self._values, first = np.unique(values, return_index=True)
        self._scores = self.scores[first]
        last = len(self._values) - 1
        near = min(max(1, round(END_SHARE * last)), last)
        self._low, self._high = self._steepness(0, near), self._steepness(last - near, last)

    def _steepness(self, first: int, last: int) -> float:
        """Value per score over a stretch of the curve; 1 where there is only one value."""
        rise = float(self._values[last] - self._values[first])
        return rise / float(self._scores[last] - self._scores[first]) if rise else 1.0

    def score(self, values: Array) -> Array:
        """Normal scores of values."""
        low, high = self._values[0], self._values[-1]
        inside: Array = np.interp(values, self._values, self._scores)
        outside: Array = np.minimum(values - low, 0) / self._low + np.maximum(values - high, 0) / self._high
        return inside + outside

    def value(self, scores: Array) -> Array:
        """Values of normal scores: the inverse."""
        low, high = self._scores[0], self._scores[-1]
        inside: Array = np.interp(scores, self._scores, self._values)
        outside: Array = np.minimum(scores - low, 0) * self._low + np.maximum(scores - high, 0) * self._high
        return inside + outside


# -- the Gaussian process -----------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Likeness:
    """How alike architectures are, view by view: inner products and squared distances, (views, rows, columns) each.

    `norms` (views, rows) are the squared lengths of the rows. Made once for all rows and the trained columns; every model
    that is fitted without some of the trained ones reads a part of it.
    """

    products: Array
    distances: Array
    norms: Array

    @classmethod
    def between(cls, views: Sequence[Array], columns: Indices) -> Likeness:
        """All architectures against some; views without a column say nothing and are left out."""
        telling = [view for view in views if view.shape[1]]
        rows = len(views[0]) if views else 0
        products = np.array([view @ view[columns].T for view in telling]).reshape(-1, rows, len(columns))
        norms = np.array([(view**2).sum(axis=1) for view in telling]).reshape(-1, rows)
        distances = norms[:, :, None] + norms[:, None, columns] - 2 * products
        return cls(products, np.maximum(distances, 0), norms)

    def part(self, rows: Indices, columns: Indices) -> Likeness:
        """Some rows against some columns."""
        where = np.ix_(np.arange(len(self.norms)), rows, columns)
        return Likeness(self.products[where], self.distances[where], self.norms[:, rows])

    def covariances(self, theta: Array) -> tuple[Array, Array, Array]:
        """The terms of k: linear, smooth, and the derivative of smooth by log l; (views, rows, columns) each."""
        linear, smooth, length = theta[:-1].reshape(3, -1, 1, 1)
        reach = self.distances * np.exp(-2 * length)
        near = np.exp(smooth - reach / 2)
        return np.exp(linear) * self.products, near, near * reach

    def prior_variance(self, theta: Array) -> Array:
        """k(x, x) of each row."""
        linear, smooth, _ = theta[:-1].reshape(3, -1, 1)
        return np.asarray((np.exp(linear) * self.norms + np.exp(smooth)).sum(axis=0))


@dataclass(frozen=True, eq=False)
class RankModel:
    """A fitted Gaussian process. `theta` holds log a, log b, log l of each view, and log s; `lean` is c."""

    theta: Array
    factor: Array
    weights: Array
    lean: float = 0.0

    @classmethod
    def fit(cls, likeness: Likeness, scores: Array, leans: Array | None = None) -> RankModel:
        """The model that `scores` of the architectures in `likeness` (rows and columns alike) make most probable.

        `leans` are normal scores of the same architectures, by the score that is leaned on; None: there is none.
        """
        views, n = len(likeness.products), len(scores)
        # Before anything is seen, the linear and the smooth term of each view and the noise share a variance of 1, or what
        # the score that is leaned on leaves of it.
        left = 1.0 if leans is None else 1 - LEAN**2
        start = np.zeros(3 * views + 1)
        start[: 2 * views] = start[-1] = np.log(left / (2 * views + 1))
        spread = np.full(3 * views + 1, SPREAD_OF_VARIANCES)
        spread[2 * views : -1] = SPREAD_OF_LENGTHS
        if leans is not None:
            start, spread = np.append(start, LEAN), np.append(spread, SPREAD_OF_LEAN)
        identity = np.eye(n)

        def surprise(asked: Array) -> tuple[float, Array]:
            theta = asked[: 3 * views + 1]
            linear, smooth, by_length = likeness.covariances(theta)
            noise = np.exp(theta[-1])
            covariance = linear.sum(axis=0) + smooth.sum(axis=0) + (noise + LEAST_NOISE) * identity
            factor = cholesky(covariance, lower=True, check_finite=False)
            inverse = cho_solve((factor, True), identity, check_finite=False)
            rest = scores if leans is None else scores - asked[-1] * leans
            weights = inverse @ rest
            pull = inverse - np.outer(weights, weights)
            away = (asked - start) / spread
            value = rest @ weights / 2 + np.log(np.diag(factor)).sum() + away @ away / 2
            slopes = [(pull * term).sum(axis=(1, 2)) / 2 for term in (linear, smooth, by_length)]
            slopes += [[noise * np.trace(pull) / 2], [] if leans is None else [-leans @ weights]]
            return float(value), np.concatenate(slopes) + away / spread

        reach = 5 * spread
        found = minimize(
            surprise, start, jac=True, method="L-BFGS-B", bounds=list(zip(start - reach, start + reach, strict=True))
        ).x
        theta, lean = found[: 3 * views + 1], 0.0 if leans is None else float(found[-1])
        linear, smooth, _ = likeness.covariances(theta)
        covariance = linear.sum(axis=0) + smooth.sum(axis=0) + (np.exp(theta[-1]) + LEAST_NOISE) * identity
        factor = cholesky(covariance, lower=True)
        rest = scores if leans is None else scores - lean * leans
        return cls(theta, factor, cho_solve((factor, True), rest), lean)

    def predict(self, likeness: Likeness, leans: Array | None = None) -> tuple[Array, Array]:
        """Mean and standard deviation of an observation at each row; columns are the architectures of the fit."""
        linear, smooth, _ = likeness.covariances(self.theta)
        covariance = linear.sum(axis=0) + smooth.sum(axis=0)
        known = solve_triangular(self.factor, covariance.T, lower=True, check_finite=False)
        left = np.maximum(likeness.prior_variance(self.theta) - (known**2).sum(axis=0), 0)
        mean = covariance @ self.weights + (0.0 if leans is None else self.lean * leans)
        return mean, np.sqrt(left + np.exp(self.theta[-1]) + LEAST_NOISE)
