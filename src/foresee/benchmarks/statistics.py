"""How well one list of numbers orders another: correlations, the foremost few, and how sure we are.

Larger is better on both sides. Every statistic of a resample is computed from how often each pair was drawn (its *counts*),
so a thousand resamples are a few array operations: nothing is sorted again. A statistic that does not exist (a constant
list has no order, fewer than two pairs no correlation) is NaN.

>>> correlate([1.0, 2.0, 3.0, 4.0], [10.0, 30.0, 20.0, 40.0], bootstrap=0).spearman.value
0.8
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresee.errors import InputError
from foresee.seeds import derive

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

#: the interval holds this share of the resamples
CONFIDENCE = 0.95
#: foremost architectures to compare: a number of them, or a share of the sample
TOP: tuple[int | float, ...] = (10, 0.05)
#: the two taus cost O(n log n) a resample: they take so many resamples that resamples x n stays below this, at least 200
TAU_WORK = 1_000_000
#: entries of one (n, resamples) array at a time
_CHUNK = 2**21


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % bootstrap percentile interval and the number of pairs it comes from."""

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0

    @property
    def half_width(self) -> float:
        """Half the interval's width."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "undefined"
        return f"{self.value:.3f}" + ("" if math.isnan(self.low) else f" [{self.low:.3f}, {self.high:.3f}]")

    def to_json(self) -> dict[str, Any]:
        """Plain values; what does not exist is None."""
        plain = {name: _or_none(getattr(self, name)) for name in ("value", "low", "high")}
        return {**plain, "n": self.n}


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


# -- the numbers --------------------------------------------------------------------------------------------------------
def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Linear correlation."""
    return _alone(_pearsons, x, y)


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Linear correlation of the ranks; ties share the mean of theirs."""
    return _alone(_spearmans, x, y)


def kendall(x: ArrayLike, y: ArrayLike) -> float:
    """Tau-b: (concordant - discordant pairs) / sqrt(pairs not tied in x * pairs not tied in y)."""
    return _alone(_kendalls, x, y)


def weighted_tau(x: ArrayLike, y: ArrayLike) -> float:
    """Tau in which a pair weighs 1/place + 1/place, so the order of the best counts most (Vigna, WWW 2015).

    Places are by x (ties by y) and by y (ties by x), and the value is the mean of the two, as in scipy's `weightedtau`.
    """
    return _alone(_weighted_taus, x, y)


def top_overlap(x: ArrayLike, y: ArrayLike, k: int) -> float:
    """Share of the k best by y that are among the k best by x. Where a tie crosses the border, its expected value."""
    a, b = _pairs(x, y)
    k = min(k, len(a))
    return float((_membership(a, k) * _membership(b, k)).sum() / k) if k else math.nan


def regret(x: ArrayLike, y: ArrayLike, k: int) -> float:
    """The best y of all, minus the best y among the k foremost by x: what trusting x costs. Expected value over ties."""
    a, b = _pairs(x, y)
    k = min(k, len(a))
    if not k:
        return math.nan
    border = np.partition(a, -k)[-k]
    sure, tied = b[a > border], np.sort(b[a == border])[::-1]
    left, chance, best = k - len(sure), 1.0, sure.max(initial=-math.inf)
    expected = 0.0
    for index, value in enumerate(tied):  # the largest of `left` out of `tied`, drawn at random
        if value <= best or len(tied) - index < left:
            break
        drawn = left / (len(tied) - index)
        expected, chance = expected + chance * drawn * value, chance * (1 - drawn)
    return float(b.max() - (expected + chance * best if chance > 0 else expected))


# -- all of them, with intervals ----------------------------------------------------------------------------------------
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
    merits, truths = _vector(x, "x"), _vector(y, "y")
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
    places = _codes(merits[valid]).astype(float)
    everyone = np.full(len(merits), -1.0)
    everyone[valid] = places
    last = _correlations(everyone, truths, bootstrap, seed, wanted, confidence, linear=False)
    return Correlations(**{**found.__dict__, "failed": failed, "with_failures": last})


def _correlations(
    x: Array, y: Array, bootstrap: int, seed: int, top: Sequence[int | float], confidence: float, linear: bool = True
) -> Correlations:
    n = len(x)
    draws = (
        np.random.default_rng(derive(seed, "bootstrap", n)).integers(0, n, (bootstrap, n))
        if n
        else np.empty((0, 0), int)
    )

    def estimate(statistic: _Statistic, at_most: int) -> Estimate:
        once = float(statistic(x, y, np.ones((n, 1), np.int64))[0]) if n > 1 else math.nan
        return _estimate(once, _resampled(statistic, x, y, draws[:at_most]), n, confidence)

    def looped(statistic: Callable[[Array, Array, int], float], k: int) -> Estimate:
        values = np.array([statistic(x[draw], y[draw], k) for draw in draws])
        return _estimate(statistic(x, y, k), values, n, confidence)

    fewer = max(200, TAU_WORK // max(n, 1))
    sizes = {_label(k): _size(k, n) for k in top}
    return Correlations(
        spearman=estimate(_spearmans, bootstrap),
        kendall=estimate(_kendalls, fewer),
        pearson=estimate(_pearsons, bootstrap) if linear else Estimate(math.nan, n=n),
        weighted_tau=estimate(_weighted_taus, fewer),
        top={label: looped(top_overlap, k) for label, k in sizes.items()},
        regret={label: looped(regret, k) for label, k in sizes.items()},
        n=n,
    )


def _estimate(value: float, resampled: Array, n: int, confidence: float) -> Estimate:
    found = resampled[~np.isnan(resampled)]
    if math.isnan(value) or not len(found):
        return Estimate(value, n=n)
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(value, float(low), float(high), n)


def interval(values: ArrayLike, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The percentile interval of resampled values; NaN where there are none."""
    found = _estimate(0.0, _vector(values, "values"), 0, confidence)
    return found.low, found.high


