"""One run of a contest: what the searcher would have picked had it been stopped after each evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from foresee.runs.record import CandidateRow, Record
from foresee.runs.working import working_time


@dataclass(frozen=True)
class Pick:
    """The best so far, by what the searcher follows: from so many evaluations and seconds of work on.

    `judged` is its number in the judged column, as the table has it; None where the table does not hold it.
    """

    evaluations: int
    seconds: float
    architecture: str
    judged: float | None


@dataclass(frozen=True)
class Trial:
    """One searcher under one seed. `reason` says why it was given up, where it was."""

    label: str
    seed: int
    picks: tuple[Pick, ...]
    evaluations: int
    seconds: float
    reason: str = ""

    @property
    def pick(self) -> Pick | None:
        """What it ends with; None where not one candidate could be scored."""
        return self.picks[-1] if self.picks else None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        picks = [[one.evaluations, one.seconds, one.architecture, one.judged] for one in self.picks]
        return {
            "searcher": self.label,
            "seed": self.seed,
            "evaluations": self.evaluations,
            "seconds": self.seconds,
            "reason": self.reason,
            "picks": picks,
        }


def trial_of(
    label: str,
    seed: int,
    record: Record,
    most: int,
    judge: Callable[[Sequence[str]], Sequence[float | None]],
    reason: str = "",
) -> Trial:
    """What a run did with its first `most` evaluations, judged.

    A run that was made for more is looked at as if it had been stopped there: a search sees its results in order, so its
    first candidates are those of the shorter run.
    """
    rows = [row for row in record.candidates if row.id < most and row.status != "asked"]
    finished = working_time(rows, record.steps)
    # results are told in order: a candidate counts when all before it are there
    clock = list(accumulate((finished.get(row.id, 0.0) for row in rows), max))
    best: CandidateRow | None = None
    found: list[tuple[CandidateRow, int]] = []  # who was best so far, and after which of the rows
    for place, row in enumerate(rows):
        if row.merit is not None and (best is None or best.merit is None or row.merit > best.merit):
            best = row
            found.append((row, place))
    last = record.best  # a searcher may choose another than the one of the greatest merit, when it is done
    if found and last is not None and len(record.candidates) <= most and last.id != found[-1][0].id:
        found.append((last, len(rows) - 1))
    values = judge([row.architecture for row, _ in found])
    picks = [
        Pick(rows[place].id + 1, clock[place], row.architecture, value)
        for (row, place), value in zip(found, values, strict=True)
    ]
    return Trial(label, seed, tuple(picks), len(rows), clock[-1] if clock else 0.0, reason)
