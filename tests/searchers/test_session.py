"""The loop: steps in their place, whole results told, a searcher's mistakes named."""

from __future__ import annotations

import pytest
from tests.searchers.stepping import Stepping

import foresee as fs
from foresee.errors import InputError, RunError
from foresee.runs import Event, Store, engines
from foresee.runs.events import Announcer
from foresee.runs.record import Objective
from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers import Problem, Sampler
from foresee.searchers.base import make
from foresee.searchers.problem import objectives_of
from foresee.searchers.session import Session

SMALL = {"channels": 2, "cells": 1}
LOOK = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "batch_size": 8}


class Listening(Sampler):
    """Random, and keeps what it is told."""

    name = "listening"
    objectives = None

    def __init__(self, problem):
        super().__init__(problem)
        self.heard = []

    def propose(self, rng, attempt):
        return self.space.sample(rng), None

    def learn(self, result):
        self.heard.append(result)


def problem(proxies=("params",), objectives=(), evaluations=6, **look):
    scorer = Scorer("nasbench201", ScoringSettings(proxies=proxies, **{**LOOK, **look}), space_settings=SMALL)
    return Problem(scorer, objectives=objectives_of(objectives, scorer), evaluations=evaluations)


def go(searcher, store=None, window=4):
    events: list[Event] = []
    asked = searcher.problem
    store = store or Store.create(":memory:", kind="search", settings={}, environment={}, objectives=asked.objectives)
    with engines.make("serial", asked.scorer) as engine:
        Session(searcher, store, engine, Announcer([events.append]), window).go()
    return store, events


def test_tell_gets_whole_results():
    searcher = Listening(problem(("naswot", "dextr", "zico"), ("naswot", "params"), repeats=2))
    store, _ = go(searcher)
    rows = store.candidates()
    assert [result.id for result in searcher.heard] == list(range(6))
    for result, row in zip(searcher.heard, rows, strict=True):
        assert set(result.scores) == {"naswot", "dextr", "zico"}
        assert result.costs == row.counts
        assert result.seconds == row.seconds > 0
        if not result.merits:
            assert result.reason == row.reason != ""
            continue
        assert result.values == {"naswot": result.scores["naswot"].value, "params": row.counts["params"]}
        assert result.merits == (result.values["naswot"], -result.values["params"])
        assert result.merit == row.merit == result.merits[0]
    told = [result.scores["dextr"] for result in searcher.heard if result.scores["dextr"].ok]
    assert told
    assert all(score.parts and score.spread is not None and score.repeats == 2 for score in told)


def test_what_is_replayed_is_told_as_it_was(monkeypatch):
    first = Listening(problem(("naswot", "dextr"), repeats=2))
    store, _ = go(first)
    second = Listening(problem(("naswot", "dextr"), repeats=2))
    monkeypatch.setattr(Scorer, "__call__", lambda self, job: pytest.fail("scored again"))
    go(second, store)
    assert second.heard == first.heard


def test_steps_come_where_they_are_due_and_are_announced():
    searcher = Stepping(problem(("naswot",), evaluations=10), pool=8, rounds=2)
    store, events = go(searcher)
    assert searcher.done == [0, 1, 2, 3]
    assert [row.number for row in store.steps()] == [0, 1, 2, 3]
    assert {row.kind for row in store.steps()} == {"rounds"}
    kinds = [(event.kind, event.candidate) for event in events if event.kind in ("step", "asked")]
    assert kinds[:3] == [("step", None), ("step", None), ("asked", 0)]
    assert kinds.index(("asked", 4)) > kinds.index(("asked", 3))
    assert kinds[kinds.index(("asked", 4)) - 1] == ("step", None)
    steps = [event.details for event in events if event.kind == "step"]
    assert [(one["step"], one["steps"], one["name"], one["replayed"]) for one in steps] == [
        (number, 4, "rounds", False) for number in (1, 2, 3, 4)
    ]


def test_stored_steps_are_not_done_again():
    store, _ = go(Stepping(problem(("naswot",)), pool=8, rounds=2))
    again = Stepping(problem(("naswot",)), pool=8, rounds=2)
    _, events = go(again, store)
    assert again.done == []
    assert all(event.details["replayed"] for event in events if event.kind == "step")


