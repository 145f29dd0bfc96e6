"""Who may come in: an architecture is handed out only if it meets the limits and its identity is new.

Limits hold by construction, for every searcher: a draw that misses is repeated, later also walked towards the limits; where
draws find nothing, a space that can be listed is looked at as a whole.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from foresee.budgets import Costs
from foresee.errors import InfeasibleError
from foresee.searchers.problem import Problem

#: draws for one candidate before the whole space is looked at (or given up, where it cannot be listed)
DRAWS = 2000
#: after so many draws in vain, each further draw is also walked towards the limits, at most so many steps
PLAIN, STEPS = 30, 200
#: spaces up to this size are looked at as a whole when draws find nothing
LISTED = 100_000


@dataclass(frozen=True)
class Proposal:
    """A candidate to score. `parent` is the id of the candidate it was made from."""

    id: int
    architecture: Any
    identity: str
    costs: Costs
    parent: int | None = None


#: draws an architecture and the id of its parent; counts its own attempts
Draw = Callable[[random.Random, int], tuple[Any, int | None]]


class Gate:
    """Gives candidates their numbers, and remembers who has come in."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.space, self.limits = problem, problem.space, problem.limits
        self.asked = 0
        self.seen: set[str] = set()
        self._drawn = 0
        self._nearest: tuple[float, Any] | None = None

    @property
    def acceptance(self) -> float:
        """Share of the draws that were handed out; the others were known already or outside the limits."""
        return self.asked / self._drawn if self._drawn else 1.0

    def admit(self, architecture: Any, parent: int | None = None) -> Proposal | None:
        """The architecture as the next candidate, or None where it is known already or outside the limits."""
        self._drawn += 1
        identity = self.space.canonical(architecture)
        if identity in self.seen or self.miss(architecture):
            return None
        self.seen.add(identity)
        proposal = Proposal(self.asked, architecture, identity, self.problem.costs(architecture), parent)
        self.asked += 1
        return proposal

    def draw(self, draw: Draw) -> Proposal | None:
        """The next candidate by a searcher's draws, or None when the space has no new feasible architecture left.

        Raises:
            InfeasibleError: not one architecture met the limits; the message names the nearest miss.
        """
        rng = self.problem.stream("ask", self.asked)
        for attempt in range(self._draws):
            architecture, parent = draw(rng, attempt)
            proposal = self.admit(architecture, parent)
            if proposal is None and attempt >= PLAIN and self.limits:
                proposal = self.admit(self._walk(architecture, rng), parent)
            if proposal is not None:
                return proposal
        left = self._all_left()
        if left:
            return self.admit(rng.choice(left), None)
        if not self.seen:
            raise InfeasibleError(self._explain())
        return None

    def miss(self, architecture: Any) -> float:
        """How far outside the limits an architecture is; 0 when it meets them all."""
        if not self.limits:
            return 0.0
        miss = self.limits.miss(self.problem.costs(architecture))
        if miss and (self._nearest is None or miss < self._nearest[0]):
            self._nearest = (miss, architecture)
        return miss

    def _walk(self, architecture: Any, rng: random.Random) -> Any:
        """Mutate towards the limits: a step is kept when it does not lead away. Finds feasible points that are rare."""
        miss = self.miss(architecture)
        for _ in range(STEPS):
            if not miss:
                break
            step = self.space.mutate(architecture, rng)
            self._drawn += 1
            there = self.miss(step)
            if there <= miss:
                architecture, miss = step, there
        return architecture

    @property
    def _draws(self) -> int:
        """A small space is sooner listed than drawn from in vain."""
        return min(DRAWS, 50 + 2 * self.space.size) if self._listable and self.space.size else DRAWS

    @property
    def _listable(self) -> bool:
        return self.space.enumerable and (self.space.size or 0) <= LISTED

    def _all_left(self) -> list[Any]:
        """Every new feasible architecture, one per identity, where the space can be listed."""
        if not self._listable:
            return []
        left: dict[str, Any] = {}
        for architecture in self.space.enumerate():
            identity = self.space.canonical(architecture)
            if identity not in self.seen and not self.miss(architecture):
                left.setdefault(identity, architecture)
        return list(left.values())

    def _explain(self) -> str:
        looked = f"all {self.space.size or ''} architectures" if self._listable else f"{self._drawn:,} draws"
        if self._nearest is None:
            return f"space {self.space.name}: no architecture found in {looked}"
        _, architecture = self._nearest
        return (
            f"no architecture of {self.space.name} meets {self.limits} (looked at {looked}); the nearest miss is "
            f"{architecture} with {self.limits.explain(self.problem.costs(architecture))}"
        )
