from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from foresee.report.info import Measure, Tradeoff, followed, steering, summarise
from foresee.runs.record import CandidateRow, EventRow, Objective, Record, ScoreRow

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


def test_the_record_says_what_was_followed() -> None:
    # The values of a would explain the merit too: what the record says counts, not the values.
    rows = tuple(row(i, merit=float(i), scores={n: score(n, float(i)) for n in "ab"}) for i in range(4))
    record = Record(
        "search", "finished", 0.0, {"proxies": ["a", "b"]}, {}, rows, objectives=(Objective("b", "higher"),)
    )
    assert steering(record) == Measure("b")
    assert summarise(record).others == ("a",)
    lower = replace(record, objectives=(Objective("b", "lower"),), candidates=())
    assert steering(lower) == Measure("b", "lower")


def test_one_objective_is_as_before(make_record: Make, follow: Make) -> None:
    plain = make_record(60, proxies=("dextr", "synflow"), failures=0.0)
    asked = summarise(follow(plain, "dextr", spread=False))
    before = summarise(plain)
    assert [e.id for e in asked.entries] == [e.id for e in before.entries]
    assert (asked.measure, asked.front, asked.others) == (before.measure, (), before.others)
    assert asked.tradeoffs == before.tradeoffs
    assert asked.asked == before.asked


def test_a_cost_can_be_what_is_followed(make_record: Make, follow: Make) -> None:
    info = summarise(follow(make_record(60, proxies=("dextr",)), "params"))
    assert info.measure == Measure("params", "lower", cost=True)
    assert info.best is not None
    assert info.best.value == info.best.counts["params"] == min(e.counts["params"] for e in info.entries)
    assert info.best.spread(info.measure) is None
    assert info.others == ("dextr",)
    assert [t.count for t in info.tradeoffs] == ["macs"]  # not params against params
    assert info.counts == ("macs",)


def test_a_proxy_with_the_name_of_a_cost_is_no_cost() -> None:
    rows = tuple(
        row(i, float(i), scores={"params": score("params", float(i))}, objectives={"params": float(i)}) for i in (1, 2)
    )
    info = summarise(Record("search", "finished", 0.0, {}, {}, rows, objectives=(Objective("params", "higher"),)))
    assert info.measure == Measure("params")
    assert info.others == ()
    assert info.counts == ("params",)


def beaten(one: Tradeoff, number: int, sign: float, way: float) -> bool:
    spot = one.ids.index(number)
    mine = (sign * one.values[spot], way * one.costs[spot])
    others = [(sign * value, way * cost) for value, cost in zip(one.values, one.costs, strict=True)]
    return any(other != mine and other[0] >= mine[0] and other[1] >= mine[1] for other in others)


@pytest.mark.parametrize("names", [("dextr", "params"), ("params", "dextr"), ("dextr", "synflow"), ("macs", "params")])
def test_the_front_of_two_objectives(make_record: Make, follow: Make, names: tuple[str, str]) -> None:
    record = follow(make_record(80, proxies=("dextr", "synflow")), *names)
    info = summarise(record)
    assert [one.name for one in info.objectives] == list(names)
    assert info.front == tuple(c.id for c in record.front)
    assert 0 < len(info.front) < len(info.entries)
    first, *rest = info.tradeoffs
    assert first.count == names[1]
    assert names[1] not in [one.count for one in rest]
    signs = [one.sign for one in info.objectives]
    assert [i for i in first.ids if not beaten(first, i, *signs)] == list(info.front)
    assert set(first.front) <= set(info.front)
    for one in info.entries:
        assert list(one.objectives) == list(names)
        assert one.value == one.objectives[names[0]]


def test_more_objectives_have_a_larger_front(make_record: Make, follow: Make) -> None:
    plain = make_record(80, proxies=("dextr", "synflow"), failures=0.0)
    three = summarise(follow(plain, "dextr", "params", "synflow"))
    assert set(three.tradeoffs[0].front) < set(three.front)
    assert [one.name for one in followed(follow(plain, "dextr", "params"))] == ["dextr", "params"]


def test_values_that_were_drawn_several_times_have_a_spread(make_record: Make, follow: Make) -> None:
    info = summarise(follow(make_record(20, proxies=("dextr", "synflow")), "dextr", "params"))
    assert info.best is not None
    assert info.best.spread(info.measure) == 0.125
    assert info.best.spread(info.objectives[1]) is None
    assert info.best.spread(Measure("unknown")) is None


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
def test_only_a_finite_merit_is_ranked(merit: float | None) -> None:
    info = summarise(Record("search", "finished", 0.0, {}, {}, (row(0, merit=merit), row(1))))
    assert [e.id for e in info.entries] == [1]


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
