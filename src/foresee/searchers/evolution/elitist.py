"""Elitist evolution: the worst leave, however young."""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping
from typing import Any, ClassVar

from foresee.searchers.base import Result, searchers
from foresee.searchers.evolution.members import Breeder, Member
from foresee.searchers.problem import Problem


@searchers.register("elitist_evolution")
class ElitistEvolution(Breeder):
    """Mutate any member of a population in which the worst member dies, as ZenNAS and ZiCo search.

    The first candidates, until there are more than `initial`, are single mutations of the network that published searches of
    the space begin with (`space.start`), or random draws where a space names none. From then on a candidate is `mutations`
    mutations away from a parent drawn uniformly. With more than `population` members the one of the lowest merit leaves.

    Where the papers count what is outside the budget among their iterations, here only candidates within it count.

    Args:
        population: members alive at once.
        initial: with no more members than this, candidates come from the start.
        mutations: mutations of a child.
    """

    name = "elitist_evolution"
    summary = "elitist evolution: mutates any member, the worst dies"
    source = "ZenNAS (Lin et al. 2021), Algorithm 1; ZiCo (Li et al. 2023)"
    published: ClassVar[Mapping[str, str]] = {
        "population": "512 (ZenNAS and ZiCo)",
        "initial": "10 (public code of ZenNAS and ZiCo)",
        "mutations": "2 replaced blocks (public code of ZenNAS and ZiCo)",
        "evaluations": "480,000 iterations (ZenNAS), 100,000 (ZiCo); those outside the budget included",
    }

    def __init__(self, problem: Problem, *, population: int = 512, initial: int = 10, mutations: int = 2) -> None:
        super().__init__(problem)
        self.check(population=population, mutations=mutations)
        self.check(0, initial=initial)
        self.population, self.initial, self.mutations = population, initial, mutations
        self._members: list[tuple[tuple[float, int], Member]] = []  # a heap: the worst first

    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """A child of any member; at first one of the start."""
        if self.lost(attempt):
            return self.space.sample(rng), None
        if self.gate.asked <= self.initial or not self._members:
            start = self.space.start
            return (self.space.sample(rng) if start is None else self.mutated(start, rng, attempt)), None
        _, parent = self._members[rng.randrange(len(self._members))]
        return self.mutated(parent.architecture, rng, attempt, self.mutations), parent.id

    def learn(self, result: Result) -> None:
        """The newcomer enters; the worst leaves when there are too many, of equals the youngest."""
        if result.merit is None:
            return
        member = Member(result.merit, result.id, result.architecture)
        heapq.heappush(self._members, (member.rank, member))
        if len(self._members) > self.population:
            heapq.heappop(self._members)

    def state(self) -> dict[str, Any]:
        """As the base, with the members alive."""
        return {**super().state(), "alive": [(member.merit, member.id) for _, member in self._members]}
