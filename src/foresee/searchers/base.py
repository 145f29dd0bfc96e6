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

from foresee.budgets import Clock, Costs, Limits
from foresee.errors import InfeasibleError, InputError
from foresee.registry import Registry, check_settings
from foresee.seeds import stream
from foresee.spaces.base import Space
from foresee.task import Task

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
        self._nearest: tuple[float, Any] | None = None
        self._costs: dict[str, Costs] = {}
        self._known: dict[str, dict[str, float]] = {}
        self._drawn = 0
        #: how costs beyond the formulas are found; the search may hand over its own
        self.clock, self.memory_batch = Clock(), 1

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

    def recall(self, architecture: str, costs: dict[str, float]) -> None:
        """What an architecture (by its text) was found to cost before: saves finding it again when a run is replayed."""
        self._known[architecture] = costs

    @property
    def acceptance(self) -> float:
        """Share of the draws that were handed out; the others were known already or outside the limits."""
        return self._asked / self._drawn if self._drawn else 1.0

    def costs(self, architecture: Any) -> Costs:
        """What an architecture costs, each quantity found once."""
        text = str(architecture)
        if text not in self._costs:
            known = dict(self._known.get(text, {}))
            self._costs[text] = Costs(self.space, architecture, self.task, self.memory_batch, self.clock, known)
        return self._costs[text]

    def _next(self) -> Proposal | None:
        rng = stream(self.seed, "ask", self._asked)
        for attempt in range(self._draws):
            architecture, parent = self.propose(rng, attempt)
            proposal = self._admit(architecture, parent)
            if proposal is None and attempt >= PLAIN and self.limits:
                proposal = self._admit(self._walk(architecture, rng), parent)
            if proposal is not None:
                return proposal
        left = self._all_left()
        if left:
            return self._admit(rng.choice(left), None)
        if not self._seen:
            raise InfeasibleError(self._explain())
        return None

    def _walk(self, architecture: Any, rng: random.Random) -> Any:
        """Mutate towards the limits: a step is kept when it does not lead away. Finds feasible points that are rare."""
        miss = self._miss(architecture)
        for _ in range(STEPS):
            if not miss:
                break
            step = self.space.mutate(architecture, rng)
            self._drawn += 1
            there = self._miss(step)
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

    def _admit(self, architecture: Any, parent: int | None) -> Proposal | None:
        self._drawn += 1
        identity = self.space.canonical(architecture)
        if identity in self._seen or self._miss(architecture):
            return None
        self._seen.add(identity)
        proposal = Proposal(self._asked, architecture, identity, self.costs(architecture), parent)
        self._asked += 1
        return proposal

    def _miss(self, architecture: Any) -> float:
        if not self.limits:
            return 0.0
        miss = self.limits.miss(self.costs(architecture))
        if miss and (self._nearest is None or miss < self._nearest[0]):
            self._nearest = (miss, architecture)
        return miss

    def _all_left(self) -> list[Any]:
        """Every new feasible architecture, one per identity, where the space can be listed."""
        if not self._listable:
            return []
        left: dict[str, Any] = {}
        for architecture in self.space.enumerate():
            identity = self.space.canonical(architecture)
            if identity not in self._seen and not self._miss(architecture):
                left.setdefault(identity, architecture)
        return list(left.values())

    def _explain(self) -> str:
        looked = f"all {self.space.size or ''} architectures" if self._listable else f"{self._drawn:,} draws"
        if self._nearest is None:
            return f"space {self.space.name}: no architecture found in {looked}"
        _, architecture = self._nearest
        return (
            f"no architecture of {self.space.name} meets {self.limits} (looked at {looked}); the nearest miss is "
            f"{architecture} with {self.limits.explain(self.costs(architecture))}"
        )


searchers: Registry[type[Searcher]] = Registry("searcher", group="foresee.searchers", home="foresee.searchers")


def make(
    name: str, space: Space[Any], task: Task, limits: Limits, seed: int, settings: dict[str, Any] | None = None
) -> Searcher:
    """A searcher by name, with its settings."""
    kind = searchers[name]
    check_settings(f"searcher {name}", kind, settings or {})
    try:
        return kind(space, task, limits, seed, **(settings or {}))
    except TypeError as error:
        raise InputError(f"searcher {name}: {str(error).replace('__init__() ', '')}") from error
