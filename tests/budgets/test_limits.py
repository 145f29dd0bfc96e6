from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee import budgets
from foresee.budgets import Limits
from foresee.errors import InputError

COSTS = {"params": 100.0, "macs": 50.0, "flops": 100.0}


def test_comparisons_make_limits():
    assert Limits([budgets.params <= 100]).miss(COSTS) == 0
    assert Limits([budgets.params < 100]).miss(COSTS) > 0
    assert Limits([budgets.params >= 100, budgets.flops <= 100]).miss(COSTS) == 0
    assert Limits([budgets.flops < 100]).miss(COSTS) > 0
    assert Limits([budgets.macs > 50]).miss(COSTS) > 0


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.booleans(), st.booleans())
def test_miss_is_zero_exactly_when_met(value, bound, upper, strict):
    limit = budgets.Limit("params", "max" if upper else "min", bound, strict)
    meets = {
        (True, False): value <= bound,
        (True, True): value < bound,
        (False, False): value >= bound,
        (False, True): value > bound,
    }
    assert (limit.miss(value) == 0) == meets[upper, strict]


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_larger_excess_is_a_larger_miss(bound, more, most):
    limit = budgets.params <= bound
    assert limit.miss(bound + more) < limit.miss(bound + more + most)


class Watched(dict):
    asked: list[str]

    def __getitem__(self, name):
        self.asked.append(name)
        return super().__getitem__(name)


def test_dear_quantities_are_looked_at_only_when_the_cheap_ones_pass():
    costs = Watched(COSTS, latency=0.5)
    costs.asked = []
    limits = Limits([budgets.latency <= 0.1, budgets.params <= 10])
    assert limits.miss(costs) > 0
    assert costs.asked == ["params"]
    passed = Limits([budgets.latency <= 0.1, budgets.params <= 1000])
    assert 0 < passed.miss(costs) < limits.miss(costs)
    assert "latency" in costs.asked


def test_json_round_trip():
    limits = Limits([budgets.params < 1e6, budgets.macs >= 5, budgets.flops <= 2.5, budgets.latency < 0.008])
    assert list(Limits.from_json(limits.to_json())) == list(limits)


def test_explains_what_misses():
    costs = {**COSTS, "params": 73306.0}
    assert Limits([budgets.params <= 50]).explain(costs) == "params 73,306 where params ≤ 50 is asked"
    assert str(budgets.latency <= 0.008) == "latency ≤ 8 ms"
    assert str(budgets.memory <= 2e9) == "memory ≤ 2 GB"


def test_nonsense_is_refused():
    with pytest.raises(InputError, match="budget 5"):
        Limits([5])
    with pytest.raises(InputError, match="nan"):
        budgets.params < float("nan")  # noqa: B015
