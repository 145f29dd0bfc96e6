from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from foresee.errors import InputError
from foresee.spaces.blocks import Reduction, Zero, avg_pool_3x3, image_shape, relu_conv_bn
from foresee.task import Task


def test_zero_keeps_shape_and_graph():
    x = torch.randn(2, 3, 4, 4, requires_grad=True)
    out = Zero()(x)
    out.sum().backward()
    assert torch.equal(out, torch.zeros_like(x))
    assert torch.equal(x.grad, torch.zeros_like(x))


def test_relu_conv_bn_in_both_forms():
    _, conv, norm = relu_conv_bn(2, 4, 3, stride=2)
    assert conv.bias is None
    assert (conv.stride, conv.padding, norm.affine, norm.track_running_stats) == ((2, 2), (1, 1), True, True)
    _, conv, norm = relu_conv_bn(2, 4, 1, affine=False)
    assert conv.bias is not None
    assert (conv.padding, norm.affine, norm.track_running_stats) == ((0, 0), False, False)


def test_avg_pool_averages_what_lies_inside():
    assert torch.allclose(avg_pool_3x3()(torch.ones(1, 1, 5, 5)), torch.ones(1, 1, 5, 5))


@pytest.mark.parametrize(("size", "halved"), [((8, 8), (4, 4)), ((7, 5), (4, 3)), ((1, 2), (1, 1))])
def test_reduction_takes_any_size(size, halved):
    assert Reduction(3, 6)(torch.randn(2, 3, *size)).shape == (2, 6, *halved)


def test_reduction_on_even_sizes_is_the_plain_residual_block():
    block = Reduction(3, 6).eval()
    x = torch.randn(2, 3, 8, 6)
    shortcut = F.conv2d(F.avg_pool2d(x, 2), block.shortcut[1].weight)
    assert torch.allclose(block(x), shortcut + block.main(x), atol=1e-6)


def test_an_odd_edge_is_an_average_of_what_there_is():
    pool = Reduction(1, 1).shortcut[0]
    x = torch.arange(9.0).reshape(1, 1, 3, 3)
    assert pool(x).flatten().tolist() == [2.0, 3.5, 6.5, 8.0]


def test_no_block_works_in_place():
    for block in (Zero(), relu_conv_bn(3, 3, 3), Reduction(3, 3), avg_pool_3x3()):
        x = torch.randn(2, 3, 4, 4)
        kept = x.clone()
        block(x)
        assert torch.equal(x, kept)
        assert all(isinstance(part, nn.Module) for part in block.modules())


def test_image_shape():
    assert image_shape(Task((3, 5, 7)), "x") == (3, 5, 7)
    with pytest.raises(InputError, match="space x takes images: input shape 13, expected channels x height x width"):
        image_shape(Task((13,)), "x")
