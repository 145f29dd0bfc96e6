"""Local search: climb to the best neighbour until none is better, then begin elsewhere."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, ClassVar

from foresee.checks import whole
from foresee.searchers.base import Result, Sampler, searchers
from foresee.searchers.evolution.members import Member
from foresee.searchers.problem import Problem
from foresee.task import MOST


@searchers.register("local_search")
class LocalSearch(Sampler):
    """Climb hills: score all neighbours, move to the best of them; where none is better, begin at another random place.

    The neighbours of an architecture are its mutations, drawn until many draws in a row have given nothing new. Those that
    were candidates before are not scored again, but the climb can go on from them.

    Args:
        initial: random draws before a climb, which begins at the best of them.
        neighbours: at most so many neighbours of an architecture are looked at.
    """

    name = "local_search"
    summary = "climbs to the best neighbour, and begins elsewhere on a hilltop"
    source = "White et al. 2021, Algorithm 1"
    published: ClassVar[Mapping[str, str]] = {
        "initial": "1 (White et al. 2021, Algorithm 1)",
        "neighbours": "all of them (White et al. 2021, Algorithm 1)",
    }

    def __init__(self, problem: Problem, *, initial: int = 1, neighbours: int = 200) -> None:
        super().__init__(problem)
        for name, value in (("initial", initial), ("neighbours", neighbours)):
            whole(f"local_search.{name} =", value, most=MOST)
        self.initial, self.neighbours = initial, neighbours
        self.climbs = 1
        self._scored: dict[str, Member] = {}
        #: where the climb is, and what is around: by identity, those still to be proposed, and up to which candidate
        self._here: Member | None = None
        self._around: list[str] = []
        self._open: list[Any] = []
        self._until = initial

    def told_before(self, candidate: int) -> int:
        """Neighbours come together; where to go from there is known when all of them are scored."""
        return 0 if candidate < self._until else candidate

    def phase(self, candidate: int) -> str:
        """The climb."""
        return f"climb {self.climbs}"

    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """The next neighbour; a random draw where a climb begins."""
        if self._here is not None and self._open:
            return self._open.pop(0), self._here.id
        return self.space.sample(rng), None

    def learn(self, result: Result) -> None:
        """With the last of those that came together, move on."""
        if result.merit is not None:
            identity = str(self.gate.identity(result.architecture))
            self._scored[identity] = Member(result.merit, result.id, result.architecture)
            if self._here is None:
                self._around.append(identity)
        if result.id + 1 == self._until:
            self._move()

    def _move(self) -> None:
        """To the best around, as long as that is better; a climb ends where nothing is."""
        while True:
            around = [self._scored[one] for one in self._around if one in self._scored]
            best = max(around, key=lambda member: member.rank, default=None)
            if best is None or (self._here is not None and best.merit <= self._here.merit):
                self.climbs += self._here is not None
                self._here, self._around, self._open = None, [], []
                self._until = self.gate.asked + self.initial
                return
            self._here = best
            found = self.gate.neighbours(best.architecture, self.problem.stream("around", best.id), self.neighbours)
            self._around = list(found)
            self._open = [one for identity, one in found.items() if identity not in self.gate.seen]
            self._until = self.gate.asked + len(self._open)
            if self._open:
                return

    def state(self) -> dict[str, Any]:
        """As the base, with the place of the climb and what is open around it."""
        here = None if self._here is None else self._here.id
        return {**super().state(), "here": here, "climbs": self.climbs, "open": [str(one) for one in self._open]}
