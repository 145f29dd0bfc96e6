"""Who may come in: an architecture is handed out only if it meets the limits and its identity is new.

Limits hold by construction, for every searcher: a draw that misses is repeated, later also walked towards the limits; where
draws find nothing, a space that can be listed is looked at as a whole. What cannot be drawn, written or (under limits)
counted is passed over: one impossible architecture is no reason to end a run.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from foresee.budgets import Costs
from foresee.errors import ForeseeError, InfeasibleError, RunError, said
from foresee.runs.values import known_as
from foresee.searchers.problem import Problem

#: draws for one candidate before the whole space is looked at (or given up, where it cannot be listed)
DRAWS = 2000
#: draws that fail before the first that does not: then the space (or the searcher) is broken, and that is said
BROKEN = 200
#: after so many draws in vain, each further draw is also walked towards the limits, at most so many steps
PLAIN, STEPS = 30, 200
#: mutations in a row that gave no further neighbour, after which all are taken for found
ENOUGH = 500
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
    """Gives candidates their numbers, and remembers who has come in.

    Args:
        problem: says what may come in.
        stream: random numbers for one use, such as ("ask", 17), the draws for candidate 17; by default the problem's.
    """

    def __init__(self, problem: Problem, stream: Callable[..., random.Random] | None = None) -> None:
        self.problem, self.space, self.limits = problem, problem.space, problem.limits
        self._stream = stream or problem.stream
        self.asked = 0
        self.seen: set[str] = set()
        self._drawn = 0
        self._nearest: tuple[float, Any] | None = None
        #: how often something was passed over because it raised
        self.failures = 0
        self._last: BaseException | None = None
        self._sound = False  # not one draw has succeeded yet
        self._rejected_before = self.space.rejected

    @property
    def acceptance(self) -> float:
        """Share of the draws that were handed out; the others were known already or outside the limits."""
        return self.asked / self._drawn if self._drawn else 1.0

    @property
    def rejected(self) -> float:
        """Share of all draws that the space itself turned down; they are no candidates, and others were drawn for them."""
        turned_down = self.space.rejected - self._rejected_before
        return turned_down / (turned_down + self._drawn) if turned_down else 0.0

    @property
    def reason(self) -> str:
        """Why something was passed over the last time; "" where nothing was."""
        return said(self._last) if self._last else ""

    def admit(self, architecture: Any, parent: int | None = None) -> Proposal | None:
        """The architecture as the next candidate, or None where it is known already, outside the limits, or impossible."""
        self._drawn, self._sound = self._drawn + 1, True
        identity = self._new(architecture)
        if identity is None:
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
        rng = self._stream("ask", self.asked)
        for attempt in range(self._draws):
            try:
                architecture, parent = draw(rng, attempt)
            except (Exception, SystemExit) as error:  # a stranger's space may raise anything
                self._drawn += 1
                self._note(error)
                if not self._sound and self.failures >= BROKEN:
                    raise self._broken(error) from error
                continue
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

    def neighbours(self, architecture: Any, rng: random.Random, most: int) -> dict[str, Any]:
        """Mutations of an architecture that may come in or did so, by identity: `most` of them, or all that draws find."""
        found: dict[str, Any] = {}
        vain = 0
        while len(found) < most and vain < ENOUGH:
            vain += 1
            try:
                neighbour = self.space.mutate(architecture, rng)
            except (Exception, SystemExit) as error:
                self._note(error)
                continue
            identity = self.identity(neighbour)
            if identity is None or identity in found:
                continue
            if identity in self.seen or self._allowed(neighbour):
                found[identity], vain = neighbour, 0
        return found

    def miss(self, architecture: Any) -> float:
        """How far outside the limits an architecture is: 0 when it meets them all, infinitely where that cannot be found."""
        if not self.limits:
            return 0.0
        try:
            miss = self.limits.miss(self.problem.costs(architecture))
        except (Exception, SystemExit) as error:
            self._note(error)
            return math.inf
        if miss and (self._nearest is None or miss < self._nearest[0]):
            self._nearest = (miss, architecture)
        return miss

    def _walk(self, architecture: Any, rng: random.Random) -> Any:
        """Mutate towards the limits: a step is kept when it does not lead away. Finds feasible points that are rare."""
        miss = self.miss(architecture)
        for _ in range(STEPS):
            if not miss:
                break
            self._drawn += 1
            try:
                step = self.space.mutate(architecture, rng)
            except (Exception, SystemExit) as error:
                self._note(error)
                continue
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
        for architecture in self._listed():
            identity = self._new(architecture)
            if identity is not None:
                left.setdefault(identity, architecture)
        return list(left.values())

    def _listed(self) -> Iterator[Any]:
        """The architectures in their order; a listing that fails half-way ends there."""
        try:
            yield from self.space.enumerate()
        except (Exception, SystemExit) as error:
            self._note(error)

    def _new(self, architecture: Any) -> str | None:
        """The identity of an architecture that may come in; None where it is known, outside the limits or impossible."""
        identity = self.identity(architecture)
        known = identity is None or identity in self.seen
        return None if known or not self._allowed(architecture) else identity

    def _allowed(self, architecture: Any) -> bool:
        """Whether it is within the limits; in a search of a table, what the table does not hold cannot come in either."""
        return self.problem.measurable(architecture) and not self.miss(architecture)

    def identity(self, architecture: Any) -> str | None:
        """What decides whether an architecture is new, short enough to be kept; None where that cannot be found."""
        try:
            identity = self.space.canonical(architecture)
            for text in (identity, str(architecture)):
                text.encode()  # the store keeps no half characters
        except (Exception, SystemExit) as error:
            self._note(error)
            return None
        return known_as(identity)

    def _note(self, error: BaseException) -> None:
        """Pass over what raised this; what is wrong with the run itself (a full disk) is no architecture's fault."""
        if isinstance(error, RunError):
            raise error
        self.failures, self._last = self.failures + 1, error

    def _broken(self, error: BaseException) -> ForeseeError:
        """What to say where every draw fails: an error of ours says it itself."""
        return error if isinstance(error, ForeseeError) else InfeasibleError(self._explain())

    def _explain(self) -> str:
        why = f"; {self.failures:,} were passed over, the last: {said(self._last)}" if self._last else ""
        looked = f"all {self.space.size or ''} architectures" if self._listable else f"{self._drawn:,} draws"
        if self._nearest is None:
            return f"space {self.space.name}: no architecture found in {looked}{why}"
        _, architecture = self._nearest
        return (
            f"no architecture of {self.space.name} meets {self.limits} (looked at {looked}); the nearest miss is "
            f"{architecture} with {self.limits.explain(self.problem.costs(architecture))}{why}"
        )
