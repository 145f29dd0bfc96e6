from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.probes.found import Facts, FoundArray, FoundTensors, FoundValue
from foresee.testing.photographs import numbers


def put_back(tensors, change, *, copied=True):
    found = FoundTensors(tensors, copied=copied)
    change(tensors)
    changed = list(found.changed())
    for one in changed:
        one.restore()
    return changed


@given(
    shapes=st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=6),
    which=st.integers(0, 5),
    dtype=st.sampled_from([torch.float32, torch.float64, torch.int64, torch.bool, torch.bfloat16]),
)
@examples(60)
def test_only_the_numbers_that_changed_are_written_back(shapes, which, dtype):
    tensors = [torch.ones(shape).to(dtype) for shape in shapes] + [torch.ones(2)]
    versions, wrong = [one._version for one in tensors], tensors[which % len(tensors)]
    changed = put_back(tensors, lambda _: wrong.data.zero_())
    assert len(changed) == (wrong.numel() > 0)
    assert all(bool((one == 1).all()) for one in tensors)
    assert [one._version for one in tensors] == versions


@pytest.mark.parametrize(
    "tensor",
    [
        torch.ones(40_000),  # too large to be copied with others
        torch.ones(()),
        torch.full((3,), math.nan),
        torch.eye(3).to_sparse(),
        torch.eye(3).to_sparse_csr(),
        torch.eye(3).to_sparse_csc(),
        torch.ones(2, dtype=torch.complex64),
        torch.ones(4, 4).t()[1:],
    ],
)
def test_tensors_of_any_kind(tensor):
    before = numbers(tensor.to_sparse() if tensor.layout is torch.sparse_csc else tensor)
    assert put_back([tensor, torch.ones(3)], lambda tensors: tensors[0].mul_(0))
    assert numbers(tensor.to_sparse() if tensor.layout is torch.sparse_csc else tensor) == before


def test_what_was_made_in_inference_mode_is_written_back():
    with torch.inference_mode():
        tensors = [torch.ones(2), torch.ones(50_000)]

    def change(given):
        with torch.inference_mode():
            for one in given:
                one.mul_(2)

    put_back(tensors, change)
    assert [float(one.max()) for one in tensors] == [1.0, 1.0]


def test_numbers_that_cannot_be_written_are_no_failure_where_nothing_changed():
    expanded = torch.tensor(math.nan).expand(4)
    assert put_back([expanded, torch.ones(1)], lambda tensors: None)  # NaN is never equal: it was tried
    assert expanded.shape == (4,)


def test_without_copies_everything_but_the_numbers_is_put_back():
    weight = nn.Parameter(torch.ones(2))

    def change(tensors):
        tensors[0].data.fill_(3)
        tensors[0].requires_grad_(False).grad = torch.ones(2)

    put_back([weight], change, copied=False)
    assert weight.tolist() == [3, 3]
    assert weight.requires_grad
    assert weight.grad is None


def test_facts_say_where_they_differ():
    tensors = [torch.ones(2), torch.ones(3), nn.Parameter(torch.ones(1))]
    before = Facts.of(tensors)
    assert before.others(Facts.of(tensors)) == set()
    tensors[1].data = torch.ones(4)
    tensors[2].register_hook(print)
    assert before.others(Facts.of(tensors)) == {1, 2}


def test_an_array_of_another_size_is_as_before():
    array = np.arange(3.0)
    found = FoundArray(array)
    array.resize(5, refcheck=False)
    array[:] = 7
    found.restore()
    assert array.tolist() == [0, 1, 2]


def test_a_value_is_set_only_where_it_is_another():
    box, puts = [1], []
    found = FoundValue(1, lambda: box[0], puts.append)
    found.restore()
    box[0] = 2
    found.restore()
    assert puts == [1]
