"""Layers that use the first channels of their weights, beside layers of that size."""

from __future__ import annotations

import torch
from torch import nn

from foresee.spaces.sliced import SlicedBatchNorm2d, SlicedConv2d, SlicedLinear, mask


def test_slices_are_layers_of_that_size():
    torch.manual_seed(0)
    wide, x = SlicedConv2d(6, 8, 3, stride=2, padding=1, bias=False), torch.randn(2, 4, 5, 5)
    narrow = nn.Conv2d(4, 3, 3, stride=2, padding=1, bias=False)
    narrow.weight.data = wide.weight.data[:3, :4]
    torch.testing.assert_close(wide(x, 3), narrow(x))
    linear, features = SlicedLinear(6, 2), torch.randn(3, 4)
    torch.testing.assert_close(linear(features), features @ linear.weight[:, :4].T + linear.bias)


def test_statistics_of_other_channels_stay():
    norm, x = SlicedBatchNorm2d(5), torch.randn(8, 3, 4, 4) + 2
    plain = nn.BatchNorm2d(3)
    torch.testing.assert_close(norm(x), plain(x))
    torch.testing.assert_close(norm.running_mean[:3], plain.running_mean)
    assert not norm.running_mean[3:].any()
    torch.testing.assert_close(norm.eval()(x), plain.eval()(x))


def test_masks():
    weights = torch.tensor([0.25, 0.75])
    assert mask([(1, weights[0]), (3, weights[1])]).tolist() == [1.0, 0.75, 0.75]
