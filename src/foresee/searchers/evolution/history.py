"""Evolution that forgets nobody, and ranks by several proxies at once."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, ClassVar

from foresee.searchers.base import Result, searchers
from foresee.searchers.evolution.members import Breeder
from foresee.searchers.problem import Problem
from foresee.statistics.growing import Foremost


@searchers.register("history_evolution")
class HistoryEvolution(Breeder):
    """Mutate any of the best so far, by ranks over the whole history, as AZ-NAS searches.

    Nobody dies. Among the N candidates so far each has a rank by each objective, 1 for the worst and N for the best; they are
    ordered by the sum over the objectives of log(rank / N), so that being among the last by one objective cannot be made up
    for by the others. Ranks change as the history grows (`statistics.growing` follows them). A parent is drawn uniformly
    among the first `top`; the first candidates are made as in `elitist_evolution`. What the search names best is the first
    in that order, which need not be the best by any single objective.

    Args:
        top: how many of the best may be parents.
        initial: with no more candidates than this, they come from the start.
        mutations: mutations of a child.
    """

    name = "history_evolution"
    summary = "evolution over the whole history, by ranks of several proxies"
    source = "AZ-NAS (Lee & Ham 2024)"
    objectives = None
    published: ClassVar[Mapping[str, str]] = {
        "top": "1,023 (public code of AZ-NAS)",
        "initial": "10 (public code of AZ-NAS)",
        "mutations": "2 replaced blocks (public code of AZ-NAS)",
        "evaluations": "100,000 within the budget (public code of AZ-NAS)",
    }

    def __init__(self, problem: Problem, *, top: int = 1023, initial: int = 10, mutations: int = 2) -> None:
        super().__init__(problem)
        self.check(top=top, mutations=mutations)
        self.check(0, initial=initial)
        self.top, self.initial, self.mutations = top, initial, mutations
        self._ranked = Foremost(top)
        #: the id and the text of each, in the order of the history: what is not kept is read again where it is a parent
        self._history: list[tuple[int, str]] = []

    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """A child of one of the best; at first one of the start."""
        if self.lost(attempt):
            return self.space.sample(rng), None
        if self.gate.asked <= self.initial or not self._history:
            start = self.space.start
            return (self.space.sample(rng) if start is None else self.mutated(start, rng, attempt)), None
        parent, text = self._history[rng.choice(self._ranked.first())]
        return self.mutated(self.space.parse(text), rng, attempt, self.mutations), parent

    def learn(self, result: Result) -> None:
        """One more in the history."""
        if result.merits:
            self._history.append((result.id, str(result.architecture)))
            self._ranked.add(result.merits)

    def chosen(self) -> int | None:
        """The first by all objectives together."""
        return self._history[self._ranked.order()[0]][0] if self._history else None

    def state(self) -> dict[str, Any]:
        """As the base, with the order of the history."""
        return {**super().state(), "ranked": [self._history[place][0] for place in self._ranked.order()]}
