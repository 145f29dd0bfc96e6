"""What a run remembers, as plain values: the form in which everything above reads it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from foresee.errors import InputError
from foresee.runs.finals import KIND, Finals, finals, fresh
from foresee.statistics import filled, front, knee

#: the event of a searcher that names its best candidate itself
CHOSEN = "chosen"
#: in its details, whom the searcher would train, best first
FOREMOST = "foremost"


@dataclass(frozen=True)
class Objective:
    """What a run seeks: a number by name, and whether "higher" or "lower" is better."""

    name: str
    direction: str

    def __post_init__(self) -> None:
        if self.direction not in ("higher", "lower"):
            raise InputError(f"objective {self.name}: direction {self.direction!r}, expected 'higher' or 'lower'")

    def merit(self, value: float) -> float:
        """The value turned so that more is better."""
        return value if self.direction == "higher" else -value


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One proxy's result for one candidate, as stored. `status` is "ok" exactly when there is a value.

    `spread` is the standard deviation over `repeats` draws; `parts` are the numbers the value was made from, by name.
    """

    proxy: str
    value: float | None
    status: str
    reason: str
    direction: str
    seconds: float
    peak_bytes: int
    seed: int
    repeats: int = 1
    spread: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate, as stored.

    `status` is "asked" (proposed, not scored yet), "scored", or "failed" (with the reason). `merit` is what the searcher
    is told: more is better, None where there is none. `counts` holds what the network costs: params, macs, and whatever
    else was limited. `objectives` holds what the run seeks, by name, as measured (not turned); nothing where it failed.
    """

    id: int
    architecture: str
    identity: str
    parent: int | None
    status: str
    reason: str
    merit: float | None
    counts: Mapping[str, float]
    attempts: int
    seconds: float
    started: float
    finished: float
    objectives: Mapping[str, float] = field(default_factory=dict)
    scores: Mapping[str, ScoreRow] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventRow:
    """Something that happened: when (seconds since the epoch), what kind, to which candidate, and plain details."""

    time: float
    kind: str
    candidate: int | None
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step of a searcher that works in steps (gradient search, pruning, a pool scored first): its number from 0 on,
    what kind of step it was, what came out as plain values, how long it took and when it was done.
    """

    number: int
    kind: str
    outcome: Mapping[str, Any]
    seconds: float
    time: float


@dataclass(frozen=True, repr=False)
class Record:
    """A whole run. `status` is "running", "finished" or "interrupted"; candidates come in order of their id.

    `settings` are the run's own (space, searcher, proxies, limits, seed, ...); `environment` says where it ran (versions,
    device, data fingerprint); `objectives` say what it seeks.
    """

    kind: str
    status: str
    created: float
    settings: Mapping[str, Any]
    environment: Mapping[str, Any]
    candidates: tuple[CandidateRow, ...] = ()
    events: tuple[EventRow, ...] = ()
    title: str = ""
    objectives: tuple[Objective, ...] = ()
    steps: tuple[StepRow, ...] = ()

    def __repr__(self) -> str:
        return f"<Record of a {self.kind}, {self.status}: {len(self.candidates)} candidates, {len(self.events)} events>"

    @cached_property
    def scored(self) -> tuple[CandidateRow, ...]:
        """Candidates that have a merit, best first; the earlier one wins a tie."""
        return tuple(sorted((c for c in self.candidates if c.merit is not None), key=lambda c: (-_merit(c), c.id)))

    @property
    def best(self) -> CandidateRow | None:
        """The finalist ranked first; where there were no finals, whom the searcher chose or who has the greatest merit."""
        first = self.finals.ranked[0].candidate if self.finals else self.chosen
        return next((c for c in self.scored if first in (None, c.id)), None)

    @property
    def chosen(self) -> int | None:
        """The candidate that the searcher itself names best; None where it leaves that to the merit, or is not done."""
        last = next((event for event in reversed(self.events) if event.kind in (CHOSEN, "resumed")), None)
        there = {c.id for c in self.candidates if c.merit is not None}
        return last.candidate if last is not None and last.kind == CHOSEN and last.candidate in there else None

    @property
    def foremost(self) -> tuple[int, ...]:
        """The candidates that the searcher itself would train, best first, where it says so."""
        last = next((event for event in reversed(self.events) if event.kind in (CHOSEN, "resumed")), None)
        return tuple(map(int, last.details.get(FOREMOST, ()))) if last is not None and last.kind == CHOSEN else ()

    @cached_property
    def finals(self) -> Finals | None:
        """The best few under fresh seeds; None where that was not asked for, or is not done yet."""
        asked, seeds = self.settings.get("finalists"), self.settings.get("finalist_seeds")
        events = [(event.candidate, event.details) for event in self.events if event.kind == KIND]
        if not events or not isinstance(asked, int) or not isinstance(seeds, int) or len(self.objectives) != 1:
            return None
        chosen = [c.id for c in self.scored[: max(0, asked)]]
        return finals(chosen, seeds, fresh(events), self.objectives[0].merit(1.0))

    @property
    def front(self) -> tuple[CandidateRow, ...]:
        """Candidates that no other beats (as good in every objective and better in one), in order of their id.

        For one objective these are the best ones; where the run names no objective, its merit is the one. A candidate that
        lacks an objective, or is NaN in one, is left out.
        """
        there, points = self._points
        return tuple(sorted((there[place] for place in front(points)), key=lambda c: c.id))

    @property
    def knee(self) -> CandidateRow | None:
        """The candidate at the knee of the front (see `statistics.knee`); None where nothing has a value."""
        there, points = self._points
        return there[knee(points)] if there and all(map(math.isfinite, itertools.chain(*points))) else None

    @property
    def filled(self) -> tuple[tuple[int, float], ...]:
        """By candidate, how much of the box of all values the front so far fills (see `statistics.filled`)."""
        there, points = self._points
        if not all(map(math.isfinite, itertools.chain(*points))):
            return ()
        return tuple((c.id, share) for c, share in zip(there, filled(points).tolist(), strict=True))

    @cached_property
    def _points(self) -> tuple[list[CandidateRow], list[list[float]]]:
        """The candidates that have every objective, and their values turned so that more is better."""
        if self.objectives:
            rows = [
                (c, [one.merit(c.objectives.get(one.name, math.nan)) for one in self.objectives])
                for c in self.candidates
            ]
        else:
            rows = [(c, [_merit(c)]) for c in sorted(self.scored, key=lambda c: c.id)]
        there = [(c, point) for c, point in rows if not any(map(math.isnan, point))]
        return [c for c, _ in there], [point for _, point in there]


def _merit(candidate: CandidateRow) -> float:
    assert candidate.merit is not None
    return candidate.merit
