"""HNAS: Bayesian optimisation of the two numbers by which a training-free objective selects from a pool."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from foresee.checks import whole
from foresee.devices import threads
from foresee.errors import InputError, UnknownNameError, shown
from foresee.extras import need
from foresee.scoring.settings import MOST_SEED
from foresee.searchers.base import Result, Searcher, searchers
from foresee.searchers.bayes import ACQUISITIONS, CANDIDATES, METHODS, Surrogate, plain, spread, surrogate
from foresee.searchers.gate import Proposal
from foresee.searchers.pool import drawn
from foresee.searchers.pool_file import TEXTS, part, taken
from foresee.searchers.problem import Problem
from foresee.searchers.unified import Bounds
from foresee.seeds import derive, random_states_kept
from foresee.task import MOST

#: the proxy that is kappa
KAPPA = "ntk_cond:hnas"
#: F of Eq. 7.7: the square of the thesis (t = 1), the absolute value of its released code; both divide by M + EPSILON
FORMS, EPSILON = {"squared": 2.0, "absolute": 1.0}, 1e-6
#: architectures of the pool that are scored in one step
PART = 32
#: nu lies between these quantiles of M^2 over the pool
RANGE = (0.05, 0.95)
#: the model is kept on a grid of so many points a side, for people to look at
GRID = 15


@searchers.register("hnas")
class HNAS(Searcher):
    """Choose (mu, nu) so that kappa / M + mu F(M^2 - nu) selects, from a pool scored once, what validates best.

    Shu's thesis, Algorithm 7.1. A pool of architectures gets a training-free metric M and the condition number kappa of the
    tangent kernel, once. Then, for every evaluation: a Gaussian process over (log mu, log nu), fitted to the results so far,
    says where most can be gained; the architecture that minimises the objective (Eq. 7.7) there, among those that were not
    evaluated yet, is evaluated; its result is the function's value at that point. The best result wins.

    What is evaluated is the run's objective: `measured` in the thesis (validation accuracies of a table, more is better), or
    any proxy or cost. Without a table the run can measure by itself (`measure`): `trained` trains each briefly, as the
    thesis does on DARTS, `inherited` takes the weights of a supernet. Nothing else of what was measured is ever seen. An
    architecture whose metric or kappa does not exist is taken last. The first `probes` points lie along nu at a middling mu,
    as in the released code.

    Args:
        metric: the proxy that is M, without its sign; with a `pool_file` any column of it.
        kappa: whether kappa is computed; without, it is 1.
        pool: architectures in the pool.
        pool_seed: under which it is drawn and scored; by default the run's seed.
        pool_file: a csv of scores made before: `architecture`, and a column for the metric and for `ntk_cond:hnas`; of more
            than `pool` rows so many are drawn. It must be there when the run is resumed too.
        resample: whether the run's seed draws its own pool, with replacement, from that one: many seeds, one pool.
        metric_settings: settings of the space for the metric's networks; by default the run's own.
        kappa_settings: the same for kappa's; the thesis finds narrow ones best: {"channels": 4}.
        form: F, "squared" as in the thesis or "absolute" as in its released code.
        mu: log10 of the least and greatest mu; by default from where the trade-off hardly counts to where nothing else does.
        nu: log10 of the least and greatest nu; by default the range of M^2 in the pool.
        method: "bayes" (the extra `bayes`), or "random" points instead.
        acquisition: "ei", expected improvement, or "ucb", mean and 2.576 deviations.
        probes: points before there is a model.
    """

    name = "hnas"
    summary = "Bayesian optimisation of what selects from a pool: a metric, kappa, and their trade-off"
    source = "Shu 2022, thesis, Algorithm 7.1"
    cost = "metric and kappa of the pool, once; then one evaluation per candidate"
    window = 1
    evaluations = 20
    candidate_name = "evaluations"
    step_name = "pool parts"
    measures = True
    published: ClassVar[Mapping[str, str]] = {
        "metric": "M_Grad, M_SNIP, M_GraSP, M_Trace (Table 7.3)",
        "kappa": "computed; 1 in the ablation (Table 7.5)",
        "pool": "2,000 on NAS-Bench-201 (released code), 60,000 on DARTS (7.6.4)",
        "kappa_settings": "narrow networks are best (Table 7.11)",
        "form": "squared, t = 1 (7.4.2); absolute in the released code",
        "mu": "-4 to 0, on DARTS -4 to 1 (released code)",
        "nu": "nu = (5000 u)^2, on DARTS (100 u)^2, u from 0 to 1 (released code)",
        "method": "bayes (Algorithm 7.1)",
        "acquisition": "ei, on DARTS ucb (released code)",
        "probes": "a quarter: 5 of 20, 6 of 25 (released code)",
    }

    def __init__(
        self,
        problem: Problem,
        *,
        metric: str = "m_trace",
        kappa: bool = True,
        pool: int = 2000,
        pool_seed: int | None = None,
        pool_file: str | None = None,
        resample: bool = False,
        metric_settings: Mapping[str, Any] | None = None,
        kappa_settings: Mapping[str, Any] | None = None,
        form: str = "squared",
        mu: Sequence[float] | None = None,
        nu: Sequence[float] | None = None,
        method: str = "bayes",
        acquisition: str = "ei",
        probes: int = 5,
    ) -> None:
        super().__init__(problem)
        whole("hnas.pool =", pool, most=MOST)
        whole("hnas.probes =", probes, most=MOST)
        for setting, value, known in (
            ("form", form, FORMS),
            ("method", method, METHODS),
            ("acquisition", acquisition, ACQUISITIONS),
        ):
            if value not in known:
                raise UnknownNameError(f"hnas.{setting}", str(value), known)
        for setting, flag in (("kappa", kappa), ("resample", resample)):
            if not isinstance(flag, bool):
                raise InputError(f"hnas.{setting} = {shown(flag)}: expected true or false")
        if method == "bayes":
            need("botorch")  # before anything is spent
        self.form, self.method, self.acquisition, self.probes = form, method, acquisition, probes
        self.mu, self.nu = _range("mu", mu), _range("nu", nu)
        self.pool, self.resample = pool, resample
        self.pool_seed = problem.seed if pool_seed is None else pool_seed
        whole("hnas.pool_seed =", self.pool_seed, -MOST_SEED, most=MOST_SEED)
        self.metric = metric if pool_file is not None else problem.scorer.proxy(metric).full_name
        #: the scores that the pool has, with the settings of their networks that differ from the run's
        self.asked_for = {self.metric: _settings("metric_settings", metric_settings)}
        if kappa:
            self.asked_for[KAPPA] = _settings("kappa_settings", kappa_settings)
        if not isinstance(pool_file, str | None):
            raise InputError(f"hnas.pool_file = {shown(pool_file)}: expected a path")
        self._read: dict[str, list[Any]] | None = None
        if pool_file is not None:
            self._read = taken(problem, pool_file, list(self.asked_for), pool, self.pool_seed)
        for changed in self.asked_for.values():
            problem.scorer.other(changed)  # a setting that does not exist is said now
        self._pool: dict[str, list[Any]] = {TEXTS: [], **{name: [] for name in self.asked_for}}
        self._choices: list[Mapping[str, Any]] = []
        self._values: list[float] = []

    # -- steps: parts of the pool, then a choice before each evaluation -------------------------------------------------
    @property
    def parts(self) -> int:
        """Steps that make the pool."""
        return 1 if self._read else -(-self.pool // PART)

    def steps_before(self, candidate: int) -> int:
        """The whole pool, and one choice for each candidate."""
        return self.parts + candidate + 1

    def step_place(self, number: int) -> tuple[str, int, int]:
        """A part of the pool, or a choice of mu and nu."""
        if number < self.parts:
            return self.step_name, number + 1, self.parts
        return "choices of mu and nu", number - self.parts + 1, self.problem.evaluations

    def step(self, number: int) -> Mapping[str, Any]:
        """Score a part of the pool, or choose mu and nu and by them an architecture."""
        if number >= self.parts:
            return self._choose(number)
        return self._read or self._scored(self._drawn[number * PART : (number + 1) * PART])

    def advance(self, number: int, outcome: Mapping[str, Any]) -> None:
        """The pool grows, or the next architecture is known."""
        if number < self.parts:
            for name, values in self._pool.items():
                values += outcome[name]
        else:
            self._choices.append(outcome)

    # -- the pool -------------------------------------------------------------------------------------------------------
    @cached_property
    def _drawn(self) -> list[Any]:
        return drawn(self.problem, self.pool, self.pool_seed)

    def _scored(self, architectures: Sequence[Any]) -> dict[str, list[Any]]:
        """The metric and kappa of architectures; those of equal networks share their looks."""
        found: dict[str, list[Any]] = {TEXTS: [str(one) for one in architectures]}
        for name, changed in self.asked_for.items():
            alike = [other for other, its in self.asked_for.items() if its == changed]
            if name not in found and architectures:
                scores = self.problem.scores(architectures, alike, self.pool_seed, changed)
                found |= {other: [_finite(one[other].value) for one in scores] for other in alike}
        return {name: found.get(name, []) for name in self._pool}

    @cached_property
    def _members(self) -> dict[str, list[Any]]:
        """The run's own pool: all of it, or what its seed draws with replacement."""
        many = len(self._pool[TEXTS])
        if not self.resample:
            return self._pool
        return part(self._pool, sorted(set(self.problem.stream("resample").choices(range(many), k=many))))

    # -- mu and nu ------------------------------------------------------------------------------------------------------
    @cached_property
    def _bounds(self) -> Bounds:
        metric, kappa = (np.array(self._members.get(name, 1.0), np.float64) for name in (self.metric, KAPPA))
        return Bounds.of(np.abs(metric), kappa, power=FORMS[self.form], epsilon=EPSILON)

    @cached_property
    def _box(self) -> Tensor:
        """Lows and highs of (log10 mu, log10 nu), (2, 2)."""
        box = self._bounds.box(RANGE)
        for column, said in enumerate((self.mu, self.nu)):
            if said is not None:
                box[:, column] = torch.tensor(said, dtype=torch.float64)
        flat = box[0] == box[1]  # a metric that is the same for all
        box[0, flat], box[1, flat] = box[0, flat] - 0.5, box[1, flat] + 0.5
        return box

    def _choose(self, number: int) -> dict[str, Any]:
        """The next (mu, nu), the architecture it selects, and what the model thinks of it and all around."""
        with (
            threads(1),
            random_states_kept(derive(self.problem.seed, "step", number)),
        ):  # a fit may draw from any of them
            model = self._model()
            point = self._point(number, model)
        mu, nu = (10.0**point).tolist()
        bound = self._bounds.at(mu, nu)
        order = np.argsort(np.where(np.isfinite(bound), bound, np.inf), kind="stable")
        taken = {choice["architecture"] for choice in self._choices}
        left = [place for place in order.tolist() if self._members[TEXTS][place] not in taken]
        chosen = left[0] if left else None
        return {
            "point": point.tolist(),
            "box": self._box.tolist(),
            "architecture": None if chosen is None else self._members[TEXTS][chosen],
            "objective": None if chosen is None else plain(bound[chosen]),
            "model": None if model is None else model.seen(self._box, point, self.acquisition, GRID),
        }

    def _model(self) -> Surrogate | None:
        """What the results so far say of all points; None without a model."""
        if self.method != "bayes" or len(self._values) < self.probes:
            return None
        points = torch.tensor([choice["point"] for choice in self._choices], dtype=torch.float64).reshape(-1, 2)
        return surrogate(points[: len(self._values)], self._values, self._box)

    def _point(self, number: int, model: Surrogate | None) -> Tensor:
        """(log10 mu, log10 nu)."""
        low, high = self._box
        place = number - self.parts
        if place < self.probes and self.method == "bayes":
            where = [0.5, place / (self.probes - 1) if self.probes > 1 else 0.5]
        elif model is None:
            rng = self.problem.stream("step", number)
            where = [rng.random(), rng.random()]
        else:
            candidates = spread(self._box, CANDIDATES, derive(self.problem.seed, "mu and nu"))
            return candidates[int(model.gain(candidates, self.acquisition).argmax())]
        point: Tensor = low + (high - low) * torch.tensor(where, dtype=torch.float64)
        return point

    # -- candidates -----------------------------------------------------------------------------------------------------
    def ask(self, count: int = 1) -> list[Proposal]:
        """The architecture that was chosen; none when all of the pool were."""
        text = self._choices[-1]["architecture"]
        proposal = None if text is None else self.gate.admit(self.space.parse(text))
        return [] if proposal is None else [proposal]

    def tell(self, results: Iterable[Result]) -> None:
        """What was found at the last point."""
        self._values += [math.nan if result.merit is None else result.merit for result in results]

    def state(self) -> dict[str, Any]:
        """As the base, with the points tried and what was found there."""
        values = [plain(value) for value in self._values]
        points = [choice["point"] for choice in self._choices]
        return {**super().state(), "pool": len(self._pool[TEXTS]), "points": points, "values": values}


def _range(name: str, said: Sequence[float] | None) -> tuple[float, float] | None:
    """Two finite numbers, the lower first."""
    if said is None:
        return None
    numbers = list(said) if isinstance(said, list | tuple) else []
    fine = [isinstance(one, int | float) and not isinstance(one, bool) and abs(one) <= 300 for one in numbers]
    if len(numbers) != 2 or not all(fine) or not numbers[0] <= numbers[1]:
        raise InputError(f"hnas.{name} = {shown(said)}: expected log10 of the least and the greatest, such as [-4, 0]")
    return float(numbers[0]), float(numbers[1])


def _settings(name: str, said: Mapping[str, Any] | None) -> dict[str, Any]:
    """Settings of a space by name."""
    if said is not None and not isinstance(said, Mapping):
        raise InputError(f'hnas.{name} = {shown(said)}: expected settings of the space, such as {{"channels": 4}}')
    return dict(said or {})


def _finite(value: float | None) -> float | None:
    """The value of a score, where it is a number."""
    return value if value is not None and math.isfinite(value) else None