def resamples_of(statistic: Callable[..., float], x: ArrayLike, y: ArrayLike, draws: NDArray[np.int64]) -> Array:
    """`pearson`, `spearman`, `kendall` or `weighted_tau` of each resample; `draws` (resamples, n) are the pairs of each.

    For comparisons over the same resamples, such as the difference between two correlations.

    >>> resamples_of(spearman, [1.0, 2.0, 3.0], [1.0, 3.0, 2.0], np.array([[0, 1, 2], [0, 1, 1]]))
    array([0.5, 1. ])
    """
    many = {pearson: _pearsons, spearman: _spearmans, kendall: _kendalls, weighted_tau: _weighted_taus}
    return _resampled(many[statistic], _vector(x, "x"), _vector(y, "y"), draws)


# -- statistics of many resamples at once -------------------------------------------------------------------------------
# x, y: (n,); counts: (n, resamples), how often each pair was drawn; the result is (resamples,).
_Statistic = Callable[[Array, Array, Counts], Array]


def _resampled(statistic: _Statistic, x: Array, y: Array, draws: NDArray[np.int64]) -> Array:
    n = len(x)
    if n < 2 or not len(draws):
        return np.empty(0)
    step = max(1, _CHUNK // n)
    parts = []
    for start in range(0, len(draws), step):
        part = draws[start : start + step]
        columns = np.arange(len(part))[:, None]
        counts = np.bincount((part * len(part) + columns).ravel(), minlength=n * len(part))
        parts.append(statistic(x, y, counts.reshape(n, len(part))))
    return np.concatenate(parts)


def _pearsons(x: Array, y: Array, counts: Counts) -> Array:
    return _linear(_scaled(x)[:, None], _scaled(y)[:, None], counts)


def _spearmans(x: Array, y: Array, counts: Counts) -> Array:
    return _linear(_ranks(x, counts), _ranks(y, counts), counts)


def _kendalls(x: Array, y: Array, counts: Counts) -> Array:
    """With pair weight 1: half of a pair's weight to each of its two members."""
    return _tau(x, y, counts, counts / 2)


def _weighted_taus(x: Array, y: Array, counts: Counts) -> Array:
    return (_tau(x, y, counts, _hyperbolic(x, y, counts)) + _tau(x, y, counts, _hyperbolic(y, x, counts))) / 2


def _linear(x: Array, y: Array, counts: Counts) -> Array:
    """Pearson's r of values that were drawn `counts` times; values are (n, 1) or (n, resamples)."""
    total = counts.sum(0)
    mean_x, mean_y = (counts * x).sum(0) / total, (counts * y).sum(0) / total
    from_x, from_y = x - mean_x, y - mean_y
    squares_x, squares_y = (counts * from_x**2).sum(0), (counts * from_y**2).sum(0)
    rounding = 1e-26 * total
    varies = (squares_x > rounding * mean_x**2) & (squares_y > rounding * mean_y**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (counts * from_x * from_y).sum(0) / np.sqrt(squares_x * squares_y)
    return np.where(varies, np.clip(r, -1, 1), math.nan)


def _ranks(values: Array, counts: Counts) -> Array:
    """Mean ranks within each resample: those drawn below, plus half of those drawn alike."""
    alike = _grouped(_codes(values), counts)
    below = np.cumsum(alike, axis=0) - alike
    return (below + (alike + 1) / 2)[_codes(values)]


def _tau(x: Array, y: Array, counts: Counts, weights: Array) -> Array:
    """Sum over pairs of sign(dx) sign(dy) w / sqrt(sum over dx != 0 of w * sum over dy != 0 of w).

    A pair's weight w is the sum of its members' weights; `weights` (n, resamples) are summed over the copies of a member.
    """
    codes_x, codes_y = _codes(x), _codes(y)
    both = codes_x * (codes_y.max() + 1) + codes_y

    def tied(codes: NDArray[np.int64]) -> Array:  # a member of a group of m meets m - 1 others there
        return np.asarray(((_grouped(codes, counts) - 1) * _grouped(codes, weights)).sum(0))

    pairs = (counts.sum(0) - 1) * weights.sum(0)
    tied_x, tied_y = tied(codes_x), tied(codes_y)
    untied = pairs - tied_x - tied_y + tied(_codes(both))
    concordant = _concordant(codes_x, codes_y, counts, weights)
    scale = np.sqrt(np.maximum(pairs - tied_x, 0)) * np.sqrt(np.maximum(pairs - tied_y, 0))
    exists = (pairs - tied_x > 1e-9 * pairs) & (pairs - tied_y > 1e-9 * pairs)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(exists, np.clip((2 * concordant - untied) / scale, -1, 1), math.nan)


def _concordant(codes_x: NDArray[np.int64], codes_y: NDArray[np.int64], counts: Counts, weights: Array) -> Array:
    """Sum of the weights of the pairs with x_i < x_j and y_i < y_j, in O(n log n) for all resamples.

    In order of x, ties by falling y, these are the pairs i before j with y_i < y_j. They differ first in some bit of y: go
    down the bits, keep those that agree so far together and in order, and in each group let every 1 meet the 0s before it.
    """
    order = np.lexsort((-codes_y, codes_x))
    both = np.stack([counts, weights]).astype(float)
    total = np.zeros(counts.shape[1])
    for bit in reversed(range(int(codes_y.max()).bit_length())):
        codes = codes_y[order]
        group, one = codes >> (bit + 1), (codes >> bit) & 1 == 1
        before = np.concatenate([[0], np.cumsum(~one)])  # how many 0s stand before each place
        zeros = np.zeros((2, before[-1] + 1, counts.shape[1]))
        np.cumsum(both[:, order[~one]], axis=1, out=zeros[:, 1:])
        starts = np.searchsorted(group, group)  # groups are in rising order: where each one's begins
        met_counts, met_weights = zeros[:, before[:-1][one]] - zeros[:, before[starts[one]]]
        own_counts, own_weights = both[:, order[one]]
        total += np.einsum("ij,ij->j", met_counts, own_weights) + np.einsum("ij,ij->j", met_weights, own_counts)
        order = order[np.argsort(codes >> bit, kind="stable")]
    return total


def _hyperbolic(first: Array, second: Array, counts: Counts) -> Array:
    """Sum of 1/place over the copies of each pair, the places by falling `first`, ties by falling `second`."""
    order = np.lexsort((-second, -first))
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, int(counts.sum(0).max()) + 1))])
    ends = np.cumsum(counts[order], axis=0)
    weights = np.empty(counts.shape)
    weights[order] = harmonic[ends] - harmonic[ends - counts[order]]
    return weights


