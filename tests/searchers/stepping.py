"""Searchers for tests: one that works in steps, scored by any proxy, and some that break one promise each."""

from __future__ import annotations

import random

import numpy as np
import torch

from foresee.errors import InputError
from foresee.searchers.base import Result, Sampler, Searcher


class Stepping(Searcher):
    """Prunes a pool in steps: each step scores some of the pool and keeps the better half; then the rest are asked for.

    A second kind of step comes between candidates: one before every fourth.
    """

    name = "stepping"
    step_name = "rounds"

    def __init__(self, problem, *, pool=12, rounds=3):
        super().__init__(problem)
        rng = problem.stream("pool")
        self.pool = [str(problem.space.sample(rng)) for _ in range(pool)]
        self.rounds, self.done, self.told = rounds, [], []

    def steps_before(self, candidate):
        return self.rounds + candidate // 4

    def step(self, number):
        self.done.append(number)
        if number >= self.rounds:
            return {"told": len(self.told), "best": max(self.told, default=None)}
        architectures = [self.space.parse(text) for text in self.pool]
        found = self.problem.scores(architectures, ["naswot", "params"], seed=number)
        merits = [one["naswot"].merit + one["params"].merit for one in found]
        return {"pool": self.pool, "merits": merits}

    def advance(self, number, outcome):
        if "pool" in outcome:
            ranked = sorted(zip(outcome["merits"], outcome["pool"], strict=True), reverse=True)
            self.pool = [text for _, text in ranked[: max(4, len(ranked) // 2)]]
        self.last = outcome

    def ask(self, count=1):
        return [one for _ in range(count) if (one := self.gate.draw(self._draw)) is not None]

    def _draw(self, rng, attempt):
        return self.space.mutate(self.space.parse(rng.choice(self.pool)), rng), None

    def tell(self, results):
        self.told += [result.merit for result in results if result.merit is not None]

    def state(self):
        return {**super().state(), "pool": self.pool, "told": self.told, "last": self.last}


class Careless(Sampler):
    """Draws from Python's global random numbers."""

    name = "careless"

    def propose(self, rng, attempt):
        return self.space.sample(random), None  # type: ignore[arg-type]


class CarelessWithNumpy(Sampler):
    """Draws from numpy's global random numbers, and decides nothing by them."""

    name = "carelesswithnumpy"

    def propose(self, rng, attempt):
        np.random.random()  # noqa: NPY002
        return self.space.sample(rng), None


class CarelessWithTorch(Sampler):
    """Draws from torch's global random numbers, and decides nothing by them."""

    name = "carelesswithtorch"

    def propose(self, rng, attempt):
        torch.rand(1)
        return self.space.sample(rng), None


class Entropic(Sampler):
    """Has random numbers of its own that nobody seeded."""

    name = "entropic"

    def propose(self, rng, attempt):
        return self.space.sample(random.Random()), None


class Orphan(Sampler):
    """Names parents that are not there yet."""

    name = "orphan"

    def propose(self, rng, attempt):
        return self.space.sample(rng), self.gate.asked + 3


class Torn(Stepping):
    """Says that it follows several objectives, and refuses them."""

    name = "torn"
    objectives = None

    def __init__(self, problem, **settings):
        super().__init__(problem, **settings)
        if len(problem.objectives) > 1:
            raise InputError("one objective only")


class Misfit(Sampler):
    """Does not fit the space on which it is tested."""

    name = "misfit"

    @classmethod
    def fits(cls, space):
        return "is too small"

    def propose(self, rng, attempt):
        return self.space.sample(rng), None


class Forgetful(Stepping):
    """Changes itself in `step`, so that a resumed run does not know."""

    def step(self, number):
        outcome = super().step(number)
        self.told.append(float(number))
        return outcome


class Smuggler(Sampler):
    """Goes around the gate: hands out whatever it draws."""

    name = "smuggler"

    def propose(self, rng, attempt):
        return self.space.sample(rng), None

    def ask(self, count=1):
        limits, self.gate.limits = self.gate.limits, type(self.gate.limits)()
        try:
            return super().ask(count)
        finally:
            self.gate.limits = limits


class Hasty(Sampler):
    """Decides by how many results it has seen, in whatever order they come."""

    name = "hasty"

    def __init__(self, problem):
        super().__init__(problem)
        self.seen = []

    def propose(self, rng, attempt):
        return self.space.sample(rng), len(self.seen) if len(self.seen) < self.gate.asked else None

    def learn(self, result: Result):
        self.seen.append(result.seconds)

    def state(self):
        return {**super().state(), "seen": self.seen}


class Fainthearted(Sampler):
    """Stops at the first failure."""

    name = "fainthearted"

    def __init__(self, problem):
        super().__init__(problem)
        self.failed = False

    def propose(self, rng, attempt):
        return self.space.sample(rng), None

    def ask(self, count=1):
        return [] if self.failed else super().ask(count)

    def learn(self, result):
        self.failed |= result.merit is None


class Secretive(Sampler):
    """Its state is not plain."""

    name = "secretive"

    def propose(self, rng, attempt):
        return self.space.sample(rng), None

    def state(self):
        return {"seen": self.gate.seen}


class Silent(Sampler):
    """Finds nothing and says nothing."""

    name = "silent"

    def propose(self, rng, attempt):
        return self.space.sample(rng), None

    def ask(self, count=1):
        try:
            return super().ask(count)
        except Exception:
            return []


class Planner(Sampler):
    """Plans by how many evaluations there will be, and does not say so."""

    name = "planner"

    def steps_before(self, candidate):
        return 1

    def step(self, number):
        return {"half": self.problem.evaluations // 2}

    def advance(self, number, outcome):
        self.half = outcome["half"]

    def propose(self, rng, attempt):
        return self.space.sample(rng), None

    def state(self):
        return {**super().state(), "half": self.half}
