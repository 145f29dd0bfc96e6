"""What became of a run's candidates, and in which steps the searcher worked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from foresee.quantities import format_seconds
from foresee.runs.record import CandidateRow, Record

#: outcomes of a candidate in the order in which they are shown
OUTCOMES = ("scored", "no score", "failed", "waiting")


@dataclass(frozen=True)
class Problem:
    """One reason why candidates have no score: how many it hit, and the first of them."""

    what: str
    reason: str
    count: int
    ids: tuple[int, ...]


def outcome(candidate: CandidateRow) -> str:
    """One of `OUTCOMES`: a candidate counts as scored only with a finite merit."""
    if candidate.status == "failed":
        return "failed"
    if candidate.merit is not None and math.isfinite(candidate.merit):
        return "scored"
    return "waiting" if candidate.status == "asked" else "no score"


def problems(candidates: Iterable[CandidateRow]) -> tuple[Problem, ...]:
    """Reasons for missing scores, the most frequent first. A proxy that failed beside one that worked is named too."""
    hit: dict[tuple[str, str], list[int]] = {}
    for c in candidates:
        bad = [(f"{row.proxy}: {row.status}", row.reason) for row in c.scores.values() if row.status != "ok"]
        if outcome(c) in ("failed", "no score") and not bad:
            bad.append((outcome(c), c.reason))
        for key in bad:
            hit.setdefault(key, []).append(c.id)
    found = (Problem(what, reason, len(ids), tuple(ids[:5])) for (what, reason), ids in hit.items())
    return tuple(sorted(found, key=lambda p: (-p.count, p.ids)))


def ending(record: Record) -> dict[str, Any]:
    """How the run ended, from its last events: why it failed, and what became of draws that are no candidates.

    `gave_up` says that resuming leads to the same end.
    """
    found: dict[str, Any] = {"reason": "", "gave_up": False, "draws": []}
    for event in record.events:
        if event.kind == "failed" and event.candidate is None and record.status == "failed":
            found["reason"] = str(event.details.get("reason", ""))
            found["gave_up"] = found["reason"].startswith("the search was given up")
        if event.kind == "finished":
            found["draws"] = list(_draws(event.details))
    return found


def _draws(details: Mapping[str, Any]) -> Iterator[str]:
    rejected, passed = details.get("rejected"), details.get("passed_over")
    if isinstance(rejected, float) and rejected > 0:
        yield f"{100 * rejected:.2g} % of all draws were rejected by the space itself; they are no candidates."
    if isinstance(passed, int) and passed:
        why = f", the last because of {details['reason']}" if details.get("reason") else ""
        yield f"{passed:,} draws could not be drawn or counted and were passed over{why}."


def steps_in_words(record: Record) -> str:
    """The steps of a searcher that works in steps: how many, how long, how many of them came first; "" without any."""
    steps = record.steps
    if not steps:
        return ""
    kinds = Counter(step.kind for step in steps)
    seconds = sum(step.seconds for step in steps)
    words = " and ".join(_many(count, kind) for kind, count in kinds.items()) + f" in {format_seconds(seconds)}"
    start = min((c.started for c in record.candidates if c.started > 0), default=None)
    if start is None:
        return words if record.candidates else f"{words}, and no candidate yet"
    first = sum(step.time <= start for step in steps)
    if first == len(steps):
        return f"{words}, {'all ' if first > 1 else ''}before the first candidate"
    return f"{words}, {first or 'none'} of them before the first candidate"


def _many(count: int, word: str) -> str:
    """Searchers name their steps in the plural.

    >>> _many(3, "rounds"), _many(1, "rounds")
    ('3 rounds', '1 round')
    """
    return f"{count} {word.removesuffix('s') if count == 1 else word}"
