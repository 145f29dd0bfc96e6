"""The gate passes over what cannot be drawn, written or counted, and says so where nothing else is left."""

from __future__ import annotations

import random

import pytest
from tests.searchers.impossible import Impossible, Listed

from foresee.budgets import Limits
from foresee.errors import InfeasibleError, RunError, UnsupportedError
from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers import Problem
from foresee.searchers.gate import Gate

LOOK = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "batch_size": 4}


def gate(space, **limits):
    scorer = Scorer(space, ScoringSettings(proxies=("params",), **LOOK))
    return Gate(Problem(scorer, Limits.from_json(limits)))


def drawn(made, count):
    def draw(rng: random.Random, attempt: int):
        return made.space.sample(rng), None

    return [made.draw(draw) for _ in range(count)]


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (Impossible, "sample"),
        *((kind, one) for kind in (Impossible, Listed) for one in ("text", "surrogate", "canonical")),
    ],
)
def test_what_cannot_be_drawn_or_written_is_passed_over(kind, fault):
    made = gate(kind(fault=fault, widths=9))
    widths = {one.architecture.width for one in drawn(made, 6)}
    assert widths == {1, 2, 4, 5, 7, 8}
    assert drawn(made, 1) == [None]
    assert made.failures > 0


@pytest.mark.parametrize("kind", [Impossible, Listed])
@pytest.mark.parametrize("fault", ["counts", "nan", "negative"])
def test_under_limits_what_cannot_be_counted_is_passed_over(kind, fault):
    made = gate(kind(fault=fault, widths=9), params={"max": 7})
    assert {one.architecture.width for one in drawn(made, 5)} == {1, 2, 4, 5, 7}
    assert drawn(made, 1) == [None]


@pytest.mark.parametrize("fault", ["counts", "mutate", "nan"])
def test_a_walk_towards_the_limits_leads_around_what_is_impossible(fault):
    made = gate(Impossible(fault=fault, every=5, widths=3000), params={"max": 1})
    [one] = drawn(made, 1)
    assert one.architecture.width == 1
    assert made.failures > 0


def test_where_nothing_can_be_drawn_the_reason_is_said():
    with pytest.raises(InfeasibleError, match=r"found in 200 draws; 200 were passed over, the last: StrangeError"):
        drawn(gate(Impossible(fault="sample", every=1)), 1)
    with pytest.raises(
        InfeasibleError, match=r"nearest miss is 1 with .*; [\d,]+ were passed over, the last: StrangeError"
    ):
        drawn(gate(Impossible(fault="counts", widths=9), params={"max": 0}), 1)


def test_an_error_of_ours_that_every_draw_meets_is_passed_on():
    def draw(rng, attempt):
        raise UnsupportedError("no measured values")

    with pytest.raises(UnsupportedError, match="no measured values"):
        gate(Impossible()).draw(draw)


def test_what_is_wrong_with_the_run_itself_is_passed_on_at_once():
    """A latency that was measured and cannot be stored must not be taken for one that cannot be measured."""
    calls = []

    def full(identity, seconds):
        calls.append(identity)
        raise RunError("the disk is full")

    made = gate(Impossible(), latency={"max": 60})
    made.problem.clock.note = full
    with pytest.raises(RunError, match="the disk is full"):
        drawn(made, 1)
    assert len(calls) == 1