def test_a_sequential_searcher_has_a_window_of_its_own():
    class Sequential(Listening):
        window = 1

        def propose(self, rng, attempt):
            assert len(self.heard) == self.gate.asked  # everything so far was told
            return super().propose(rng, attempt)

    go(Sequential(problem()))


def test_a_generation_is_asked_for_when_the_one_before_is_told():
    class Generations(Listening):
        def told_before(self, candidate):
            return candidate - candidate % 3

        def phase(self, candidate):
            return f"generation {candidate // 3}"

        def propose(self, rng, attempt):
            assert len(self.heard) >= self.told_before(self.gate.asked)
            self.seen = [*getattr(self, "seen", []), len(self.heard)]
            return super().propose(rng, attempt)

    searcher = Generations(problem(evaluations=8))
    _, events = go(searcher, window=8)
    assert searcher.seen == [0, 0, 0, 3, 3, 3, 6, 6]
    phases = [event.details["phase"] for event in events if event.kind == "scored"]
    assert phases == [f"generation {candidate // 3}" for candidate in range(8)]


def test_a_searcher_that_waits_for_what_never_comes_is_named():
    class Waiting(Listening):
        def told_before(self, candidate):
            return 5 if candidate == 4 else 0

    with pytest.raises(RunError, match="searcher listening waits for more results before candidate 4 than there are"):
        go(Waiting(problem()))


@pytest.mark.parametrize("parent", [0, 7, -1])
def test_a_parent_that_is_no_earlier_candidate_is_refused(parent):
    class Confused(Listening):
        def propose(self, rng, attempt):
            return self.space.sample(rng), parent

    with pytest.raises(RunError, match=f"searcher listening gave candidate 0 the parent {parent}"):
        go(Confused(problem()))


def test_a_searcher_that_miscounts_is_named():
    class Miscounting(Listening):
        def ask(self, count=1):
            self.gate.asked += 1
            return super().ask(count)

    with pytest.raises(RunError, match="searcher listening proposed candidate 1, expected 0"):
        go(Miscounting(problem()))


def test_several_objectives_are_for_those_who_can():
    asked = problem(("naswot",), ("naswot", "params"))
    with pytest.raises(InputError, match=r"evolution follows 1 objective, not 2 \(naswot, params\).*random"):
        make("evolution", asked)
    assert make("random", asked).problem is asked


def worse(one, other):
    return all(x <= y for x, y in zip(one, other, strict=True))


def test_a_run_says_what_it_followed_and_its_front():
    run = fs.search(
        "nasbench201",
        ["naswot"],
        "random",
        evaluations=12,
        space_settings=SMALL,
        objectives=["naswot", "params"],
        **LOOK,
    )
    assert run.record.objectives == (Objective("naswot", "higher"), Objective("params", "lower"))
    points = {row.id: (row.objectives["naswot"], -row.objectives["params"]) for row in run.record.scored}
    beaten = {a for a, mine in points.items() if any(other != mine and worse(mine, other) for other in points.values())}
    assert {one.details["id"] for one in run.front} == set(points) - beaten
    assert run.best.details["id"] == max(points, key=lambda one: (points[one][0], -one))


def test_measured_values_reach_a_searcher():
    class Reading(Listening):
        name = "reading"

        def propose(self, rng, attempt):
            drawn = [self.space.sample(rng) for _ in range(5)]
            values = self.problem.measured(drawn)
            return drawn[values.index(max(values))], None

    from foresee.searchers.base import searchers

    searchers.names()
    searchers._things["reading"] = Reading
    try:
        run = fs.search(
            "nasbench201", ["params"], "reading", evaluations=4, space_settings=SMALL,
            measured=lambda texts: [float(text.count("nor_conv_3x3")) for text in texts], **LOOK,
        )  # fmt: skip
    finally:
        del searchers._things["reading"]
    assert all("nor_conv_3x3" in row.architecture for row in run.record.candidates)


def test_a_latency_that_cannot_be_stored_ends_the_run():
    def full(identity, seconds):
        raise RunError("the disk is full")

    searcher = Listening(problem(("params",), ("params", "latency")))
    searcher.problem.clock.note = full
    with pytest.raises(RunError, match="the disk is full"):
        go(searcher)
