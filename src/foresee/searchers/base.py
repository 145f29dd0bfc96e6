"""What a searcher is: it proposes architectures (`ask`) and learns from their scores (`tell`).

The life of a searcher: the search asks for candidates one by one, and tells results in order of their ids. Candidate `k` is
asked for exactly when the results of all candidates up to `k - window` have been told, whatever engine does the scoring; so
a searcher always sees the same sequence of calls. Its random numbers for candidate `k` come from (run seed, k). Nothing else
is remembered: replaying the calls rebuilds the searcher, and that is how a run resumes.

Limits hold by construction: `ask` hands out only architectures that meet them and whose identity is new.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from foresee.budgets import Limits
from foresee.errors import InfeasibleError, InputError
from foresee.registry import Registry
from foresee.seeds import stream
from foresee.spaces.base import Counts, Space
from foresee.task import Task

#: draws for one candidate before the whole space is looked at (or given up, where it cannot be listed)
DRAWS = 2000
#: spaces up to this size are looked at as a whole when draws find nothing
LISTED = 100_000


@dataclass(frozen=True)
class Proposal:
    """A candidate to score. `parent` is the id of the candidate it was made from."""

    id: int
    architecture: Any
    identity: str
    counts: Counts
    parent: int | None = None


@dataclass(frozen=True)
class Result:
    """What became of a proposal: `merit` is its score turned so that more is better, None if it failed."""

    id: int
    architecture: Any
    merit: float | None


class Searcher(ABC):
    """Base of all searchers. A subclass writes `propose`, and `learn` if it learns.

    Its keyword arguments after `seed` are its settings; class attributes describe it for listings.
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    source: ClassVar[str] = ""
    cost: ClassVar[str] = "one score per candidate"

    def __init__(self, space: Space[Any], task: Task, limits: Limits, seed: int) -> None:
        self.space, self.task, self.limits, self.seed = space, task, limits, seed
        self._asked = 0
        self._seen: set[str] = set()
        self._nearest: tuple[float, Any, Counts] | None = None
        self._counts: dict[str, Counts] = {}

    # -- for subclasses -----------------------------------------------------------------------------------------------
    @abstractmethod
    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """Draw an architecture and the id of its parent.

        `attempt` counts the draws for this candidate: a draw is repeated while its architecture is known already or outside
        the limits.
        """

    def learn(self, result: Result) -> None:  # noqa: B027 - not every searcher learns
        """Take one result in; called in order of ids."""

    def state(self) -> dict[str, Any]:
        """What the searcher knows, as plain values: equal states propose equally."""
        return {"asked": self._asked, "seen": sorted(self._seen)}

    # -- for the search -----------------------------------------------------------------------------------------------
    def ask(self, count: int = 1) -> list[Proposal]:
        """Up to `count` proposals; fewer when the space has no new feasible architecture left.

        Raises:
            InfeasibleError: not one architecture met the limits; the message names the nearest miss.
        """
        proposals = []
        for _ in range(count):
            proposal = self._next()
            if proposal is None:
                break
            proposals.append(proposal)
        return proposals

    def tell(self, results: Iterable[Result]) -> None:
        """Results of proposals, in order of ids."""
        for result in results:
            self.learn(result)

    def recall(self, architecture: str, counts: Counts) -> None:
        """What an architecture (by its text) was counted at before: saves counting it again when a run is replayed."""
        self._counts[architecture] = counts

    def _next(self) -> Proposal | None:
        rng = stream(self.seed, "ask", self._asked)
        for attempt in range(self._draws):
            architecture, parent = self.propose(rng, attempt)
            proposal = self._admit(architecture, parent)
            if proposal is not None:
                return proposal
        left = self._all_left()
        if left:
            return self._admit(rng.choice(left), None)
        if not self._seen:
            raise InfeasibleError(self._explain())
        return None

    @property
    def _draws(self) -> int:
        """A small space is sooner listed than drawn from in vain."""
        return min(DRAWS, 50 + 2 * self.space.size) if self._listable and self.space.size else DRAWS

    @property
    def _listable(self) -> bool:
        return self.space.enumerable and (self.space.size or 0) <= LISTED

    def _admit(self, architecture: Any, parent: int | None) -> Proposal | None:
        identity = self.space.canonical(architecture)
        if identity in self._seen or not self._feasible(architecture):
            return None
        self._seen.add(identity)
        proposal = Proposal(self._asked, architecture, identity, self._count(architecture), parent)
        self._asked += 1
        return proposal

    def _feasible(self, architecture: Any) -> bool:
        if not self.limits:
            return True
        counts = self._count(architecture)
        miss = self.limits.miss(counts)
        if miss and (self._nearest is None or miss < self._nearest[0]):
            self._nearest = (miss, architecture, counts)
        return not miss

    def _count(self, architecture: Any) -> Counts:
        text = str(architecture)
        if text not in self._counts:
            self._counts[text] = self.space.counts(architecture, self.task)
        return self._counts[text]

    def _all_left(self) -> list[Any]:
        """Every new feasible architecture, one per identity, where the space can be listed."""
        if not self._listable:
            return []
        left: dict[str, Any] = {}
        for architecture in self.space.enumerate():
            identity = self.space.canonical(architecture)
            if identity not in self._seen and self._feasible(architecture):
                left.setdefault(identity, architecture)
        return list(left.values())

    def _explain(self) -> str:
        looked = f"all {self.space.size or ''} architectures" if self._listable else f"{DRAWS:,} draws"
        if self._nearest is None:
            return f"space {self.space.name}: no architecture found in {looked}"
        _, architecture, counts = self._nearest
        return (
            f"no architecture of {self.space.name} meets {self.limits} (looked at {looked}); the nearest miss is "
            f"{architecture} with {self.limits.explain(counts)}"
        )


searchers: Registry[type[Searcher]] = Registry("searcher", group="foresee.searchers")


def make(
    name: str, space: Space[Any], task: Task, limits: Limits, seed: int, settings: dict[str, Any] | None = None
) -> Searcher:
    """A searcher by name, with its settings."""
    kind = searchers[name]
    try:
        return kind(space, task, limits, seed, **(settings or {}))
    except TypeError as error:
        raise InputError(f"searcher {name}: {str(error).replace('__init__() ', '')}") from error
