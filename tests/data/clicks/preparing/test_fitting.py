"""What is learnt of training rows, beside the obvious versions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.data.clicks.preparing.fitting import Fitting, Moments
from foresee.data.clicks.preprocessing import logged
from foresee.data.clicks.reading.chunk import Chunk
from foresee.data.clicks.schema import Schema
from foresee.errors import DataError

NUMBERS = st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")), max_size=12)


@examples(60)
@given(st.lists(NUMBERS, max_size=6), st.integers(0, 5), st.floats(-100, 100))
def test_moments(pieces: list[list[float]], missing: int, fill: float) -> None:
    moments = Moments()
    for piece in pieces:
        moments.add(np.array(piece, np.float64))
    there = [value for piece in pieces for value in piece if value == value]
    assert moments.seen == len(there)
    if there:
        assert moments.mean == pytest.approx(np.mean(there), rel=1e-9, abs=1e-9)
        assert moments.std == pytest.approx(np.std(there), rel=1e-6, abs=1e-6)
    both = there + [fill] * missing
    mean, std = moments.filled(missing, fill)
    if both:
        assert mean == pytest.approx(np.mean(both), rel=1e-9, abs=1e-9)
        assert std == pytest.approx(np.std(both), rel=1e-6, abs=1e-5) or std == 1.0


def fitted(schema: Schema, columns: dict[str, list[float]], training: list[bool] | None = None) -> Fitting:
    size = len(next(iter(columns.values())))
    numbers = {name: np.array(columns[name], np.float64) for name in schema.numeric}
    keys = {name: np.array(columns[name], np.uint64) for name in schema.categories}
    fitting = Fitting(schema)
    chunk = Chunk(np.zeros(size, np.uint8), numbers, keys, {}, size=size)
    fitting.add(chunk, np.array(training or [True] * size))
    return fitting


def test_counts_are_found() -> None:
    nan = float("nan")
    columns = {"age": [20, 90.0, nan], "share": [0.5, 500, 1], "seen": [0, 100, nan], "loss": [-1, -200, 3]}
    schema = Schema(label="y", numeric=tuple(columns))
    assert fitted(schema, columns).done().logged == (False, False, True, True)
    assert fitted(schema.but(log=("age",)), columns).done().logged == (True, False, False, False)
    assert fitted(schema.but(log=()), columns).done().logged == (False,) * 4


@pytest.mark.parametrize("fill", ["mean", "zero"])
def test_missing_numbers(fill: str) -> None:
    schema = Schema(label="y", numeric=("n",), fill=fill, log=("n",))
    done = fitted(schema, {"n": [10, float("nan"), 1000]}).done()
    logs = logged(np.array([10.0, 1000.0]))
    filled = logs.mean() if fill == "mean" else 0.0
    assert done.fills == pytest.approx((filled,), rel=1e-8)
    assert done.statistics.mean == pytest.approx((np.mean([*logs, filled]),), rel=1e-8)
    assert done.statistics.std == pytest.approx((np.std([*logs, filled]),), rel=1e-8)


def test_training_rows_alone() -> None:
    schema = Schema(label="y", numeric=("n",), categories=("c",), least=2)
    columns = {"n": [1.0, 2.0, 1e6, 3.0], "c": [5.0, 5.0, 6.0, 6.0]}
    done = fitted(schema, columns, [True, True, False, True]).done()
    assert done.statistics.mean == (2.0,)
    assert [values.tolist() for values in done.values] == [[5]]
    assert done.facts == {"rows": 3, "shortfalls": {}}


def test_a_constant_an_empty_and_no_column() -> None:
    nan = float("nan")
    done = fitted(Schema(label="y", numeric=("a", "b"), log=()), {"a": [7.0, 7.0], "b": [nan, nan]}).done()
    assert (done.statistics.mean, done.statistics.std) == ((7.0, 0.0), (1.0, 1.0))
    done = fitted(Schema(label="y", categories=("c",)), {"c": [3.0, 3.0]}).done()
    assert (done.dense, done.statistics.mean) == (1, (0.0,))


def test_the_most_frequent_win() -> None:
    schema = Schema(label="y", categories=("c",), rows=2, least=1)
    done = fitted(schema, {"c": [4.0, 9.0, 9.0, 5.0, 5.0, 5.0, 0.0]}).done()
    assert [values.tolist() for values in done.values] == [[5, 9]]
    assert done.vocabularies == (4,)
    assert fitted(schema.but(buckets=10), {"c": [4.0]}).done().vocabularies == (12,)


def test_no_training_rows() -> None:
    with pytest.raises(DataError, match="no training rows"):
        fitted(Schema(label="y", numeric=("n",)), {"n": [1.0]}, [False]).done()
