from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.data.numbers import Numbers
from tests.properties import examples

import foresee.data as fd
from foresee.data import Data
from foresee.data.base import digest
from foresee.errors import InputError


def drawn(data: Data, size: int, index: int, seed: int = 0) -> list[int]:
    labels = data.batch(size, seed=seed, index=index).labels
    assert labels is not None
    return [int(label) for label in labels]


@examples(40)
@given(count=st.integers(1, 40), size=st.integers(1, 40), seed=st.integers(0, 3))
def test_one_lap_is_disjoint_and_the_next_is_another_permutation(count: int, size: int, seed: int) -> None:
    data = Numbers(count)
    if size > count:
        with pytest.raises(InputError, match=rf"{size} samples.*only {count}"):
            data.batch(size)
        return
    per_lap = count // size
    for lap in range(3):
        seen = [n for i in range(per_lap) for n in drawn(data, size, lap * per_lap + i, seed)]
        assert len(seen) == len(set(seen)) == per_lap * size
        assert set(seen) <= set(range(count))


def test_laps_and_seeds_differ_and_repeat() -> None:
    data = Numbers(100)
    first, again, second_lap, other_seed = (
        drawn(data, 100, 0),
        drawn(data, 100, 0),
        drawn(data, 100, 1),
        drawn(data, 100, 0, seed=1),
    )
    assert first == again
    assert first != sorted(first)
    assert first != second_lap
    assert first != other_seed
    assert sorted(first) == sorted(second_lap) == list(range(100))


def test_batches_are_the_first_ones() -> None:
    data = Numbers(10)
    given = [b.labels.tolist() for b in data.batches(4, 3, seed=2) if b.labels is not None]
    assert given == [drawn(data, 3, index, seed=2) for index in range(4)]


@pytest.mark.parametrize(("size", "index"), [(0, 0), (-1, 0), (2, -1)])
def test_senseless_draws_are_refused(size: int, index: int) -> None:
    with pytest.raises(InputError, match=f"{size} samples, number {index}"):
        Numbers(5).batch(size, index=index)
    with pytest.raises(InputError, match=f"{size} samples, number {index}"):
        fd.load("synthetic").batch(size, index=index)


def test_draws_do_not_touch_the_global_generator() -> None:
    before = torch.get_rng_state()
    Numbers(50).batch(10)
    fd.load("synthetic").batch(2)
    assert torch.equal(before, torch.get_rng_state())


def test_repr_says_what_it_is() -> None:
    assert repr(Numbers(7)) == f"<numbers: 7 samples of 1, 1 outputs, {digest('numbers', 7)}>"
    assert "endless of 3x32x32, 10 outputs" in repr(fd.load("synthetic"))
