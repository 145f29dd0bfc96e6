"""The best of many by a cheap proxy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from foresee.checks import whole
from foresee.errors import InputError
from foresee.searchers.base import Searcher, searchers
from foresee.searchers.gate import Proposal
from foresee.searchers.pool import Pool
from foresee.searchers.problem import Problem
from foresee.task import MOST


@searchers.register("best_of")
class BestOf(Searcher):
    """Draw `pool` architectures at random, score all of them by one proxy, and propose the best.

    So only the best few are ever evaluated where the run follows something dearer, such as `measured`; with one evaluation
    it is the training-free search of NASWOT. The pool is scored in steps.

    Args:
        pool: how many are drawn.
        proxy: what they are scored by; by default the first proxy of the run.
    """

    name = "best_of"
    summary = "scores many random draws by a cheap proxy and proposes the best"
    source = "NASWOT (Mellor et al. 2021), Algorithm 1"
    cost = "one score per member of the pool and per candidate"
    evaluations = 10
    step_name = "pool"
    published: ClassVar[Mapping[str, str]] = {"pool": "10, 100 and 1,000 (Mellor et al. 2021)"}

    def __init__(self, problem: Problem, *, pool: int = 1000, proxy: str = "") -> None:
        super().__init__(problem)
        whole("best_of.pool =", pool, most=MOST)
        if pool < problem.evaluations:
            raise InputError(
                f"best_of.pool = {pool}: {problem.evaluations} evaluations want a pool of at least as many"
            )
        self._pool = Pool(problem, pool, proxy)
        self._ranked: list[Any] = []

    def steps_before(self, candidate: int) -> int:
        """The pool is scored before the first candidate."""
        return self._pool.steps

    def step(self, number: int) -> Mapping[str, Any]:
        """Draw and score some of the pool."""
        return self._pool.step(number)

    def advance(self, number: int, outcome: Mapping[str, Any]) -> None:
        """Add them to the pool."""
        self._pool.advance(outcome)
        if number == self._pool.steps - 1:
            self._ranked = self._pool.ranked[::-1]

    def ask(self, count: int = 1) -> list[Proposal]:
        """The next best."""
        proposals: list[Proposal] = []
        while self._ranked and len(proposals) < count:
            proposal = self.gate.admit(self._ranked.pop())
            if proposal is not None:
                proposals.append(proposal)
        return proposals
