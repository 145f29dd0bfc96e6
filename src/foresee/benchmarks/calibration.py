"""Calibrating on a few trained architectures: predictions for the others, with intervals, beside the untrained score.

A small rank model (`rank_model`) is fitted on the proxies of the trained architectures; `conformal` gives its predictions
intervals. The predictions are a column of their own: the untrained score is shown beside them and stays what it was. What
was held out while fitting tells how far to trust them: the rank correlation with the values, beside that of the untrained
score on the same architectures, and the share of intervals that hold the value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresee.benchmarks.conformal import HeldOut, left_out
from foresee.benchmarks.rank_model import Array, Indices, Likeness, normal_scores, view_of_proxies
from foresee.errors import InputError
from foresee.seeds import derive
from foresee.statistics import Estimate, kendall, places_of, resamples_of, spearman
from foresee.statistics.bootstrap import draws as drawn
from foresee.statistics.directions import sign as sign_of

#: fewer trained architectures than this say too little, more than this want a model made for many
LEAST, MOST = 10, 500
#: parts in which the trained architectures are held out; up to so many, each is held out alone
FOLDS = 20
#: with fewer architectures than this, resampling them tells little about others
ROUGH = 20
#: share of the intervals that shall hold the truth
COVERAGE = 0.9
#: resamples of n architectures are so many that their product stays below this, but at least 100
RESAMPLED = 1_000_000


@dataclass(frozen=True)
class Skill:
    """How well predictions order values they were not fitted on, beside the untrained score on the same architectures.

    `gain` is the difference of the two, resampled in pairs; `covered` the share of intervals that hold the value. Where there
    is no untrained score, `untrained` and `gain` are empty.
    """

    model: Mapping[str, Estimate]
    untrained: Mapping[str, Estimate]
    gain: Mapping[str, Estimate]
    covered: Estimate
    n: int

    @property
    def better(self) -> bool:
        """Whether the model orders better than the untrained score, beyond the interval of the difference in Spearman."""
        return bool(self.gain) and self.gain["spearman"].low > 0

    @property
    def verdict(self) -> str:
        """The same as a sentence."""
        if not self.gain:
            return "No untrained score to compare with."
        gain = self.gain["spearman"]
        if math.isnan(gain.value):
            return f"The model or the untrained score orders none of the {self.n}: there is nothing to compare."
        if math.isnan(gain.low):
            return (
                f"The difference in Spearman is {gain.value:+.3f}, n = {self.n}; without an interval that says little."
            )
        found = f"the difference in Spearman is {gain.value:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}], n = {self.n}"
        found += "" if self.n >= ROUGH else ", so few that the interval itself is rough"
        if self.better:
            return f"The model is better than the untrained score: {found}."
        if gain.high < 0:
            return f"The model is worse than the untrained score ({found}): use the score."
        return f"The model is not better than the untrained score beyond the interval: {found}."

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        columns = {name: getattr(self, name) for name in ("model", "untrained", "gain")}
        plain = {name: {key: one.to_json() for key, one in column.items()} for name, column in columns.items()}
        return {"n": self.n, **plain, "covered": self.covered.to_json(), "better": self.better, "verdict": self.verdict}


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """Predictions of the architectures that are not among the trained, and how far they can be trusted.

    `rest` are their places, and aligned with it `predicted`, `low`, `high` (in the unit of the values), `rank` (1 is best),
    `untrained` (merits, not finite where the proxy failed) and `untrained_rank`. `skill` is measured on what was held out
    while fitting: `held_out` are predicted, low and high of each trained architecture by models that never saw it, (3, n),
    and `untrained_of_trained` its merits beside. `proxies` were used; the `constant` ones of them are the same for all
    architectures and say nothing;
    `failed` counts where they have no value.
    """

    trained: Indices
    values: Array
    rest: Indices
    predicted: Array
    low: Array
    high: Array
    rank: Array
    untrained: Array | None
    untrained_rank: Array | None
    skill: Skill
    held_out: Array
    untrained_of_trained: Array | None
    coverage: float
    folds: int
    proxies: tuple[str, ...]
    constant: tuple[str, ...]
    failed: Mapping[str, int]
    direction: Literal["higher", "lower"]
    seed: int
    bootstrap: int

    def __repr__(self) -> str:
        gain = self.skill.gain.get("spearman")
        more = "" if gain is None else f", gain over the untrained score {gain}"
        return f"<Calibration: {len(self.trained)} trained, {len(self.rest)} foreseen{more}>"

    @property
    def guaranteed(self) -> float:
        """The share of intervals that hold the truth at the least, for any truth, if architectures are drawn alike."""
        n, folds = len(self.values), self.folds
        slack = min(2 * (1 - 1 / folds) / (n / folds + 1), (1 - folds / n) / (folds + 1))
        return max(0.0, 1 - 2 * (1 - self.coverage) - slack)

    @cached_property
    def order(self) -> Indices:
        """Places in `rest`, best prediction first."""
        return np.argsort(self.rank, kind="stable")

    def check(self, truth: ArrayLike) -> Skill:
        """The skill on the architectures of `rest` whose `truth` (aligned with `rest`, NaN where unknown) is known."""
        values = np.asarray(truth, dtype=np.float64)
        if values.shape != self.rest.shape:
            raise InputError(
                f"truth of shape {values.shape}: expected one value for each of the {len(self.rest)} predicted"
            )
        known = np.isfinite(values)
        sign = sign_of(self.direction)
        untrained = None if self.untrained is None else self.untrained[known]
        inside = (self.low <= values) & (values <= self.high)
        model = -self.rank[known]
        return _skill(model, untrained, sign * values[known], inside[known], self.bootstrap, self.seed)


def calibrate(
    merits: Mapping[str, ArrayLike],
    trained: ArrayLike,
    values: ArrayLike,
    *,
    untrained: ArrayLike | None = None,
    leans: bool = False,
    parts: Array | Sequence[Array] | None = None,
    direction: Literal["higher", "lower"] = "higher",
    coverage: float = COVERAGE,
    folds: int = FOLDS,
    bootstrap: int = 1000,
    seed: int = 0,
) -> Calibration:
    """Fit on the trained architectures and predict the others.

    Args:
        merits: by proxy, a number for every architecture, trained or not, (m,). Only their order counts: it is taken over
            all m, for which no accuracy is needed. Minus infinity where the proxy failed, which ranks last; NaN where its
            value is not known, which says nothing.
        trained: places of the trained architectures, (n,), n from 10 to 500.
        values: what was measured of them, (n,).
        untrained: merits of the score to show beside, (m,), larger being better; what is not finite ranks last.
        leans: whether the model leans on the untrained score: takes it for likely to be right before it has seen anything.
        parts: a further view of the architectures, (m, k), or several, such as `view_of_parts` and `view_of_ways`.
        direction: whether higher or lower values are better.
        coverage: share of the intervals that shall hold the truth.
        folds: parts in which the trained are held out; the time goes with the square of their number.
        bootstrap: resamples behind the intervals of the skill; 0: none.
        seed: decides folds and resamples.

    >>> import numpy as np
    >>> size = np.arange(200.0)
    >>> merits = {"params": size, "noise": np.sin(size * 1.7)}
    >>> found = calibrate(merits, trained=np.arange(0, 200, 8), values=90 + size[::8] / 50)
    >>> len(found.rest), int(found.rest[found.order[0]])
    (175, 199)
    """
    others = [] if parts is None else [parts] if isinstance(parts, np.ndarray) else list(parts)
    columns, places, observed = _checked(merits, trained, values, others)
    check_asked(observed, coverage, bootstrap)
    count = len(next(iter(columns.values())))
    if folds < 3:
        raise InputError(f"folds {folds}: at least 3 are needed, for two of them are held out at once")
    score = None if untrained is None else _column("untrained", untrained, count)
    if leans and score is None:
        raise InputError("leans: there is no untrained score to lean on; hand one over as `untrained`")
    sign = sign_of(direction)
    views = [view_of_proxies(columns), *others]
    if not any(view.shape[1] for view in views):
        raise InputError(f"{', '.join(columns)}: the same for all {count} architectures, so nothing tells them apart")
    likeness = Likeness.between(views, places)
    dealt = np.random.default_rng(derive(seed, "folds")).permutation(len(places)) % folds
    leant = normal_scores(score) if leans and score is not None else None
    held = HeldOut(likeness, places, sign * observed, dealt, leant)

    rest = np.setdiff1d(np.arange(count), places)
    mean = held.without().predict(rest)[0]
    predicted = held.without().scale.value(mean)
    low, high = held.interval(rest, coverage)
    low, high = np.minimum(low, predicted), np.maximum(high, predicted)
    if sign < 0:
        predicted, low, high = -predicted, -high, -low
    expected = np.array(held.foreseen(coverage))
    if sign < 0:
        expected = -expected[[0, 2, 1]]
    inside = (expected[1] <= observed) & (observed <= expected[2])
    beside = None if score is None else score[places]
    return Calibration(
        trained=places,
        values=observed,
        rest=rest,
        predicted=predicted,
        low=low,
        high=high,
        rank=places_of(mean),
        untrained=None if score is None else score[rest],
        untrained_rank=None if score is None else places_of(score[rest]),
        skill=_skill(held.means, beside, sign * observed, inside, bootstrap, seed),
        held_out=expected,
        untrained_of_trained=beside,
        coverage=coverage,
        folds=len(held.folds),
        proxies=tuple(columns),
        constant=tuple(name for name, column in columns.items() if not np.ptp(normal_scores(column))),
        failed={name: failed for name, column in columns.items() if (failed := int((~np.isfinite(column)).sum()))},
        direction=direction,
        seed=seed,
        bootstrap=bootstrap,
    )


# -- how good that is ---------------------------------------------------------------------------------------------------
def _skill(
    model: Array, untrained: Array | None, values: Array, inside: NDArray[np.bool_], bootstrap: int, seed: int
) -> Skill:
    """Rank correlations of both with the values (larger being better), and their difference over the same resamples."""
    n = len(values)
    columns = {"model": model} | ({} if untrained is None else {"untrained": -places_of(untrained)})
    resamples = min(bootstrap, max(100, RESAMPLED // max(n, 1)))
    draws = drawn(n, resamples, seed, "skill")
    found: dict[str, dict[str, Estimate]] = {"model": {}, "untrained": {}, "gain": {}}
    for name, once in {"spearman": spearman, "kendall": kendall}.items():
        value = {key: once(column, values) for key, column in columns.items()}
        resampled = {key: resamples_of(once, column, values, draws) for key, column in columns.items()}
        if untrained is not None:
            value["gain"] = value["model"] - value["untrained"]
            resampled["gain"] = resampled["model"] - resampled["untrained"]
        for key in value:
            found[key][name] = Estimate.of(value[key], resampled[key], n)
    covered = Estimate.of(float(inside.mean()) if n else math.nan, inside[draws].mean(axis=1) if n else np.empty(0), n)
    return Skill(found["model"], found["untrained"], found["gain"], covered, n)


# -- what is handed in --------------------------------------------------------------------------------------------------
def check_asked(values: Array, coverage: float, bootstrap: int) -> None:
    """Whether so many values, and these, are enough for what is asked of them: before anything is scored."""
    n = len(values)
    if not np.isfinite(values).all():
        raise InputError("a trained architecture's value is not finite: leave out what was not measured")
    if n < LEAST:
        raise InputError(f"{n} trained architectures: at least {LEAST} are needed to tell a model from chance")
    if n > MOST:
        raise InputError(f"{n} trained architectures: this model is for at most {MOST}; choose how many with --trained")
    if np.ptp(values) == 0:
        raise InputError(f"all {n} trained architectures have the value {values[0]:g}: there is no order to learn")
    if not 0 < coverage < 1:
        raise InputError(f"coverage {coverage}: expected a share between 0 and 1, such as {COVERAGE}")
    if left_out(n, coverage) < 1:
        needed = math.ceil(1 / (1 - coverage) - 1e-9) - 1
        raise InputError(f"coverage {coverage:g} needs at least {needed} trained architectures; there are {n}")
    if bootstrap < 0:
        raise InputError(f"bootstrap {bootstrap}: expected a number of resamples, or 0 for no intervals")


def _checked(
    merits: Mapping[str, ArrayLike], trained: ArrayLike, values: ArrayLike, views: Sequence[Array]
) -> tuple[dict[str, Array], Indices, Array]:
    if not merits:
        raise InputError("no proxies: at least one is needed to foresee anything from")
    count = len(np.atleast_1d(np.asarray(next(iter(merits.values())))))
    columns = {name: _column(name, column, count) for name, column in merits.items()}
    for view in views:
        if view.ndim != 2 or len(view) != count:
            raise InputError(f"parts of shape {view.shape}: expected ({count}, k), a row for each architecture")
    places, observed = np.asarray(trained, dtype=np.int64), np.asarray(values, dtype=np.float64)
    if places.ndim != 1 or observed.shape != places.shape:
        raise InputError(f"{places.shape} trained places for {observed.shape} values: expected one value for each")
    n = len(places)
    if n and (places.min() < 0 or places.max() >= count or len(np.unique(places)) < n):
        raise InputError(f"trained places must differ and lie from 0 to {count - 1}")
    return columns, places, observed


def _column(name: str, column: ArrayLike, count: int) -> Array:
    found = np.asarray(column, dtype=np.float64)
    if found.shape != (count,):
        raise InputError(f"{name} has shape {found.shape}: expected a number for each of the {count} architectures")
    return found
