"""Tasks: shapes, outputs, click logs."""

from __future__ import annotations

import json

import pytest
import torch

from foresee.errors import InputError
from foresee.task import Task, parse_shape

CLICKS = Task((13,), 1, vocabularies=(100, 7))


@pytest.mark.parametrize("task", [Task(), Task((7,), 2), CLICKS])
def test_json_round_trip(task):
    assert Task.from_json(json.loads(json.dumps(task.to_json()))) == task


def test_plain_tasks_are_written_as_before():
    assert Task((3, 8, 8), 5).to_json() == {"inputs": [3, 8, 8], "outputs": 5}


def test_example():
    assert Task((3, 8, 8), 5).example(batch=2).shape == (2, 3, 8, 8)
    dense, sparse = CLICKS.example(batch=3)
    assert (dense.shape, sparse.shape, sparse.dtype) == ((3, 13), (3, 2), torch.int64)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((), 1), "every size must be at least 1"),
        (((3, 0), 1), "every size must be at least 1"),
        (((3,), 0), "outputs 0"),
        (((3,), 1, (4, 0)), "every feature needs at least 1 value"),
        (((3, 8, 8), 1, (4,)), "vocabularies with inputs 3x8x8: expected one number"),
    ],
)
def test_impossible_tasks(arguments, message):
    with pytest.raises(InputError, match=message):
        Task(*arguments)


@pytest.mark.parametrize("plain", [None, [], {"inputs": [3]}, {"inputs": 3, "outputs": 1}, "3x8x8"])
def test_nonsense_is_refused(plain):
    with pytest.raises(InputError, match="expected"):
        Task.from_json(plain)


def test_shapes():
    assert parse_shape("3x32X32") == (3, 32, 32)
    for text in ("", "3x", "0x3", "ax3"):
        with pytest.raises(InputError, match="expected sizes joined by x"):
            parse_shape(text)


def test_token_ids():
    task = Task((128,), 10, tokens=30522)
    assert Task.from_json(task.to_json()) == task
    assert task.to_json() == {"inputs": [128], "outputs": 10, "tokens": 30522}
    assert (task.example(2).shape, task.example(2).dtype) == ((2, 128), torch.int64)
    with pytest.raises(InputError, match="tokens 0: at least 1 is needed"):
        Task((128,), 10, tokens=0)
    with pytest.raises(InputError, match="not both"):
        Task((3,), 1, vocabularies=(5,), tokens=5)
