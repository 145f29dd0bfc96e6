"""Regularised (aging) evolution."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar

from foresee.searchers.base import Result, searchers
from foresee.searchers.evolution.members import Breeder, Member
from foresee.searchers.pool import Pool
from foresee.searchers.problem import Problem


@searchers.register("evolution")
class Evolution(Breeder):
    """Mutate the best of a few members drawn from a population in which the oldest member dies (Real et al. 2019).

    The first `population` candidates are drawn at random, or with `warmup` are the best of so many draws by a cheap proxy
    (Abdelfattah et al. 2021): that helps where what the run follows is dearer, such as `measured`. From then on a candidate
    is a mutation of the best of `sample` members. Candidates without a score never enter the population.

    Mutation that keeps meeting known or infeasible architectures walks further: after every `patience` draws one more
    mutation is applied in a row, and a candidate is drawn at random when even that finds nothing new.

    Args:
        population: members alive at once.
        sample: members drawn to find a parent.
        replacement: draw them one by one with replacement, so that one may come twice.
        warmup: draws of which the best by a proxy are the first population; 0: none, the first come as they are drawn.
        warmup_proxy: that proxy; by default the first one of the run.
    """

    name = "evolution"
    summary = "aging evolution: mutates the best of a few, the oldest dies"
    source = "Real et al. 2019, Algorithm 1"
    step_name = "warm-up"
    published: ClassVar[Mapping[str, str]] = {
        "population": "100 in Real et al. 2019; 10 in NAS-Bench-201's baseline",
        "sample": "25 in Real et al. 2019; 3 in NAS-Bench-201's baseline",
        "replacement": "true: the drawn element stays in the population (Real et al. 2019, Algorithm 1)",
    }

    def __init__(
        self,
        problem: Problem,
        *,
        population: int = 24,
        sample: int = 6,
        replacement: bool = False,
        warmup: int = 0,
        warmup_proxy: str = "",
    ) -> None:
        super().__init__(problem)
        self.check(population=population, sample=sample)
        self.check(0, warmup=warmup)
        self.check_sample(sample, population)
        self.population, self.sample, self.replacement = population, sample, replacement
        self._pool = Pool(problem, warmup, warmup_proxy) if warmup else None
        self._first: list[Any] = []
        self._alive: deque[Member] = deque(maxlen=population)

    # -- the warm-up --------------------------------------------------------------------------------------------------
    def steps_before(self, candidate: int) -> int:
        """The pool is scored before the first candidate."""
        return self._pool.steps if self._pool else 0

    def step(self, number: int) -> Mapping[str, Any]:
        """Draw and score some of the pool."""
        assert self._pool
        return self._pool.step(number)

    def advance(self, number: int, outcome: Mapping[str, Any]) -> None:
        """Add them to the pool; its best are the first population."""
        assert self._pool
        self._pool.advance(outcome)
        if number == self._pool.steps - 1:
            self._first = self._pool.ranked[: self.population]

    # -- the evolution ------------------------------------------------------------------------------------------------
    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """A mutation of a good member; while the population is young the next of the pool, or a random draw."""
        if self.gate.asked + attempt < len(self._first):
            return self._first[self.gate.asked + attempt], None
        if self.gate.asked < self.population or not self._alive or self.lost(attempt):
            return self.space.sample(rng), None
        many = min(self.sample, len(self._alive))
        drawn = rng.choices(self._alive, k=many) if self.replacement else rng.sample(self._alive, many)
        parent = max(drawn, key=lambda member: member.rank)
        return self.mutated(parent.architecture, rng, attempt), parent.id

    def learn(self, result: Result) -> None:
        """The newcomer enters; the oldest leaves when there are too many."""
        if result.merit is not None:
            self._alive.append(Member(result.merit, result.id, result.architecture))

    def state(self) -> dict[str, Any]:
        """As the base, with the members alive."""
        return {**super().state(), "alive": [(member.merit, member.id) for member in self._alive]}
