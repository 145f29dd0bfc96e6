"""Partial channels."""

from __future__ import annotations

import torch
from torch import nn

from foresee.spaces.one_shot import Mixed
from foresee.spaces.partial import Partial, shuffle


def test_shuffle_writes_groups_side_by_side():
    x = torch.arange(6.0).view(1, 6, 1, 1)
    assert shuffle(x, 2).flatten().tolist() == [0, 3, 1, 4, 2, 5]


def test_only_the_first_channels_pass_through_the_operation():
    x = torch.randn(2, 8, 5, 5)
    out = Partial(nn.Sequential(nn.Identity(), nn.Tanh()), 4, 1)(x)
    expected = shuffle(torch.cat([x[:, :2].tanh(), x[:, 2:]], 1), 4)
    assert torch.equal(out, expected)


def test_with_a_stride_the_others_are_pooled():
    x = torch.randn(2, 4, 5, 5)
    out = Partial(nn.AvgPool2d(1, 2), 2, 2)(x)
    pooled = nn.functional.max_pool2d(x[:, 2:], 2, ceil_mode=True)
    assert torch.equal(out, shuffle(torch.cat([x[:, :2, ::2, ::2], pooled], 1), 2))


def test_a_mixture_of_one_operation_is_that_operation():
    x, op = torch.randn(2, 4, 6, 6), nn.Conv2d(2, 2, 3, stride=2, padding=1)
    mixed = Mixed({"conv": op, "other": nn.AvgPool2d(1, 2)}, partial=2, stride=2)
    assert torch.equal(mixed(x, torch.tensor([1.0, 0.0])), Partial(op, 2, 2)(x))
