"""Evolution by mutation and crossover of the best few."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, ClassVar

from foresee.errors import InputError
from foresee.searchers.base import Result, searchers
from foresee.searchers.evolution.members import Breeder, Generations, Member
from foresee.searchers.problem import Problem


@searchers.register("genetic")
class Genetic(Breeder):
    """Generations of mutations and crossovers of the best so far, as AutoFormer searches.

    The first generation is drawn at random. Then every generation has `mutations` mutated parents, `crossovers` children of
    two parents, and random draws for the rest. Parents are drawn uniformly among the best `parents` of all that were scored.
    How an architecture is mutated and crossed is its space's: `autoformer_*` with `mutation=published` does it as the paper.

    Args:
        population: candidates of a generation.
        parents: how many of the best may be parents.
        mutations: mutated parents in a generation.
        crossovers: children of two parents in a generation.
    """

    name = "genetic"
    summary = "generations of mutations and crossovers of the best few"
    source = "AutoFormer (Chen et al. 2021), evolution search"
    evaluations = 1000
    published: ClassVar[Mapping[str, str]] = {
        "population": "50 (AutoFormer)",
        "parents": "10 (AutoFormer)",
        "mutations": "25 (AutoFormer)",
        "crossovers": "25 (AutoFormer)",
        "evaluations": "20 generations of 50: 1,000 (AutoFormer)",
    }

    def __init__(
        self, problem: Problem, *, population: int = 50, parents: int = 10, mutations: int = 25, crossovers: int = 25
    ) -> None:
        super().__init__(problem)
        self.check(population=population, parents=parents)
        self.check(0, mutations=mutations, crossovers=crossovers)
        if mutations + crossovers > population:
            raise InputError(
                f"genetic.mutations = {mutations} and genetic.crossovers = {crossovers}: together they cannot be more than "
                f"the population of {population}"
            )
        self.population, self.parents, self.mutations, self.crossovers = population, parents, mutations, crossovers
        self.generations = Generations(population, population)
        self._best: list[Member] = []
        self._generation: list[Member] = []

    def told_before(self, candidate: int) -> int:
        """A generation waits for the one before it."""
        return self.generations.begin(self.generations.of(candidate))

    def phase(self, candidate: int) -> str:
        """The generation."""
        return self.generations.words(candidate, self.problem.evaluations)

    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """Mutations first, then crossovers, then random draws."""
        generation = self.generations.of(self.gate.asked)
        place = self.gate.asked - self.generations.begin(generation)
        if not generation or not self._best or place >= self.mutations + self.crossovers or self.lost(attempt):
            return self.space.sample(rng), None
        parent = rng.choice(self._best)
        if place < self.mutations:
            return self.mutated(parent.architecture, rng, attempt), parent.id
        child = self.space.crossover(parent.architecture, rng.choice(self._best).architecture, rng)
        # parents that are alike have no new children: what keeps failing is mutated as well
        return self.mutated(child, rng, attempt, times=0), parent.id

    def learn(self, result: Result) -> None:
        """With the last of a generation, the best of all so far are the next parents."""
        if result.merit is not None:
            self._generation.append(Member(result.merit, result.id, result.architecture))
        if self.generations.ends_with(result.id):
            everyone = sorted([*self._best, *self._generation], key=lambda member: member.rank, reverse=True)
            self._best, self._generation = everyone[: self.parents], []

    def state(self) -> dict[str, Any]:
        """As the base, with the parents to be."""
        return {**super().state(), "best": [(member.merit, member.id) for member in self._best]}
