"""Laws of the small modules: quantities, seeds, tasks, errors, extras."""

from __future__ import annotations

import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from foresee.devices import one_dnn_kept
from foresee.errors import InputError, MissingExtraError, UnknownNameError
from foresee.extras import available, need
from foresee.quantities import format_quantity, parse_duration, parse_quantity
from foresee.seeds import derive, generator, stream
from foresee.task import Task, parse_shape


@given(st.floats(1, 1e14))
def test_a_formatted_quantity_reads_back_within_its_digits(value):
    assert parse_quantity(format_quantity(value)) == pytest.approx(value, rel=5.1e-3)


@pytest.mark.parametrize("text", ["", "k", "-5", "1.5.2M", "600 kk", "nan", "5ms"])
def test_bad_quantities(text):
    with pytest.raises(InputError, match="quantity"):
        parse_quantity(text)


def test_durations():
    assert parse_duration("250us") == pytest.approx(2.5e-4)
    with pytest.raises(InputError, match="duration"):
        parse_duration("8")


@given(st.integers(0, 2**40), st.text(max_size=5), st.integers(0, 1000))
def test_streams_differ_by_use_and_repeat_by_seed(seed, use, index):
    assert derive(seed, use, index) == derive(seed, use, index)
    assert derive(seed, use, index) != derive(seed, use, index + 1)
    assert derive(seed, use, index) != derive(seed + 1, use, index)
    assert 0 <= derive(seed, use) < 2**63
    assert stream(seed, use).random() == stream(seed, use).random()


def test_torch_generators_repeat():
    assert torch.equal(torch.randn(3, generator=generator(1, "a")), torch.randn(3, generator=generator(1, "a")))


@pytest.mark.parametrize("shape", [(), (0,), (3, -1)])
def test_impossible_tasks(shape):
    with pytest.raises(InputError):
        Task(shape, 10)
    with pytest.raises(InputError):
        Task((3,), 0)


def test_task_round_trip_and_shapes():
    task = Task((3, 8, 8), 4)
    assert Task.from_json(task.to_json()) == task
    assert parse_shape("1x28X28") == (1, 28, 28)
    for text in ("", "3x", "axb", "3x-1"):
        with pytest.raises(InputError, match="shape"):
            parse_shape(text)
    with pytest.raises(InputError, match="task"):
        Task.from_json({"inputs": 5})


def test_errors_travel_between_processes():
    error = pickle.loads(pickle.dumps(UnknownNameError("proxy", "dexter", ["dextr"])))
    assert "did you mean dextr" in str(error)


def test_a_missing_extra_names_the_remedy():
    with pytest.raises(MissingExtraError, match="pip install surely_not_there"):
        need("surely_not_there")
    assert not available("surely_not_there")


def test_one_dnn_stays_as_it_is():
    before = torch.backends.mkldnn.enabled
    with one_dnn_kept():
        torch._C._set_mkldnn_enabled(not before)
    assert torch.backends.mkldnn.enabled == before
