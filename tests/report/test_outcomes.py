from __future__ import annotations

import math
from dataclasses import replace

import pytest

from foresee.report.outcomes import outcome, problems, steps_in_words
from foresee.runs.record import CandidateRow, Record, ScoreRow, StepRow


def row(number: int, merit: float | None = 1.0, **changes: object) -> CandidateRow:
    plain = CandidateRow(
        number, f"arch{number}", f"arch{number}", None, "scored", "", merit, {"params": 10 + number}, 1, 1.0, 0.0, 0.0
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def score(name: str, value: float | None, direction: str = "higher", status: str = "ok") -> ScoreRow:
    return ScoreRow(name, value, status, "" if value is not None else "why", direction, 0.1, 0, 0)


@pytest.mark.parametrize("merit", [None, math.nan, math.inf, -math.inf])
def test_only_a_finite_merit_is_a_score(merit: float | None) -> None:
    assert outcome(row(0, merit=merit)) == "no score"
    assert outcome(row(0, merit=merit, status="failed")) == "failed"
    assert outcome(row(0, merit=merit, status="asked")) == "waiting"
    assert outcome(row(0)) == "scored"


def test_reasons_are_counted_once_for_each_candidate_and_cause() -> None:
    bad = score("dextr", None, status="nan")
    rows = [
        row(0, None, status="failed", reason="dextr: nan (why)", scores={"dextr": bad}),
        row(1, None, status="failed", reason="the worker died"),
        row(2, None, status="failed", reason="the worker died"),
        row(3, 1.0, scores={"dextr": score("dextr", 1.0), "zico": score("zico", None, status="unsupported")}),
        row(4, None, reason="strange"),
    ]
    found = [(p.what, p.reason, p.count, p.ids) for p in problems(rows)]
    assert found == [
        ("failed", "the worker died", 2, (1, 2)),
        ("dextr: nan", "why", 1, (0,)),
        ("zico: unsupported", "why", 1, (3,)),
        ("no score", "strange", 1, (4,)),
    ]


def test_only_the_first_candidates_of_a_reason_are_named() -> None:
    [problem] = problems([row(i, None, status="failed", reason="x") for i in range(9)])
    assert (problem.count, problem.ids) == (9, (0, 1, 2, 3, 4))


def stepped(times: list[float], *starts: float, kind: str = "rounds") -> Record:
    steps = tuple(StepRow(i, kind, {}, 0.5, time) for i, time in enumerate(times))
    rows = tuple(row(i, started=start) for i, start in enumerate(starts))
    return Record("search", "finished", 0.0, {}, {}, rows, steps=steps)


def test_steps_in_words() -> None:
    assert steps_in_words(stepped([])) == ""
    assert (
        steps_in_words(stepped([1.0, 2.0, 7.0], 6.0, 5.0)) == "3 rounds in 1.5 s, 2 of them before the first candidate"
    )
    assert steps_in_words(stepped([7.0, 8.0], 5.0)) == "2 rounds in 1.0 s, none of them before the first candidate"
    assert steps_in_words(stepped([1.0, 2.0], 5.0)) == "2 rounds in 1.0 s, all before the first candidate"
    assert steps_in_words(stepped([1.0], 5.0)) == "1 round in 500 ms, before the first candidate"
    assert steps_in_words(stepped([1.0, 2.0])) == "2 rounds in 1.0 s, and no candidate yet"
    assert steps_in_words(stepped([1.0, 2.0], 0.0)) == "2 rounds in 1.0 s"  # a candidate without times


def test_steps_of_several_kinds_are_told_apart() -> None:
    record = stepped([1.0, 2.0, 3.0], 2.5)
    mixed = replace(record, steps=(replace(record.steps[0], kind="warm-ups"), *record.steps[1:]))
    assert steps_in_words(mixed) == "1 warm-up and 2 rounds in 1.5 s, 2 of them before the first candidate"
