"""How long the work of a run took: by the clock, without the pauses of a run that was stopped and resumed."""

from __future__ import annotations

from collections.abc import Iterable

from foresee.runs.record import CandidateRow, StepRow

#: more time than this (seconds) without scoring is a pause of the run, not work
PAUSE = 60.0


def working_time(candidates: Iterable[CandidateRow], steps: Iterable[StepRow] = ()) -> dict[int, float]:
    """Seconds of work after which each candidate was finished, by id; with the searcher's own steps, where they are given.

    Wall-clock time from the first start, less the pauses: between two finishes there is the time of scoring (or of a step)
    and little else. Candidates without times are left out.
    """
    done: list[tuple[float, float, float, int | None]] = [
        (c.finished, c.started, c.seconds, c.id) for c in candidates if 0 < c.started <= c.finished
    ]
    done += [(step.time, step.time - step.seconds, step.seconds, None) for step in steps]
    done.sort(key=lambda one: (one[0], -1 if one[3] is None else one[3]))
    before = min((started for _, started, _, _ in done), default=0.0)
    clock: dict[int, float] = {}
    worked = 0.0
    for finished, _, seconds, name in done:
        passed = finished - before
        worked += passed if passed <= seconds + PAUSE else seconds
        before = finished
        if name is not None:
            clock[name] = worked
    return clock
