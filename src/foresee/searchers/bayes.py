"""Bayesian optimisation of an expensive function of a few numbers: a small piece that a searcher can stand on.

It is no searcher of architectures by itself. A Gaussian process over the points tried so far says from which of many evenly
spread candidates most can be gained, and that one is tried next. The seed decides candidates and fits alike, so the same
function and seed give the same trials.

>>> found = maximise(lambda point: -float((point[0] - 0.3) ** 2), [[0.0], [1.0]], trials=8, method="random")
>>> len(found.values), round(abs(float(found.best[0]) - 0.3), 1)
(8, 0.0)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foresee.errors import InputError, UnknownNameError
from foresee.extras import need

#: "bayes" needs the extra `bayes`; "random" tries as many of the candidates as they come, for comparison or without it
METHODS = ("bayes", "random")
#: trials, a quarter of them before there is a model: as many as the released code of HNAS spends
TRIALS = 20
#: "ei", the logarithm of the gain that is expected over the best value so far; "ucb", the mean and so many deviations
ACQUISITIONS, DEVIATIONS = ("ei", "ucb"), 2.576
#: points that a trial may be one of
CANDIDATES = 2048


@dataclass(frozen=True, eq=False)
class Trials:
    """What was tried, in order: `points` (trials, numbers) in float64, and the function's `values`, NaN where it has none."""

    points: Tensor
    values: tuple[float, ...]

    @property
    def best(self) -> Tensor:
        """The point of the greatest value, (numbers,); the first of equals."""
        if not self.values:
            raise InputError("no trials: there is no best point of none")
        merits = [-math.inf if math.isnan(value) else value for value in self.values]
        return self.points[merits.index(max(merits))]


