from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from foresee.report.info import Measure, outcome, problems, steering, summarise, working_time
from foresee.runs.record import CandidateRow, EventRow, Record, ScoreRow

Make = Callable[..., Record]


def row(number: int, merit: float | None = 1.0, **changes: object) -> CandidateRow:
    plain = CandidateRow(
        number, f"arch{number}", f"arch{number}", None, "scored", "", merit, {"params": 10 + number}, 1, 1.0, 0.0, 0.0
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def score(name: str, value: float | None, direction: str = "higher", status: str = "ok") -> ScoreRow:
    return ScoreRow(name, value, status, "" if value is not None else "why", direction, 0.1, 0, 0)


def test_a_whole_run(make_record: Make) -> None:
    record = make_record(200)
    info = summarise(record)
    scored = [c for c in record.candidates if c.merit is not None]
    assert [e.id for e in info.entries] == [c.id for c in record.scored]
    assert info.best is not None
    assert record.best is not None
    assert info.best.architecture == record.best.architecture
    assert [e.rank for e in info.entries] == list(range(1, len(scored) + 1))
    assert info.outcomes == {"scored": len(scored), "failed": 200 - len(scored)}
    assert info.wanted == 200
    assert info.measure == Measure("dextr")
    assert info.others == ()


def test_best_so_far_never_falls_and_ends_at_the_best(make_record: Make) -> None:
    for direction in ("higher", "lower"):
        info = summarise(make_record(80, direction=direction))
        assert info.best is not None
        for progress in (info.by_candidate, info.by_seconds):
            line = [info.measure.sign * value for _, value in progress.best]
            assert line == sorted(line)
            assert progress.best[-1] == (progress.times[-1], info.best.value)
            slow = [max(info.measure.sign * v for v in progress.values[: i + 1]) for i in range(len(progress.values))]
            assert [slow[i] for i in progress.improved] == sorted(set(slow))


def test_a_proxy_where_less_is_better_is_shown_with_its_own_value(make_record: Make) -> None:
    info = summarise(make_record(40, direction="lower"))
    assert info.measure.direction == "lower"
    assert info.best is not None
    assert info.best.value == min(e.value for e in info.entries) == -info.best.merit


def test_the_steering_proxy_is_found_by_its_values() -> None:
    rows = tuple(
        row(i, merit=-float(i), scores={"a": score("a", 5.0 + i), "b": score("b", float(i), "lower")}) for i in range(4)
    )
    record = Record("search", "finished", 0.0, {"proxies": ["a", "b"]}, {}, rows)
    assert steering(record) == Measure("b", "lower")
    assert summarise(record).others == ("a",)


def test_a_merit_of_several_proxies_is_called_merit() -> None:
    rows = tuple(row(i, merit=float(i), scores={n: score(n, 7.0 - i) for n in "ab"}) for i in range(4))
    record = Record("search", "finished", 0.0, {"proxies": ["a", "b"]}, {}, rows)
    assert steering(record) == Measure("merit", combined=True)
    assert summarise(record).others == ("a", "b")


def test_fronts_and_limits(make_record: Make) -> None:
    info = summarise(make_record(100, limit=400_000))
    params, macs = info.tradeoffs
    assert (params.count, macs.count) == ("params", "macs")
    assert (params.least, params.most, macs.most) == (None, 400_000.0, None)
    assert max(params.costs) <= 400_000
    by_id = {e.id: e for e in info.entries}
    for one in params.front:
        mine = by_id[one]
        assert not any(e.counts["params"] <= mine.counts["params"] and e.merit > mine.merit for e in info.entries)
    assert info.best is not None
    assert info.best.id == params.front[-1]


def test_candidates_without_counts_have_no_tradeoff() -> None:
    record = Record("search", "finished", 0.0, {}, {}, (row(0, counts={}), row(1, counts={})))
    assert summarise(record).tradeoffs == ()


@pytest.mark.parametrize("merit", [None, math.nan, math.inf, -math.inf])
def test_only_a_finite_merit_is_a_score(merit: float | None) -> None:
    assert outcome(row(0, merit=merit)) == "no score"
    assert outcome(row(0, merit=merit, status="failed")) == "failed"
    assert outcome(row(0, merit=merit, status="asked")) == "waiting"
    info = summarise(Record("search", "finished", 0.0, {}, {}, (row(0, merit=merit), row(1))))
    assert [e.id for e in info.entries] == [1]


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


def test_without_clock_times_the_scoring_times_are_summed() -> None:
    info = summarise(Record("search", "finished", 0.0, {}, {}, (row(0), row(1, 2.0))))
    assert info.by_seconds.times == (1.0, 2.0)
    assert info.seconds == 0.0


def test_an_empty_record_has_nothing_and_says_so() -> None:
    info = summarise(Record("search", "running", 0.0, {}, {}))
    assert info.best is None
    assert (info.total, info.outcomes, info.problems, info.tradeoffs) == (0, {}, (), ())
    assert info.by_candidate.best == ()


def test_an_exhausted_space_is_told() -> None:
    record = Record("search", "finished", 0.0, {}, {}, (row(0),), (EventRow(0.0, "exhausted", None, {}),))
    assert summarise(record).exhausted