# -- small things -------------------------------------------------------------------------------------------------------
def _codes(values: NDArray[Any]) -> NDArray[np.int64]:
    """0 for the smallest value, 1 for the next, ...: equal values have equal codes."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _grouped(codes: NDArray[np.int64], values: NDArray[Any]) -> Array:
    """Sum of the rows of `values` that have the same code: (n, resamples) to (codes, resamples)."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return np.asarray(np.add.reduceat(values[order], starts, axis=0))


def _membership(values: Array, k: int) -> Array:
    """The chance of each to be among the k largest when ties are broken at random."""
    border = np.partition(values, -k)[-k]
    above, tied = values > border, values == border
    return np.asarray(above + tied * ((k - above.sum()) / tied.sum()))


def _alone(statistic: _Statistic, x: ArrayLike, y: ArrayLike) -> float:
    a, b = _pairs(x, y)
    return float(statistic(a, b, np.ones((len(a), 1), np.int64))[0]) if len(a) > 1 else math.nan


def _pairs(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    a, b = _vector(x, "x"), _vector(y, "y")
    if a.shape != b.shape:
        raise InputError(f"{len(a)} values of x for {len(b)} of y: one each is needed")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InputError("a value is not finite: `correlate` counts failures, this function wants none")
    return a, b


def _vector(values: ArrayLike, name: str) -> Array:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1:
        raise InputError(f"{name} of shape {found.shape}: expected one number per architecture")
    return found


def _scaled(values: Array) -> Array:
    """At most 1 in size, so that squares neither overflow nor vanish."""
    largest = np.abs(values).max(initial=0.0)
    return values / largest if largest > 0 else values


def _label(k: int | float) -> str:
    return f"{100 * k:g} %" if isinstance(k, float) else f"{k}"


def _size(k: int | float, n: int) -> int:
    if k <= 0 or (isinstance(k, float) and k > 1):
        raise InputError(f"top {k}: expected a number of architectures, or a share between 0 and 1")
    return max(1, round(k * n)) if isinstance(k, float) else int(k)


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
