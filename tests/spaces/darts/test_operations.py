"""Operations against plain formulas, at even and odd sizes; their counts against what they hold."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from foresee.errors import UnknownNameError
from foresee.spaces.counting import measure
from foresee.spaces.darts import operations
from foresee.spaces.darts.cells import OLDER_OPS, OPS
from foresee.task import Task


@pytest.mark.parametrize("search", [False, True])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("op", OPS + OLDER_OPS)
def test_shapes_and_counts(op, stride, search):
    for channels, height, width in ((4, 8, 8), (3, 7, 5), (1, 1, 2)):
        task = Task((channels, height, width), 1)
        module = operations.make(op, channels, stride, search=search).eval()
        out = module(torch.randn(2, *task.inputs))
        assert out.shape == (2, channels, -(-height // stride), -(-width // stride))
        found = measure(lambda: operations.make(op, channels, stride, search=search), task)  # noqa: B023
        assert operations.count(op, channels, stride, (height, width), not search) == found


def normed(x):
    return F.batch_norm(x, None, None, training=True)


def test_separable_convolution_is_relu_depthwise_pointwise_norm_twice():
    x = torch.randn(3, 4, 9, 9)
    op = operations.make("sep_conv_5x5", 4, 2)
    one, two, three, four = (parameter for parameter in op.parameters() if parameter.ndim == 4)
    half = normed(F.conv2d(F.conv2d(F.relu(x), one, stride=2, padding=2, groups=4), two))
    torch.testing.assert_close(op(x), normed(F.conv2d(F.conv2d(F.relu(half), three, padding=2, groups=4), four)))


@pytest.mark.parametrize(("op", "padding"), [("dil_conv_3x3", 2), ("dil_conv_5x5", 4)])
def test_dilated_convolution_has_dilation_two(op, padding):
    x = torch.randn(3, 4, 8, 8)
    module = operations.make(op, 4, 2)
    depthwise, pointwise = (parameter for parameter in module.parameters() if parameter.ndim == 4)
    mixed = F.conv2d(F.relu(x), depthwise, stride=2, padding=padding, dilation=2, groups=4)
    torch.testing.assert_close(module(x), normed(F.conv2d(mixed, pointwise)))


def test_pools_average_what_lies_inside_and_have_a_norm_in_search_only():
    x = torch.ones(2, 1, 4, 4)
    assert torch.equal(operations.make("avg_pool_3x3", 1, 1)(x), x)
    x = torch.randn(2, 3, 6, 6)
    for op in ("avg_pool_3x3", "max_pool_3x3"):
        plain, search = operations.make(op, 3, 2), operations.make(op, 3, 2, search=True)
        torch.testing.assert_close(search(x), normed(plain(x)))
        assert not list(search.parameters())


@pytest.mark.parametrize("size", [(6, 6), (7, 4), (5, 5)])
def test_factorized_reduce_reads_even_and_odd_pixels(size):
    x = torch.randn(2, 3, *size)
    reduce = operations.FactorizedReduce(3, 5)
    grown = F.pad(F.relu(x), (0, 1, 0, 1))
    even = torch.einsum("oi,bihw->bohw", reduce.even.weight[:, :, 0, 0], grown[:, :, : size[0] : 2, : size[1] : 2])
    odd = torch.einsum("oi,bihw->bohw", reduce.odd.weight[:, :, 0, 0], grown[:, :, 1::2, 1::2])
    torch.testing.assert_close(reduce(x), normed(torch.cat([even, odd], 1)))


def test_seven_by_one():
    x = torch.randn(2, 2, 8, 8)
    module = operations.make("conv_7x1_1x7", 2, 2)
    first, second = (parameter for parameter in module.parameters() if parameter.ndim == 4)
    assert first.shape == (2, 2, 1, 7)
    assert second.shape == (2, 2, 7, 1)
    wide = F.conv2d(F.relu(x), first, stride=(1, 2), padding=(0, 3))
    torch.testing.assert_close(module(x), normed(F.conv2d(wide, second, stride=(2, 1), padding=(3, 0))))


def test_search_form_has_norms_without_scale():
    for op in OPS:
        module = operations.make(op, 4, 2, search=True)
        assert all(parameter.ndim == 4 for parameter in module.parameters())


def test_unknown_operation():
    with pytest.raises(UnknownNameError, match="skip_connect"):
        operations.make("skip", 4, 1)
