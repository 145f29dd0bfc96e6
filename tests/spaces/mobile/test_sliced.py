"""Layers of several sizes in one set of weights; whole ones are in `test_one_shot`."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from foresee.spaces.bottlenecks import HardSigmoid, InvertedBottleneck, Shape, SqueezeExcite
from foresee.spaces.mobile.sliced import SlicedBottleneck, SlicedDepthwise, SlicedSqueeze, Use, centre, filled, part
from foresee.spaces.one_shot import share, tensors

ONE = torch.ones(())


def test_parts_are_first_channels_and_the_middle_of_kernels():
    weight = torch.arange(2 * 25.0).view(2, 1, 5, 5)
    assert part(weight, (1, 1, 3, 3)).flatten().tolist() == [6, 7, 8, 11, 12, 13, 16, 17, 18]
    assert part(torch.arange(4), (2,)).tolist() == [0, 1]
    assert part(torch.tensor(3), ()).item() == 3
    assert filled(torch.ones(1, 2, 1, 1), 3).flatten().tolist() == [1, 1, 0]


def test_kernels_are_summed_which_is_the_sum_of_what_they_give():
    conv = SlicedDepthwise(6, 6, 5, stride=2, padding=2, groups=6, bias=False)
    x, half = torch.randn(2, 4, 7, 7), torch.tensor(0.5)
    apart = [F.conv2d(x, centre(conv.weight[:4], kernel), None, 2, kernel // 2, groups=4) for kernel in (3, 5)]
    torch.testing.assert_close(conv(x, [(3, half), (5, half)]), 0.5 * apart[0] + 0.5 * apart[1])


def test_a_squeeze_of_first_channels():
    wide, x = SlicedSqueeze(6, 3, HardSigmoid), torch.randn(2, 4, 5, 5)
    alone = SqueezeExcite(4, 2, HardSigmoid)
    share(alone, {name: part(tensors(wide)[name], mine.shape) for name, mine in tensors(alone).items()})
    torch.testing.assert_close(x * wide(x, [(2, ONE)]), alone(x))


def test_an_expansion_of_one_beside_others():
    """Half of it: the hidden channels are half the input and half the widened ones, those beyond the input weigh a half."""
    layer = SlicedBottleneck(Shape(3, 5, 6, 3), nn.ReLU, nn.Sigmoid, lambda x: None).eval()
    x, half = torch.randn(2, 3, 4, 4), torch.tensor(0.5)
    assert torch.equal(layer(x), x)  # not reached
    out = layer(x, Use([(6, half)], half, [(3, ONE)], [], (None, None), None))
    wide = layer.widen[2](layer.widen[1](layer.widen[0](x, 6)))
    hidden = 0.5 * wide + 0.5 * F.pad(x, (0, 0, 0, 0, 0, 3))
    seen = layer.look[2](layer.look[1](layer.look[0](hidden, [(3, ONE)])))
    seen = seen * torch.tensor([1.0] * 3 + [0.5] * 3)[:, None, None]
    torch.testing.assert_close(out, layer.narrow[1](layer.narrow[0](seen, 5)))
    alone = InvertedBottleneck(Shape(3, 5, 3, 3)).eval()
    share(alone, {name: part(tensors(layer)[name], mine.shape) for name, mine in tensors(alone).items()})
    torch.testing.assert_close(layer(x, Use([], ONE, [(3, ONE)], [], (None, None), None)), alone(x))
