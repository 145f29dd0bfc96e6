"""The finals at the end of a search: the best few are scored again under fresh seeds: other weights, other data.

Each fresh score is stored as it comes, so a search that is killed in its finals goes on there. What the seeds are depends on
the run's own and on their number alone: every finalist sees the same ones, now, in an extended run and under any engine.
`runs.finals` ranks what was found.
"""

from __future__ import annotations

from foresee.errors import storable
from foresee.runs.finals import KIND, fresh
from foresee.runs.record import CandidateRow
from foresee.scoring.desk import Answer
from foresee.searchers.problem import MEASURED, Problem
from foresee.searchers.session import Session
from foresee.searchers.settings import SearchSettings
from foresee.seeds import derive


def hold_finals(session: Session, settings: SearchSettings) -> None:
    """Score the finalists under every seed under which that was not done yet."""
    store, problem = session.store, session.problem
    if settings.finalists == 0 or why_none(problem):
        return
    chosen = store.best(settings.finalists)
    known = fresh([(event.candidate, event.details) for event in store.events(KIND)])
    pairs = [(row, number) for number in range(settings.finalist_seeds) for row in chosen]
    open_ones = {ticket: pair for ticket, pair in enumerate(pairs) if (pair[0].id, pair[1]) not in known}
    proxy = problem.objectives[0].name
    for ticket, (row, number) in open_ones.items():
        session.desk.submit(ticket, row.architecture, (proxy,), seed_of(problem.seed, number))
    for done in range(len(pairs) - len(open_ones), len(pairs)):
        answer = session.desk.wait()
        _store(session, *open_ones[answer.ticket], answer)
        details = {"step": done + 1, "steps": len(pairs), "name": "finals", "replayed": False}
        session.announce(session.event(KIND, open_ones[answer.ticket][0].id, **details))


def why_none(problem: Problem) -> str:
    """Why a run of this problem has no finals; "" where it has."""
    if len(problem.objectives) > 1:
        return "with several objectives no single candidate is first"
    first = problem.objectives[0]
    if first.name == MEASURED or problem.is_cost(first):
        return f"{first.name} is the same under every seed"
    return ""


def seed_of(seed: int, number: int) -> int:
    """The seed of this number for the finals of a run with that seed; short enough to be typed."""
    return derive(seed, "finals", number) % 2**31


def _store(session: Session, row: CandidateRow, number: int, answer: Answer) -> None:
    scored = answer.scored
    score = scored.scores[0] if scored.scores else None
    reason = (scored.error or "no score") if score is None else "" if score.ok else f"{score.status} ({score.reason})"
    value = None if score is None or reason else score.value
    details = {"number": number, "seed": seed_of(session.problem.seed, number), "value": value}
    session.store.log(KIND, row.id, **details, reason=storable(reason), seconds=scored.seconds)
