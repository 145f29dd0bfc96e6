"""Which rows belong to which part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.data.clicks.preparing.parts import Parts, Plan, plan, ranked
from foresee.data.clicks.reading.chunk import Chunk
from foresee.data.clicks.schema import Schema
from foresee.errors import InputError


def schema(**split: Any) -> Schema:
    return Schema(label="y", numeric=("n",), time="t", split=split)


def cut(times: list[float], size: int) -> Iterator[Chunk]:
    for start in range(0, len(times), size):
        some = np.array(times[start : start + size], np.float64)
        yield Chunk(None, {}, {}, {}, times=some, first_row=start, size=len(some))


def parts_of(known: Schema, times: list[float], size: int, scratch: Path) -> list[int]:
    where = plan(lambda: cut(times, size), known, scratch / "times.bin")
    assert not (scratch / "times.bin").exists()
    parts = Parts(known, Plan.from_json(where.to_json()))
    return [int(part) for chunk in cut(times, size) for part in parts.of(chunk)]


def test_random_has_its_shares_and_goes_by_the_row_alone(tmp_path: Path) -> None:
    known = schema(by="random", train=0.7, val=0.1, test=0.2, seed=5)
    one, other = parts_of(known, [0.0] * 20_000, 64, tmp_path), parts_of(known, [0.0] * 20_000, 999, tmp_path)
    assert one == other
    assert np.abs(np.bincount(one) / 20_000 - [0.7, 0.1, 0.2]).max() < 0.015
    assert one[:500] == parts_of(known, [0.0] * 500, 7, tmp_path)
    assert one != parts_of(schema(by="random", train=0.7, val=0.1, test=0.2, seed=6), [0.0] * 20_000, 64, tmp_path)
    assert parts_of(known, [0.0] * 12, 5, tmp_path) == KEPT


#: the same on every machine
KEPT = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2]


def test_shares_of_nothing(tmp_path: Path) -> None:
    assert set(parts_of(schema(by="random", train=0.5, test=0.5), [0.0] * 1000, 64, tmp_path)) == {0, 2}
    assert set(parts_of(schema(by="random", train=1.0), [0.0] * 1000, 64, tmp_path)) == {0}
    assert parts_of(schema(by="order", train=0.5, test=0.5), [0.0] * 4, 3, tmp_path) == [0, 0, 2, 2]


@examples(50)
@given(st.lists(st.integers(-3, 3), min_size=10, max_size=40), st.integers(1, 12), st.sampled_from(["order", "time"]))
def test_order_and_time_are_exact(
    tmp_path_factory: pytest.TempPathFactory, times: list[int], size: int, by: str
) -> None:
    found = parts_of(schema(by=by), [float(t) for t in times], size, tmp_path_factory.mktemp("t"))
    order = sorted(range(len(times)), key=lambda row: times[row]) if by == "time" else list(range(len(times)))
    in_order = [found[row] for row in order]
    assert in_order == sorted(in_order)
    assert np.abs(np.bincount(found, minlength=3) - np.array([0.8, 0.1, 0.1]) * len(times)).max() < 1


@examples(50)
@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), min_size=1, max_size=40), st.data())
def test_ranks(places: list[int], data: Any) -> None:
    rank = data.draw(st.integers(0, len(places) - 1))
    value, ties = ranked(np.array(places, np.uint64), rank, piece=7)
    assert value == sorted(places)[rank]
    assert ties == rank - sum(place < value for place in places)


def test_too_few_rows_for_the_shares(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="would get none of 3 samples"):
        parts_of(schema(by="order"), [0.0] * 3, 2, tmp_path)


def test_a_column_says() -> None:
    parts = np.array([0, 2, -1], np.int8)
    known = Schema(label="y", numeric=("n",), split={"by": "column", "column": "s"})
    assert Parts(known, Plan()).of(Chunk(None, {}, {}, {}, parts=parts, size=3)) is parts
