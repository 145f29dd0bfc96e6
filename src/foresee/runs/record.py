"""What a run remembers, as plain values: the form in which everything above reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ScoreRow:
    """One proxy's result for one candidate, as stored. `status` is "ok" exactly when there is a value."""

    proxy: str
    value: float | None
    status: str
    reason: str
    direction: str
    seconds: float
    peak_bytes: int
    seed: int


@dataclass(frozen=True)
class CandidateRow:
    """One candidate, as stored.

    `status` is "asked" (proposed, not scored yet), "scored", or "failed" (with the reason). `merit` is what the searcher
    is told: more is better, None where there is none. `counts` holds what the network costs: params, macs, and whatever
    else was limited.
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
    scores: Mapping[str, ScoreRow] = field(default_factory=dict)


@dataclass(frozen=True)
class EventRow:
    """Something that happened: when (seconds since the epoch), what kind, to which candidate, and plain details."""

    time: float
    kind: str
    candidate: int | None
    details: Mapping[str, Any]


@dataclass(frozen=True)
class Record:
    """A whole run. `status` is "running", "finished" or "interrupted"; candidates come in order of their id.

    `settings` are the run's own (space, searcher, proxies, limits, seed, ...); `environment` says where it ran (versions,
    device, data fingerprint).
    """

    kind: str
    status: str
    created: float
    settings: Mapping[str, Any]
    environment: Mapping[str, Any]
    candidates: tuple[CandidateRow, ...] = ()
    events: tuple[EventRow, ...] = ()
    title: str = ""

    @property
    def scored(self) -> tuple[CandidateRow, ...]:
        """Candidates that have a merit, best first; the earlier one wins a tie."""
        return tuple(sorted((c for c in self.candidates if c.merit is not None), key=lambda c: (-_merit(c), c.id)))

    @property
    def best(self) -> CandidateRow | None:
        """The candidate with the greatest merit."""
        return next(iter(self.scored), None)


def _merit(candidate: CandidateRow) -> float:
    assert candidate.merit is not None
    return candidate.merit
