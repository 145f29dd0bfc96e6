"""What a searcher is: it proposes architectures (`ask`) and learns from what became of them (`tell`).

The life of a searcher: it is made for a problem. The search asks for candidates, and tells results in order of their ids.
Candidate `k` is asked for exactly when the results of all candidates up to `k - window` have been told, whatever engine does
the scoring; so a searcher always sees the same sequence of calls. Its random numbers for candidate `k` come from (run seed,
k). Nothing else is remembered: replaying the calls rebuilds the searcher, and that is how a run resumes.

A searcher that is not a list of candidates (gradient search, pruning, a pool that is scored first) works in *steps*: before
candidate `k` is asked for, `steps_before(k)` of them are done. `step(number)` does one and returns what it gave as plain
values; the search stores that and hands it to `advance`. In a resumed run stored steps are only advanced, never done again,
so all that a step changes in the searcher belongs into `advance`.

Limits hold by construction: the gate hands out only architectures that meet them and whose identity is new.
"""

from __future__ import annotations

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from foresee.errors import InputError, UnsupportedError
from foresee.proxies.base import Score
from foresee.registry import Registry, check_settings
from foresee.searchers.gate import Gate, Proposal
from foresee.searchers.problem import Problem
from foresee.spaces.base import Space, spaces


@dataclass(frozen=True)
class Result:
    """What became of a proposal: every score with its parts and status, every cost that could be found, how long it took.

    `values` are those of the problem's objectives, by name, as measured; `merits` the same turned so that more is better, in
    the order of the objectives, empty where the candidate failed (for the `reason`). Seconds may differ from run to run: a
    searcher that decides by them does not resume exactly.
    """

    id: int
    architecture: Any
    merits: tuple[float, ...] = ()
    values: Mapping[str, float] = field(default_factory=dict)
    scores: Mapping[str, Score] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    seconds: float = 0.0

    @property
    def merit(self) -> float | None:
        """The merit by the first objective; None if it failed."""
        return self.merits[0] if self.merits else None


class Searcher(ABC):
    """Base of all searchers: made as `Searcher(problem, **settings)`; its keyword-only arguments are its settings.

    Most propose one architecture at a time: see `Sampler`. Class attributes describe a searcher for listings, say how many
    objectives it can follow (None: any number), and how far ahead of the results it may be asked (None: as the run says).
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    source: ClassVar[str] = ""
    cost: ClassVar[str] = "one score per candidate"
    objectives: ClassVar[int | None] = 1
    window: ClassVar[int | None] = None
    #: how many candidates it proposes where nobody says otherwise (None: `EVALUATIONS`), and what they are called
    evaluations: ClassVar[int | None] = None
    candidate_name: ClassVar[str] = "candidates"
    #: by setting, the value of the paper and where it stands
    published: ClassVar[Mapping[str, str]] = {}
    #: what in it depends on how many evaluations were asked for: a run that has this cannot be given more of them
    by_total: ClassVar[str] = ""
    #: what its steps are called where they are shown
    step_name: ClassVar[str] = "steps"
    #: whether it follows measured values where there are some and nobody says otherwise
    measures: ClassVar[bool] = False

    def __init__(self, problem: Problem) -> None:
        self.problem, self.space = problem, problem.space
        self.gate = Gate(problem)

    @classmethod
    def fits(cls, space: type[Space[Any]]) -> str:
        """Why it cannot search spaces of this kind, in words that follow their name; "" where it can."""
        return ""

    @abstractmethod
    def ask(self, count: int = 1) -> list[Proposal]:
        """Up to `count` proposals, admitted by the gate; fewer when there is nothing new and feasible left."""

    def tell(self, results: Iterable[Result]) -> None:  # noqa: B027 - not every searcher learns
        """Results of proposals, in order of ids."""

    def state(self) -> dict[str, Any]:
        """What the searcher knows, as plain values: equal states propose equally. Of all identities seen, a digest."""
        seen = hashlib.blake2b(
            "\n".join(sorted(self.gate.seen)).encode("utf-8", "surrogatepass"), digest_size=16
        ).hexdigest()
        return {"asked": self.gate.asked, "seen": seen}

    def told_before(self, candidate: int) -> int:
        """How many results must have been told before this candidate is asked for, whatever the window allows.

        A generation waits for the whole of the one before it. The answer may depend on what was told so far; never more
        than `candidate`.
        """
        return 0

    def phase(self, candidate: int) -> str:
        """What this candidate is a part of, in the algorithm's own words ("generation 3 of 20"); "" where of nothing."""
        return ""

    def chosen(self) -> int | None:
        """The candidate that the algorithm itself would name the best, where that is not the one of the greatest merit."""
        return None

    def foremost(self) -> Sequence[int]:
        """Whom the algorithm itself would train, best first, where these are not those of the greatest merit."""
        return ()

    # -- steps --------------------------------------------------------------------------------------------------------
    def steps_before(self, candidate: int) -> int:
        """How many steps are to be done before this candidate is asked for; never fewer than for the one before."""
        return 0

    def step_place(self, number: int) -> tuple[str, int, int]:
        """Where a step is shown: under which name, the how-manyth of how many. One whose steps are of two kinds says so."""
        return self.step_name, number + 1, self.steps_before(self.problem.evaluations - 1)

    def step(self, number: int) -> Mapping[str, Any]:
        """Do one step and return what it gave: plain values. Its random numbers come from (run seed, "step", number)."""
        raise NotImplementedError(f"searcher {self.name} has no steps")

    def advance(self, number: int, outcome: Mapping[str, Any]) -> None:  # noqa: B027
        """Take in what a step gave, just done or stored by an earlier session."""


