"""A pool of architectures to choose from: drawn once from the space, within the limits, nobody twice."""

from __future__ import annotations

from functools import partial
from typing import Any

from foresee.searchers.gate import Gate
from foresee.searchers.problem import Problem
from foresee.seeds import stream


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
