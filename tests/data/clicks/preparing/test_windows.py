"""Orders of epochs by windows."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.data.clicks.preparing.windows import Windows
from foresee.data.orders import Orders


@examples(80)
@given(st.integers(1, 60), st.integers(0, 3), st.integers(0, 2), st.integers(1, 9))
def test_every_row_once_in_pieces_as_in_one(count: int, seed: int, lap: int, size: int) -> None:
    whole = Windows(window=12, block=3).rows(count, seed, lap, 0, count)
    assert sorted(whole.tolist()) == list(range(count))
    told: list[tuple[int, int]] = []
    windows = Windows(told.extend, window=12, block=3)
    pieces = [windows.rows(count, seed, lap, first, size) for first in range(0, count, size)]
    assert torch.cat(pieces).equal(whole)
    later = Windows(window=12, block=3).rows(count, seed, lap, count // 2, size)
    assert later.equal(whole[count // 2 : count // 2 + size])
    if count > 12:
        assert sorted(row for first, last in told for row in range(first, last)) == list(range(count))
    else:
        assert whole.equal(Orders().rows(count, seed, lap, 0, count))


def test_laps_and_seeds_differ() -> None:
    orders = [Windows(window=16, block=4).rows(100, seed, lap, 0, 100) for seed in (0, 1) for lap in (0, 1)]
    assert len({tuple(order.tolist()) for order in orders}) == 4


def test_rows_that_come_together_are_of_few_blocks() -> None:
    first = Windows(window=16, block=4).rows(1000, 0, 0, 0, 16)
    assert len({row // 4 for row in first.tolist()}) == 4