class Sampler(Searcher):
    """A searcher that draws one architecture at a time. A subclass writes `propose`, and `learn` if it learns."""

    @abstractmethod
    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """Draw an architecture and the id of its parent.

        `attempt` counts the draws for this candidate: a draw is repeated while its architecture is known already or outside
        the limits.
        """

    def learn(self, result: Result) -> None:
        """Take one result in; called in order of ids."""

    def ask(self, count: int = 1) -> list[Proposal]:
        """Draw until the gate lets one in, `count` times.

        Raises:
            InfeasibleError: not one architecture met the limits; the message names the nearest miss.
        """
        proposals = []
        for _ in range(count):
            proposal = self.gate.draw(self.propose)
            if proposal is None:
                break
            proposals.append(proposal)
        return proposals

    def tell(self, results: Iterable[Result]) -> None:
        """One after the other."""
        for result in results:
            self.learn(result)


#: candidates of a search where neither the person nor the searcher says how many
EVALUATIONS = 100

searchers: Registry[type[Searcher]] = Registry("searcher", group="foresee.searchers", home="foresee.searchers")


def usual_evaluations(name: str) -> int:
    """How many candidates a searcher proposes where nobody says otherwise."""
    return (searchers[name].evaluations if name in searchers else None) or EVALUATIONS


def make(name: str, problem: Problem, settings: Mapping[str, Any] | None = None) -> Searcher:
    """A searcher by name, with its settings."""
    kind = searchers[name]
    check_settings(f"searcher {name}", kind, settings or {})
    if why := kind.fits(type(problem.space)):
        able = [other for other in spaces if not kind.fits(spaces[other])]
        raise UnsupportedError(f"searcher {name}: {problem.space.name} {why}; it searches {', '.join(able) or 'none'}")
    if kind.objectives is not None and len(problem.objectives) > kind.objectives:
        asked = ", ".join(one.name for one in problem.objectives)
        able = [other for other in searchers if searchers[other].objectives is None]
        raise InputError(
            f"searcher {name} follows {kind.objectives} objective, not {len(problem.objectives)} ({asked}); "
            f"several are followed by {', '.join(able)}"
        )
    try:
        return kind(problem, **(settings or {}))
    except TypeError as error:
        raise InputError(f"searcher {name}: {str(error).replace('__init__() ', '')}") from error
