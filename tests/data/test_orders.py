"""Orders drawn once, and samples shared out."""

from __future__ import annotations

import math
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.data.orders import Orders, shared_out
from foresee.seeds import generator


def test_an_order_is_the_permutation_that_the_seed_and_the_lap_draw() -> None:
    orders = Orders()
    for seed, lap in ((0, 0), (0, 1), (3, 0), (0, 0)):
        known = torch.randperm(20, generator=generator(seed, "data", lap))
        assert torch.equal(orders.rows(20, seed, lap, 5, 7), known[5:12])
        assert torch.equal(orders.rows(20, seed, lap, 15, 7), known[15:])
    assert sorted(orders.rows(9, 0, 0, 0, 9).tolist()) == list(range(9))  # of another count it is another one


def test_what_is_handed_out_may_be_written_to() -> None:
    orders = Orders()
    first = orders.rows(20, 0, 0, 0, 20)
    known = first.clone()
    first.zero_()
    assert torch.equal(orders.rows(20, 0, 0, 0, 20), known)


def test_only_the_rule_is_pickled() -> None:
    orders = Orders()
    known = orders.rows(1000, 0, 0, 0, 5)
    assert len(pickle.dumps(orders)) < 200
    assert torch.equal(pickle.loads(pickle.dumps(orders)).rows(1000, 0, 0, 0, 5), known)


@examples(60)
@given(st.lists(st.integers(1, 100), min_size=1, max_size=6), st.integers(20, 2000))
def test_sizes_are_quotas_rounded_and_sum_up(weights: list[int], count: int) -> None:
    shares = {str(i): weight / sum(weights) for i, weight in enumerate(weights)}
    if min(shares.values()) * count < 1:
        return  # such a part may be empty, which is refused
    sizes = shared_out(count, shares)
    assert sum(sizes.values()) == count
    for name, size in sizes.items():
        quota = shares[name] * count
        assert math.floor(quota - 1e-6) <= size <= math.ceil(quota + 1e-6)


@pytest.mark.parametrize(
    ("count", "shares", "expected"),
    [
        (100, (0.29, 0.71), (29, 71)),  # 0.29 * 100 is 28.999999999999996 in floats
        (7, (0.8, 0.1, 0.1), (5, 1, 1)),  # 5.6, 0.7, 0.7: the largest remainders are the two last
        (5, (0.5, 0.5), (3, 2)),  # of equal remainders the first
        (3, (1 / 3, 1 / 3, 1 / 3), (1, 1, 1)),
        (10, (1.0,), (10,)),
    ],
)
def test_the_largest_remainder_wins(count: int, shares: tuple[float, ...], expected: tuple[int, ...]) -> None:
    found = shared_out(count, {str(i): share for i, share in enumerate(shares)})
    assert tuple(found.values()) == expected
