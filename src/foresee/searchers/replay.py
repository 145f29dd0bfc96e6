"""What is stored of a run that goes on: met again in order of ids, and read block by block, so that memory does not grow."""

from __future__ import annotations

from collections.abc import Iterator

from foresee.errors import RunError
from foresee.runs.record import CandidateRow
from foresee.runs.store import Store
from foresee.searchers.problem import Problem

#: rows that are read at once; two blocks are in hand
BLOCK = 1000


class Replay:
    """The candidates that were stored when a session began; whoever asks goes from the first to the last.

    `kept` of them are scored or failed, the rest were asked for only; `last` is the greatest id, -1 where there is none.
    """

    def __init__(self, store: Store, problem: Problem) -> None:
        self._store, self._problem = store, problem
        self.kept, self.last = store.numbers()
        self._blocks: dict[int, dict[int, CandidateRow]] = {}

    def check(self) -> None:
        """What is to be replayed can be a part of this run."""
        for row in self._all():
            missing = [one.name for one in self._problem.objectives if one.name not in row.objectives]
            wrong = "there is no place for it" if row.id >= self._problem.evaluations else ""
            if row.status == "scored" and missing:
                wrong = f"it is scored, and has no {', '.join(missing)}"
            if wrong:
                raise RunError(f"{self._store.path} is damaged: candidate {row.id}: {wrong}; start a new run")

    def _all(self) -> Iterator[CandidateRow]:
        for first in range(0, self.last + 1, BLOCK):
            yield from self._store.candidates(first, min(first + BLOCK, self.last + 1))

    def get(self, candidate: int) -> CandidateRow | None:
        """A candidate as it was stored, or None. What it cost is known to the problem from here on."""
        if candidate > self.last:
            return None
        number = candidate // BLOCK
        if number not in self._blocks:
            first = number * BLOCK
            rows = self._store.candidates(first, min(first + BLOCK, self.last + 1))
            before = {number - 1: self._blocks[number - 1]} if number - 1 in self._blocks else {}
            self._blocks = {**before, number: {row.id: row for row in rows}}
            self._problem.recall(
                {
                    row.architecture: {name: float(value) for name, value in row.counts.items()}
                    for block in self._blocks.values()
                    for row in block.values()
                }
            )
        return self._blocks[number].get(candidate)
