"""Layers cast from a mould are those made by themselves: in structure, in numbers, and apart from each other."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

from foresee.spaces.blocks import Reduction, relu_conv_bn
from foresee.spaces.moulds import cast


@pytest.mark.parametrize(
    ("make", "arguments", "settings"),
    [
        (relu_conv_bn, (3, 8, 3), {"affine": True}),
        (relu_conv_bn, (3, 8, 1), {"affine": False}),
        (Reduction, (4, 8), {}),
        (nn.Linear, (5, 2), {}),
        (nn.ReLU, (), {}),
    ],
)
def test_what_is_cast_is_what_is_made(make, arguments, settings):
    made = []
    for way in (lambda: make(*arguments, **settings), lambda: cast(make, *arguments, **settings)):
        torch.manual_seed(5)
        made.append((way(), torch.get_rng_state()))
    (one, state), (other, after) = made
    assert str(one) == str(other)
    assert torch.equal(state, after)
    assert [name for name, _ in one.named_modules()] == [name for name, _ in other.named_modules()]
    mine, its = one.state_dict(), other.state_dict()
    assert mine.keys() == its.keys()
    assert all(torch.equal(mine[name], its[name]) and mine[name].dtype == its[name].dtype for name in mine)
    assert [p.requires_grad for p in one.parameters()] == [p.requires_grad for p in other.parameters()]


def test_two_of_a_mould_share_nothing_that_can_be_written_into():
    one, other = cast(relu_conv_bn, 4, 4, 3), cast(relu_conv_bn, 4, 4, 3)
    one[1].register_forward_hook(lambda *_: None)
    one[2].eval()
    one.extra = 3
    one.append(nn.ReLU())
    assert not other[1]._forward_hooks
    assert other[2].training
    assert len(other) == 3
    assert not {t.data_ptr() for t in one.state_dict().values()} & {t.data_ptr() for t in other.state_dict().values()}
    with torch.no_grad():
        other(torch.rand(2, 4, 5, 5))
    assert int(other[2].num_batches_tracked) == 1
    assert int(one[2].num_batches_tracked) == 0


def test_it_is_copied_pickled_and_moved_as_any_module():
    made = cast(relu_conv_bn, 4, 4, 3)
    maps = torch.rand(2, 4, 5, 5)
    for one in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert torch.equal(one(maps), made(maps))
    assert made.double()[1].weight.dtype == torch.float64


def test_type_and_device_are_those_of_now():
    cast(relu_conv_bn, 4, 4, 3)
    with torch.device("meta"):
        assert all(t.is_meta for t in cast(relu_conv_bn, 4, 4, 3).state_dict().values())
    usual = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        assert cast(relu_conv_bn, 4, 4, 3)[1].weight.dtype == torch.float64
    finally:
        torch.set_default_dtype(usual)
