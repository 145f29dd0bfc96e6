"""Evolution in generations of one parent, whose mutations grow weaker."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from foresee.searchers.base import Result, searchers
from foresee.searchers.evolution.members import Breeder, Generations, Member
from foresee.searchers.problem import Problem


@searchers.register("batch_evolution")
class BatchEvolution(Breeder):
    """Aging evolution in generations, as NASRec and SiGeo search.

    The first `population` candidates are drawn at random. In every generation the best of `sample` members, drawn without
    replacement, has `children`, and as many of the oldest die. In generation g of G a child is
    (G - g) // max(20, G // 5) + 1 mutations away from the parent, drawn anew until it is new: for G = 240 that falls from 6
    to 1. The history keeps the best two children of each generation, and what the search names best is the best of the
    history. The evaluations say how many generations there are.

    Args:
        population: members alive at once.
        sample: members drawn to find a parent.
        children: candidates of a generation.
    """

    name = "batch_evolution"
    summary = "aging evolution in generations, with mutations that grow weaker"
    source = "NASRec (Zhang et al. 2023); SiGeo, appendix F.3"
    evaluations = 2048
    by_total = "how many mutations a child is away depends on how many generations there will be"
    published: ClassVar[Mapping[str, str]] = {
        "population": "128 (SiGeo, appendix F.3)",
        "sample": "64 (SiGeo, appendix F.3)",
        "children": "8 (SiGeo, appendix F.3)",
        "evaluations": "128 and 240 generations of 8: 2,048 (SiGeo, appendix F.3)",
    }
    #: children of a generation that the history keeps
    kept = 2

    def __init__(self, problem: Problem, *, population: int = 128, sample: int = 64, children: int = 8) -> None:
        super().__init__(problem)
        self.check(population=population, sample=sample, children=children)
        self.check_sample(sample, population)
        self.population, self.sample, self.children = population, sample, children
        self.generations = Generations(population, children)
        self._alive: deque[Member] = deque(maxlen=population)
        self._generation: list[Member] = []
        self._history: list[Member] = []

    def told_before(self, candidate: int) -> int:
        """A generation waits for the one before it."""
        return self.generations.begin(self.generations.of(candidate))

    def phase(self, candidate: int) -> str:
        """The generation."""
        return self.generations.words(candidate, self.problem.evaluations)

    def strength(self, generation: int) -> int:
        """How many mutations the children of a generation, from 1 on, are away from their parent."""
        total = self.generations.many(self.problem.evaluations) - 1
        return (total - (generation - 1)) // max(20, total // 5) + 1

    @cached_property
    def _parent(self) -> Member:
        """The parent of the present generation."""
        rng = self.problem.stream("generation", self.generations.of(self.gate.asked))
        return max(rng.sample(self._alive, min(self.sample, len(self._alive))), key=lambda member: member.rank)

    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """A child of the generation's parent."""
        generation = self.generations.of(self.gate.asked)
        if not generation or not self._alive or self.lost(attempt):
            return self.space.sample(rng), None
        return self.mutated(self._parent.architecture, rng, attempt, self.strength(generation)), self._parent.id

    def learn(self, result: Result) -> None:
        """The newcomer enters and the oldest leaves; with the last of a generation its best join the history."""
        if result.merit is not None:
            member = Member(result.merit, result.id, result.architecture)
            self._alive.append(member)
            if self.generations.of(result.id):
                self._generation.append(member)
        if self.generations.ends_with(result.id):
            self._generation.sort(key=lambda member: member.rank, reverse=True)
            self._history += self._generation[: self.kept]
            self._generation = []
            self.__dict__.pop("_parent", None)

    def chosen(self) -> int | None:
        """The best of the history; where there is none yet, the best of all."""
        return max(self._history, key=lambda member: member.rank).id if self._history else None

    def foremost(self) -> list[int]:
        """The history, best first: of it the published search trains the first fifteen."""
        return [member.id for member in sorted(self._history, key=lambda member: member.rank, reverse=True)]

    def state(self) -> dict[str, Any]:
        """As the base, with the members alive and the history."""
        alive = [(member.merit, member.id) for member in self._alive]
        return {**super().state(), "alive": alive, "history": [member.id for member in self._history]}
