from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee import budgets
from foresee.budgets import Limits
from foresee.errors import InputError
from foresee.spaces.base import Counts


def test_comparisons_make_limits():
    counts = Counts(params=100, macs=50)
    assert Limits([budgets.params <= 100]).miss(counts) == 0
    assert Limits([budgets.params < 100]).miss(counts) > 0
    assert Limits([budgets.params >= 100, budgets.flops <= 100]).miss(counts) == 0
    assert Limits([budgets.flops < 100]).miss(counts) > 0
    assert Limits([budgets.macs > 50]).miss(counts) > 0


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


def test_json_round_trip():
    limits = Limits([budgets.params < 1e6, budgets.macs >= 5, budgets.flops <= 2.5])
    assert list(Limits.from_json(limits.to_json())) == list(limits)


def test_explains_what_misses():
    assert Limits([budgets.params <= 50]).explain(Counts(73306, 1)) == "params 73,306 where params ≤ 50 is asked"


def test_nonsense_is_refused():
    with pytest.raises(InputError, match="budget 5"):
        Limits([5])
    with pytest.raises(InputError, match="nan"):
        budgets.params < float("nan")  # noqa: B015
