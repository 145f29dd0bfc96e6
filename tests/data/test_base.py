from __future__ import annotations

import math
import pickle
from collections.abc import Iterable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.data.numbers import Numbers
from tests.properties import examples

import foresee.data as fd
from foresee.batch import Batch
from foresee.data import Data, Digits
from foresee.data.base import digest
from foresee.errors import InputError
from foresee.testing import DataSuite


class TestPart(DataSuite):
    """A part of a part: both are data sets as any other."""

    def data(self) -> Data:
        x = np.random.default_rng(0).normal(size=(40, 3))
        first = fd.Arrays(x, np.arange(40) % 2).split({"train": 0.6, "test": 0.4}, seed=1)["test"]
        return first.split({"train": 0.7, "val": 0.3}, seed=2)["train"]


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


# -- epochs


def numbers_of(batches: Iterable[Batch]) -> list[list[int]]:
    return [[int(label) for label in batch.labels] for batch in batches if batch.labels is not None]


@examples(40)
@given(count=st.integers(1, 40), size=st.integers(1, 45), seed=st.integers(0, 3), number=st.integers(0, 3))
def test_an_epoch_is_a_permutation_cut_into_batches(count: int, size: int, seed: int, number: int) -> None:
    data = Numbers(count)
    batches = numbers_of(data.epoch(size, seed=seed, number=number))
    assert sorted(row for batch in batches for row in batch) == list(range(count))
    assert len(batches) == data.steps(size) == math.ceil(count / size)
    assert {len(batch) for batch in batches[:-1]} <= {size}
    for start in range(len(batches) + 1):
        assert numbers_of(Numbers(count).epoch(size, seed=seed, number=number, start=start)) == batches[start:]
    in_order = numbers_of(data.epoch(size, shuffle=False))
    assert [row for batch in in_order for row in batch] == list(range(count))


def test_batches_for_looking_are_the_whole_ones_of_the_epochs() -> None:
    data = Numbers(11)
    looked = [drawn(data, 4, index, seed=5) for index in range(6)]
    trained = [numbers_of(data.epoch(4, seed=5, number=number, drop_last=True)) for number in range(3)]
    assert looked == [batch for epoch in trained for batch in epoch]
    assert [data.steps(4), data.steps(4, drop_last=True)] == [3, 2]


def test_an_order_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    draws: list[int] = []
    plain = torch.randperm
    monkeypatch.setattr(torch, "randperm", lambda count, **more: draws.append(count) or plain(count, **more))
    data = Numbers(100)
    list(data.epoch(7, seed=1))
    data.batches(14, 7, seed=1)
    assert draws == [100]
    data.batch(7, seed=2)
    data.batch(7, seed=1)
    assert draws == [100, 100, 100]  # one is remembered, not all


def test_the_remembered_order_does_not_travel() -> None:
    data = Numbers(100_000)
    before = len(pickle.dumps(data))
    first = drawn(data, 5, 3)
    assert len(pickle.dumps(data)) < before + 200
    assert drawn(pickle.loads(pickle.dumps(data)), 5, 3) == first


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"size": 0}, "batch of 0 samples"),
        ({"size": 3, "number": -1}, "epoch -1 from batch 0: expected an epoch from 0"),
        ({"size": 3, "start": 4}, "a batch from 0 to 3"),
        ({"size": 3, "start": -1}, "a batch from 0 to 3"),
        ({"size": 8, "drop_last": True}, "numbers has only 7"),
    ],
)
def test_senseless_epochs_are_refused_at_once(asked: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Numbers(7).epoch(**asked)  # type: ignore[arg-type]


# -- splits


def rows(data: Data) -> list[int]:
    return numbers_of([data.read(torch.arange(len(data)))])[0]


@examples(40)
@given(count=st.integers(10, 80), seed=st.integers(0, 5), ordered=st.booleans())
def test_parts_are_disjoint_and_everything(count: int, seed: int, ordered: bool) -> None:
    parts = Numbers(count).split({"train": 0.7, "val": 0.2, "test": 0.1}, seed=seed, ordered=ordered)
    assert sorted(row for part in parts.values() for row in rows(part)) == list(range(count))
    assert [row for part in parts.values() for row in rows(part)] == list(range(count)) or not ordered
    again = Numbers(count).split({"train": 0.7, "val": 0.2, "test": 0.1}, seed=seed, ordered=ordered)
    assert {name: rows(part) for name, part in again.items()} == {name: rows(part) for name, part in parts.items()}


def test_seeds_split_differently_and_parts_know_their_names() -> None:
    data = Numbers(50)
    one, other = (data.split({"train": 0.5, "test": 0.5}, seed=seed) for seed in (0, 1))
    assert rows(one["train"]) != rows(other["train"])
    assert one["train"].name == "numbers/train"
    assert one["train"].fingerprint != other["train"].fingerprint


def test_parts_are_normalised_by_the_training_part() -> None:
    data = Numbers(40, normalise=True)
    parts = data.split({"test": 0.25, "training": 0.75}, ordered=True)
    assert parts["training"].statistics.mean == pytest.approx((np.arange(10, 40).mean(),))
    assert parts["test"].statistics == parts["training"].statistics
    named_otherwise = data.split({"a": 0.5, "b": 0.5}, ordered=True)
    assert named_otherwise["b"].statistics.mean == pytest.approx((np.arange(20).mean(),))


def test_others_can_be_normalised_by_the_training_part() -> None:
    whole, other = Digits(size=8, split="train"), Digits(size=8, split="test")
    part = whole.split({"train": 0.3, "val": 0.7})["train"]
    made = other.normalised_by(part)
    assert other.statistics == whole.statistics, "and is left as it was"
    assert made.statistics == part.statistics != whole.statistics
    assert made.fingerprint != other.fingerprint
    assert made.name == other.name
    assert other.normalised_by(whole) is other
    assert made.normalised_by(part) is made
    plain = Digits(size=8, split="test", normalise=False)
    assert plain.normalised_by(part) is plain


def test_what_is_fixed_already_stays() -> None:
    known = fd.Statistics((3.0,), (2.0,))
    assert Numbers(40, normalise=known).split({"train": 0.5, "test": 0.5})["test"].statistics == known
    training = Numbers(10, normalise=True)
    test = Numbers(40, normalise=True, like=training)
    parts = test.split({"train": 0.5, "b": 0.5}, seed=3)
    assert {part.statistics for part in parts.values()} == {training.statistics}


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({}, "expected names with shares above 0"),
        ({"train": 0.5, "test": 0.4}, "sum up to 0.9, expected 1"),
        ({"train": 1.5, "test": -0.5}, "expected names with shares above 0"),
        ({"train": float("nan"), "test": 0.5}, "expected names with shares above 0"),
        ({"train": "0.5", "test": 0.5}, "expected names with shares above 0"),
        ({"train": 0.99, "test": 0.01}, "test would get none of 7 samples"),
    ],
)
def test_senseless_splits_are_refused(shares: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Numbers(7).split(shares)
    with pytest.raises(InputError, match="synthetic data has no end"):
        fd.load("synthetic").split({"train": 0.5, "test": 0.5})