def maximise(
    function: Callable[[Tensor], float],
    bounds: Any,
    *,
    trials: int = TRIALS,
    seed: int = 0,
    method: str = "bayes",
    candidates: int = CANDIDATES,
) -> Trials:
    """Points within `bounds` where `function` is likely to be great, and what it is there.

    Args:
        function: of a point, (numbers,) in float64; NaN where it does not exist, which the model is not shown.
        bounds: the lows and the highs of each number, (2, numbers).
        trials: calls of the function.
        seed: decides everything that is drawn.
        method: one of `METHODS`.
        candidates: evenly spread points that trials are chosen from; none is tried twice.
    """
    if method not in METHODS:
        raise UnknownNameError("method of optimisation", method, METHODS)
    if not 0 <= trials <= candidates:
        raise InputError(f"{trials} trials: expected at least 0 and at most {candidates}, the number of candidates")
    rest = spread(bounds, candidates, seed)
    first = min(trials, 1 + trials // 4)
    points, rest = rest[:first], rest[first:]
    values = [function(point) for point in points]
    with torch.random.fork_rng(devices=[]):  # fitting may draw from the global generator
        torch.manual_seed(seed)
        while len(values) < trials:
            place = most_promising(points, values, rest) if method == "bayes" else 0  # they come in random order
            points, rest = torch.cat([points, rest[[place]]]), torch.cat([rest[:place], rest[place + 1 :]])
            values.append(function(points[-1]))
    return Trials(points, tuple(values))


def spread(bounds: Any, many: int, seed: int) -> Tensor:
    """So many points evenly spread within (2, numbers) lows and highs, in random order: (many, numbers), a Sobol sequence."""
    box = torch.as_tensor(bounds, dtype=torch.float64)
    if box.ndim != 2 or len(box) != 2 or not box.numel():
        raise InputError(f"bounds of shape {tuple(box.shape)}: expected (2, numbers), the lows and the highs")
    if not bool(box.isfinite().all() and (box[0] <= box[1]).all()):
        raise InputError(f"bounds {box.tolist()}: expected finite lows, and highs that are not below them")
    sobol = torch.quasirandom.SobolEngine(box.shape[1], scramble=True, seed=seed % 2**31)  # type: ignore[no-untyped-call]
    return box[0] + (box[1] - box[0]) * sobol.draw(many, dtype=torch.float64)


def most_promising(points: Tensor, values: Sequence[float], candidates: Tensor) -> int:
    """The place of the candidate from which a Gaussian process expects to gain most over the best value so far.

    `points` are (tried, numbers) with as many `values`, `candidates` (many, numbers). Before two values exist nothing can be
    modelled, and the first candidate is as good as any.
    """
    model = surrogate(points, values)
    return 0 if model is None else int(model.gain(candidates).argmax())


def surrogate(points: Tensor, values: Sequence[float], bounds: Tensor | None = None) -> Surrogate | None:
    """A Gaussian process fitted to `points` (tried, numbers) and their `values`, those that exist; None before there are two.

    Lengths are measured by the `bounds` (2, numbers) of the points; by default by how far those lie apart that were tried.
    The fit may draw from torch's global random numbers: whoever needs it to be the same each time seeds these.
    """
    botorch, gpytorch = need("botorch"), need("gpytorch")
    seen = torch.tensor(values, dtype=torch.float64)
    known = seen.isfinite()
    if known.sum() < 2:
        return None
    points, seen = points[known], seen[known, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a fit that is tried again
        model = botorch.models.SingleTaskGP(
            points,
            seen,
            input_transform=botorch.models.transforms.Normalize(points.shape[1], bounds=bounds),
            outcome_transform=botorch.models.transforms.Standardize(1),
        )
        botorch.fit_gpytorch_mll(gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model))
    return Surrogate(model, float(seen.max()))


class Surrogate:
    """What a Gaussian process thinks of points that were not tried."""

    def __init__(self, model: Any, best: float) -> None:
        self._model, self._best = model, best

    def predict(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """The mean and the standard deviation of the function at points, (many, numbers): (many,) each."""
        with torch.no_grad():
            found = self._model.posterior(points)
            return found.mean[:, 0], found.variance[:, 0].sqrt()

    def gain(self, points: Tensor, acquisition: str = "ei") -> Tensor:
        """How much is to be gained by trying each of the points, (many,), by one of `ACQUISITIONS`."""
        if acquisition not in ACQUISITIONS:
            raise UnknownNameError("acquisition", acquisition, ACQUISITIONS)
        if acquisition == "ucb":
            mean, deviation = self.predict(points)
            return mean + DEVIATIONS * deviation
        ways = need("botorch.acquisition")
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            found: Tensor = ways.LogExpectedImprovement(self._model, best_f=self._best)(points[:, None])
        return found

    def seen(self, bounds: Tensor, point: Tensor, acquisition: str, side: int) -> dict[str, Any]:
        """What is thought of two numbers, in plain values: mean, deviation and gain, `here` at a point and on a grid.

        Of the grid of `side` points a side within `bounds` (2, 2), columns are the first number and rows the second.
        """
        low, high = bounds.tolist()
        first, second = (torch.linspace(low[i], high[i], side, dtype=torch.float64) for i in (0, 1))
        rows, columns = torch.meshgrid(second, first, indexing="ij")
        every = torch.cat([point[None], torch.stack([columns.flatten(), rows.flatten()], 1)])
        kinds = dict(zip(("mean", "deviation"), self.predict(every), strict=True))
        kinds["gain"] = self.gain(every, acquisition)
        grids = {name: [list(map(plain, row)) for row in values[1:].view(side, side)] for name, values in kinds.items()}
        return {"acquisition": acquisition, "here": {name: plain(values[0]) for name, values in kinds.items()}, **grids}


def plain(value: Any) -> float | None:
    """A number to be stored and looked at: six digits of it, None where it is not finite.

    >>> plain(torch.tensor(1 / 3)), plain(math.inf)
    (0.333333, None)
    """
    number = float(f"{float(value):.6g}")
    return number if math.isfinite(number) else None
