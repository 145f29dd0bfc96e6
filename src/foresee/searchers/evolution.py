"""Regularised (aging) evolution."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from foresee.checks import whole
from foresee.errors import InputError
from foresee.searchers.base import Result, Sampler, searchers
from foresee.searchers.problem import Problem
from foresee.task import MOST


@searchers.register("evolution")
class Evolution(Sampler):
    """Mutate the best of a few members drawn from a population in which the oldest member dies (Real et al. 2019).

    The first `population` candidates are drawn at random. From then on a candidate is a mutation of the best of `sample`
    members drawn without replacement. Candidates without a score never enter the population.

    Mutation that keeps meeting known or infeasible architectures walks further: after every `patience` draws one more
    mutation is applied in a row, and a candidate is drawn at random when even that finds nothing new.

    Args:
        population: members alive at once.
        sample: members drawn to find a parent.
    """

    name = "evolution"
    summary = "aging evolution: mutates the best of a few, the oldest dies"
    source = "Real et al. 2019, Algorithm 1"
    patience = 20

    def __init__(self, problem: Problem, *, population: int = 24, sample: int = 6) -> None:
        super().__init__(problem)
        whole("evolution.population =", population, most=MOST)
        whole("evolution.sample =", sample, most=MOST)
        if sample > population:
            raise InputError(f"evolution.sample = {sample}: cannot be more than the population of {population}")
        self.population, self.sample = population, sample
        self._alive: deque[tuple[float, int, Any]] = deque(maxlen=population)

    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """A mutation of a good member, or a random draw while the population is young."""
        steps = 1 + attempt // self.patience
        if self.gate.asked < self.population or not self._alive or steps > 8:
            return self.space.sample(rng), None
        drawn = rng.sample(range(len(self._alive)), min(self.sample, len(self._alive)))
        _, parent, architecture = max(
            (self._alive[index] for index in drawn), key=lambda member: (member[0], -member[1])
        )
        for _ in range(steps):
            architecture = self.space.mutate(architecture, rng)
        return architecture, parent

    def learn(self, result: Result) -> None:
        """The newcomer enters; the oldest leaves when there are too many."""
        if result.merit is not None:
            self._alive.append((result.merit, result.id, result.architecture))

    def state(self) -> dict[str, Any]:
        """As the base, with the members alive."""
        return {**super().state(), "alive": [(merit, candidate) for merit, candidate, _ in self._alive]}
