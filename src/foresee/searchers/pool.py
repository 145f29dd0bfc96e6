"""A pool of architectures to choose from: drawn once from the space, within the limits, nobody twice."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

from foresee.searchers.gate import Gate
from foresee.searchers.problem import Problem
from foresee.seeds import stream

#: members that one step scores
AT_ONCE = 50


def drawn(problem: Problem, many: int, seed: int) -> list[Any]:
    """So many architectures of the problem's space under a seed; fewer where the space has no more that are feasible.

    They depend on the space, the limits and the seed alone, so one pool can be made once and used by many runs; a longer
    pool begins with a shorter one.

    >>> from foresee.scoring import Scorer, ScoringSettings
    >>> problem = Problem(Scorer("nasbench201", ScoringSettings(proxies=("params",))))
    >>> drawn(problem, 5, seed=1)[:3] == drawn(problem, 3, seed=1)
    True
    """
    gate = Gate(problem, partial(stream, seed, "pool"))
    found: list[Any] = []
    while len(found) < many:
        proposal = gate.draw(lambda rng, attempt: (problem.space.sample(rng), None))
        if proposal is None:
            break
        found.append(proposal.architecture)
    return found


class Pool:
    """A pool with its merits by one proxy, scored in steps, so that a run can be stopped in the middle of it.

    Args:
        problem: whose space, limits and seed.
        size: how many are drawn; fewer where the space has no more.
        proxy: what they are scored by; by default the first proxy of the run.
    """

    def __init__(self, problem: Problem, size: int, proxy: str = "") -> None:
        self.problem, self.size = problem, size
        self.proxy = problem.scorer.proxy(proxy or problem.scorer.settings.proxies[0]).full_name
        self.members: list[Any] = []
        self.merits: list[float | None] = []

    @property
    def steps(self) -> int:
        """How many steps score all of it."""
        return -(-self.size // AT_ONCE)

    @cached_property
    def _drawn(self) -> list[Any]:
        return drawn(self.problem, self.size, self.problem.seed)

    def step(self, number: int) -> dict[str, Any]:
        """Score some of it; what comes of that as plain values."""
        some = self._drawn[number * AT_ONCE : (number + 1) * AT_ONCE]
        found = [one[self.proxy] for one in self.problem.scores(some, [self.proxy])] if some else []
        merits = [score.merit if score.ok else None for score in found]
        return {"architectures": [str(one) for one in some], "merits": merits}

    def advance(self, outcome: Mapping[str, Any]) -> None:
        """Take in what a step gave."""
        self.members += [self.problem.space.parse(text) for text in outcome["architectures"]]
        self.merits += outcome["merits"]

    @property
    def ranked(self) -> list[Any]:
        """The members, best first; the earlier of equals first, and those without a score last."""
        order = sorted(
            range(len(self.members)),
            key=lambda place: (self.merits[place] is None, -(self.merits[place] or 0.0), place),
        )
        return [self.members[place] for place in order]
