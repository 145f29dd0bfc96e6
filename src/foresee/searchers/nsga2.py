"""NSGA-II: a population that spreads along the front of several objectives."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from foresee.errors import InputError
from foresee.searchers.base import Result, searchers
from foresee.searchers.evolution.members import Breeder, Generations
from foresee.searchers.problem import Problem
from foresee.statistics import crowding, successive_fronts


@dataclass(frozen=True)
class Placed:
    """A member with its place: the number of its front, 0 the best, and how far it is from its neighbours there."""

    result: Result
    front: int
    distance: float

    @property
    def rank(self) -> tuple[int, float, int]:
        """Less is better: by the front, then by the distance, of equals the older one (Deb et al. 2002, Section III-C)."""
        return self.front, -self.distance, self.result.id


@searchers.register("nsga2")
class NSGA2(Breeder):
    """Follow several objectives at once: proxies, costs, or both (NSGA-II, Deb et al. 2002).

    The first generation is drawn at random. A child comes from two parents, each the better of two members drawn at random:
    the one on the better front, and on equal fronts the one further from its neighbours. With probability `crossover` it has
    something of both, otherwise it is the first of them; then it is mutated with probability `mutation`. When a generation is
    scored, it and the population are sorted into fronts, and the best `population` of both survive; of the front that does
    not fit as a whole the loneliest do.

    Limits are kept by construction, so there is no rule for what violates them. Genes here are the choices of a space, so the
    paper's operators on real numbers are the space's own: `crossover` and `mutate`.

    Args:
        population: members, and children of a generation.
        crossover: probability that a child is made from both parents.
        mutation: probability that a child is mutated in one choice.
    """

    name = "nsga2"
    summary = "NSGA-II: a population along the front of several objectives"
    source = "Deb et al. 2002 (NSGA-II), Sections III-A to III-C"
    objectives = None
    published: ClassVar[Mapping[str, str]] = {
        "population": "100 (Deb et al. 2002, Section V)",
        "crossover": "0.9 (Deb et al. 2002, Section V)",
        "mutation": "1 / number of variables for each (Deb et al. 2002, Section V): one mutation expected",
        "evaluations": "25,000 (Deb et al. 2002, Section V)",
    }

    def __init__(
        self, problem: Problem, *, population: int = 40, crossover: float = 0.9, mutation: float = 1.0
    ) -> None:
        super().__init__(problem)
        self.check(population=population)
        for name, value in (("crossover", crossover), ("mutation", mutation)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise InputError(f"nsga2.{name} = {value!r}: expected a probability from 0 to 1")
        self.population, self.crossover, self.mutation = population, crossover, mutation
        self.generations = Generations(population, population)
        self._members: list[Placed] = []
        self._children: list[Result] = []

    def told_before(self, candidate: int) -> int:
        """A generation waits for the one before it."""
        return self.generations.begin(self.generations.of(candidate))

    def phase(self, candidate: int) -> str:
        """The generation."""
        return self.generations.words(candidate, self.problem.evaluations)

    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """A child of two parents that won their tournaments."""
        if not self._members or self.lost(attempt):
            return self.space.sample(rng), None
        first, second = self._winner(rng), self._winner(rng)
        child = first.architecture
        if rng.random() < self.crossover:
            child = self.space.crossover(child, second.architecture, rng)
        # what is as a parent is no candidate: from the second draw on a child is mutated whatever the probability
        mutations = 1 if attempt or rng.random() < self.mutation else 0
        return self.mutated(child, rng, attempt, mutations), first.id

    def _winner(self, rng: random.Random) -> Result:
        """The better of two."""
        drawn = rng.sample(self._members, min(2, len(self._members)))
        return min(drawn, key=lambda member: member.rank).result

    def learn(self, result: Result) -> None:
        """With the last of a generation, the best of it and of the population survive."""
        if result.merits:
            self._children.append(result)
        if self.generations.ends_with(result.id):
            everyone = [*(member.result for member in self._members), *self._children]
            self._members, self._children = survivors(everyone, self.population), []

    def state(self) -> dict[str, Any]:
        """As the base, with the members and their fronts."""
        return {**super().state(), "members": [(member.result.id, member.front) for member in self._members]}


def survivors(results: Sequence[Result], many: int) -> list[Placed]:
    """The best so many, by front and within the last one by distance, each with its place."""
    if not results:
        return []
    points = np.array([result.merits for result in results])
    found: list[Placed] = []
    for number, places in enumerate(successive_fronts(points)):
        distances = crowding(points[places]).tolist()
        front = [Placed(results[at], number, far) for at, far in zip(places, distances, strict=True)]
        found += sorted(front, key=lambda member: member.rank)[: many - len(found)]
        if len(found) == many:
            break
    return found
