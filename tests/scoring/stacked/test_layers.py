from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresee.probes.jets import taylor
from foresee.scoring.stacked.layers import Curve, Samples, convolved, halved, joined, pooled, shifted, tiled
from foresee.spaces.transnas.heads import Join, Tiles


def maps(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(("kernel", "stride", "size"), [(1, 1, 5), (3, 1, 5), (3, 2, 6), (3, 2, 5)])
def test_every_architecture_has_a_convolution_of_its_own_forward_and_back(kernel, stride, size):
    x, weights = maps(3, 2, 4, size, size).requires_grad_(), maps(3, 5, 2 * kernel**2).requires_grad_()
    found = convolved(x, weights, kernel, stride)
    with torch.no_grad():
        torch.testing.assert_close(convolved(x, weights, kernel, stride), found)
    for own, weight, out in zip(x, weights, found, strict=True):
        filters = weight.view(5, 2, kernel, kernel)
        plain = F.conv2d(own.transpose(0, 1), filters, stride=stride, padding=kernel // 2)
        torch.testing.assert_close(plain, out.transpose(0, 1))
    small = x[:2, :1, :1].detach().requires_grad_(), weights[:2, :2, : kernel**2].detach().requires_grad_()
    assert torch.autograd.gradcheck(lambda *given: convolved(*given, kernel, stride), small)


@pytest.mark.parametrize(("kernel", "stride", "size"), [(1, 1, 5), (3, 1, 5), (5, 2, 6), (5, 2, 5), (3, 2, 1)])
@pytest.mark.parametrize(("groups", "filters"), [(6, 6), (3, 6), (2, 4)])
def test_filters_that_read_fewer_channels_than_there_are_are_in_groups(kernel, stride, size, groups, filters):
    x, weights = maps(3, 6, 4, size, size).requires_grad_(), maps(3, filters, 6 // groups * kernel**2).requires_grad_()
    found = convolved(x, weights, kernel, stride)
    kernels = weights.view(3, filters, -1, kernel, kernel)
    plain = [
        F.conv2d(own.transpose(0, 1), one, stride=stride, padding=kernel // 2, groups=groups).transpose(0, 1)
        for own, one in zip(x, kernels, strict=True)
    ]
    torch.testing.assert_close(found, torch.stack(plain))
    along = maps(*found.shape)
    ours, theirs = (torch.autograd.grad((out * along).sum(), (x, weights)) for out in (found, torch.stack(plain)))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(("kernel", "stride", "size"), [(3, 1, 5), (5, 1, 3), (5, 2, 6), (3, 2, 5)])
@pytest.mark.parametrize("groups", [4, 1])
def test_dilated_filters_read_every_second_position(kernel, stride, size, groups):
    x, weights = maps(3, 4, 2, size, size).requires_grad_(), maps(3, 4, 4 // groups * kernel**2).requires_grad_()
    found = convolved(x, weights, kernel, stride, dilation=2)
    plain = [
        F.conv2d(own.transpose(0, 1), one, None, stride, 2 * (kernel // 2), 2, groups).transpose(0, 1)
        for own, one in zip(x, weights.view(3, 4, -1, kernel, kernel), strict=True)
    ]
    torch.testing.assert_close(found, torch.stack(plain))
    along = maps(*found.shape)
    ours, theirs = (torch.autograd.grad((out * along).sum(), (x, weights)) for out in (found, torch.stack(plain)))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("read", [2, 1])
def test_one_map_for_all_architectures(read):
    x, weights = maps(1, 2, 3, 4, 4), maps(3, 6, 9 * read)
    torch.testing.assert_close(convolved(x, weights, 3), convolved(x.expand(3, -1, -1, -1, -1), weights, 3))


def test_norms_and_pools_are_those_of_each_architecture_alone():
    x = maps(3, 2, 4, 5, 5)
    for own, normed, average, half in zip(x, Samples().norm(x), pooled(x), halved(x), strict=True):
        plain = own.transpose(0, 1)
        torch.testing.assert_close(F.batch_norm(plain, None, None, training=True), normed.transpose(0, 1))
        near = F.avg_pool2d(plain, 3, stride=1, padding=1, count_include_pad=False)
        torch.testing.assert_close(near, average.transpose(0, 1))
        torch.testing.assert_close(F.avg_pool2d(plain, 2, ceil_mode=True), half.transpose(0, 1))


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [(5, 6), (1, 3)])
def test_the_greatest_neighbour_is_that_of_each_architecture_alone_and_curves_and_gradients_follow_it(stride, size):
    x, pool = maps(3, 2, 6, *size).relu().requires_grad_(), torch.nn.MaxPool2d(3, stride, 1)  # zeros tie
    found, average = Samples().greatest(x, stride), pooled(x, stride)
    curve = Curve().greatest(x.detach(), stride)
    for own, most, mean, moved in zip(x, found, average, curve, strict=True):
        plain = own.transpose(0, 1)
        assert torch.equal(pool(plain), most.transpose(0, 1))
        near = F.avg_pool2d(plain, 3, stride, padding=1, count_include_pad=False)
        torch.testing.assert_close(near, mean.transpose(0, 1))
        expected = taylor(pool, *plain.detach().split(2))  # two pieces
        assert torch.equal(torch.cat(expected), moved.transpose(0, 1))
    along = maps(*found.shape)
    (ours,) = torch.autograd.grad((found * along).sum(), x)
    theirs = torch.autograd.grad(
        sum((pool(own.transpose(0, 1)).transpose(0, 1) * one).sum() for own, one in zip(x, along, strict=True)), x
    )
    assert torch.equal(ours, theirs[0])


@pytest.mark.parametrize("size", [(4, 6), (5, 5), (4, 5)])
def test_every_second_position_of_a_shifted_map_is_one_that_the_even_ones_leave_out(size):
    x = maps(2, 3, 4, *size)
    grown = F.pad(x, (0, 1, 0, 1))
    expected = grown[..., 1::2, 1::2][..., : (size[0] + 1) // 2, : (size[1] + 1) // 2]
    assert torch.equal(shifted(x)[..., ::2, ::2], expected)


def test_tiles_and_what_is_joined_of_them_are_those_of_the_head():
    x, features = maps(1, 3, 2, 10, 11), maps(4, 5, 18, 1, 1)
    assert torch.equal(tiled(x)[0].transpose(0, 1), Tiles()(x[0].transpose(0, 1)))
    for own, found in zip(features, joined(features), strict=True):
        assert torch.equal(found[..., 0, 0].T, Join()(own[..., 0, 0].T))


def test_the_pieces_of_a_sample_share_the_norms_of_a_curve():
    curve = maps(3, 4, 6, 2, 2)
    norm = torch.nn.BatchNorm2d(4).double()
    found = Curve().norm(curve)
    for own, normed in zip(curve, found, strict=True):
        plain = own.transpose(0, 1)
        expected = taylor(_Together(norm), *(plain[start : start + 2][None] for start in (0, 2, 4)))
        torch.testing.assert_close(torch.cat([one[0] for one in expected]), normed.transpose(0, 1))


def test_a_function_of_torch_goes_along_curves_by_the_rules_of_jets():
    x, other = maps(2, 3, 6, 4, 5), maps(2, 3, 6, 5, 4)  # two pieces
    product = Curve().through(torch.matmul, x, other)
    gelu = Curve().through(F.gelu, x)
    assert torch.equal(Samples().through(torch.matmul, x, other), x @ other)
    for place in range(2):
        own, second = (one[place].transpose(0, 1) for one in (x, other))
        torch.testing.assert_close(torch.cat(taylor(torch.nn.GELU(), *own.split(2))), gelu[place].transpose(0, 1))
        pairs = [(own[start : start + 2], second[start : start + 2]) for start in (0, 2, 4)]
        expected = torch.cat(taylor(_Product(), *pairs))
        torch.testing.assert_close(expected, product[place].transpose(0, 1))


class _Product(torch.nn.Module):
    def forward(self, first, second):
        return first @ second


class _Together(torch.nn.Module):
    """Two pieces of one sample through a norm."""

    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x):
        return self.norm(x[0])[None]
