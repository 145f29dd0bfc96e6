"""How long the work of a run took."""

from __future__ import annotations

from dataclasses import replace

from foresee.runs.record import CandidateRow, StepRow
from foresee.runs.working import working_time


def row(number: int, **changes: object) -> CandidateRow:
    plain = CandidateRow(number, "a", "a", None, "scored", "", 1.0, {}, 1, 1.0, 0.0, 0.0)
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_pauses_of_a_resumed_run_are_not_work() -> None:
    rows = [
        row(0, started=1000.0, finished=1002.0, seconds=2.0),
        row(1, started=1000.0, finished=1004.0, seconds=2.0),
        # asked before the run was stopped, scored a day later
        row(2, started=1000.0, finished=90_000.0, seconds=3.0),
        row(3, started=90_000.0, finished=90_002.0, seconds=2.0),
        row(4, status="asked", started=90_000.0, finished=0.0),
    ]
    assert working_time(rows) == {0: 2.0, 1: 4.0, 2: 7.0, 3: 9.0}


def test_workers_side_by_side_share_the_clock() -> None:
    rows = [row(0, started=10.0, finished=15.0, seconds=5.0), row(1, started=10.0, finished=16.0, seconds=6.0)]
    assert working_time(rows) == {0: 5.0, 1: 6.0}


def test_steps_before_a_candidate_are_work_too() -> None:
    steps = [StepRow(0, "rounds", {}, 30.0, 1030.0), StepRow(1, "rounds", {}, 200.0, 99_000.0)]  # a day later
    rows = [
        row(0, started=1030.0, finished=1032.0, seconds=2.0),
        row(1, started=99_000.0, finished=99_001.0, seconds=1.0),
    ]
    assert working_time(rows, steps) == {0: 32.0, 1: 233.0}
    assert working_time(rows[:1]) == {0: 2.0}
