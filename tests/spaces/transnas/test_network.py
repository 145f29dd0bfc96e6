"""Backbones of TransNAS-Bench-101: shapes, shape-changing operations, weights at the beginning."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.spaces.transnas import TransNASMacro, TransNASMicro
from foresee.spaces.transnas.network import Basic, Place, Zeros, make_op, places
from foresee.spaces.transnas.text import OPS
from foresee.task import Task


def test_places():
    assert places("41", 64) == [Place(64, 128, 2), Place(128, 128, 1), Place(128, 128, 1), Place(128, 128, 1)]
    assert places("23", 4)[::2] == [Place(4, 8, 1), Place(8, 8, 2)]


def test_maps_of_the_micro_skeleton():
    space = TransNASMicro(channels=4)
    network = space.build(space.parse("64-41414-3_33_333"), Task((3, 64, 40), 5))
    x = torch.randn(2, 3, 64, 40)
    shapes = [tuple(m.shape[1:]) for m in network.stages(x)]
    assert shapes[0] == (4, 16, 10)
    assert shapes[1:5] == [(8, 8, 5)] * 4
    assert shapes[5:9] == [(16, 4, 3)] * 4
    assert shapes[9:] == [(32, 2, 2)] * 2
    assert network.pre_gap(x).shape == (2, 32, 2, 2)
    assert network(x).shape == (2, 5)


def test_maps_of_a_macro_skeleton():
    space = TransNASMacro(channels=4)
    network = space.build(space.parse("64-1234-basic"), Task((3, 64, 64), 5))
    shapes = [tuple(m.shape[1:]) for m in network.stages(torch.randn(2, 3, 64, 64))]
    assert shapes[::2] == [(4, 16, 16), (4, 16, 16), (8, 16, 16), (8, 8, 8), (16, 4, 4)]


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("place", [Place(4, 4, 1), Place(4, 8, 2), Place(3, 6, 2)], ids=str)
@pytest.mark.parametrize("size", [(6, 8), (5, 7)], ids=str)
def test_operations_give_the_shape_of_their_place(op, place, size):
    x = torch.randn(2, place.inputs, *size, requires_grad=True)
    out = make_op(op, place)(x)
    assert out.shape == (2, place.outputs, *(-(-n // place.stride) for n in size))
    out.sum().backward()
    assert x.grad is not None
    if op == "none":
        assert not out.any()
        assert not x.grad.any()


def test_kinds_of_operations():
    keep, change = Place(4, 4, 1), Place(4, 8, 2)
    assert isinstance(make_op("skip_connect", keep), nn.Identity)
    assert type(make_op("skip_connect", change)).__name__ == "FactorizedReduce"
    assert isinstance(make_op("none", change), Zeros)
    relu, conv, norm = make_op("nor_conv_3x3", change)
    assert isinstance(relu, nn.ReLU)
    assert (conv.kernel_size, conv.stride, conv.bias) == ((3, 3), (2, 2), None)
    assert norm.affine


def test_basic_cells_by_hand():
    x = torch.randn(2, 4, 6, 6)
    keeps, changes, strides = Basic(Place(4, 4, 1)), Basic(Place(4, 8, 2)), Basic(Place(4, 4, 2))
    assert isinstance(keeps.shortcut, nn.Identity)
    for cell in (keeps, changes, strides):
        cell.eval()
        torch.testing.assert_close(cell(x), cell.main[1](cell.main[0](x)) + cell.shortcut(x))
    assert [type(m).__name__ for m in strides.shortcut] == ["Conv2d", "BatchNorm2d"]


def test_edges_from_the_input_change_the_shape_and_others_do_not():
    space = TransNASMicro(channels=4)
    first = space.build(space.parse("64-41414-3_33_333"), Task((3, 32, 32), 5)).cells[0]
    kinds = [(edge[1].in_channels, edge[1].out_channels, edge[1].stride[0]) for edge in first.edges]
    assert kinds == [(4, 8, 2), (4, 8, 2), (8, 8, 1), (4, 8, 2), (8, 8, 1), (8, 8, 1)]


def test_weights_at_the_beginning():
    """Kaiming's normal by fan out: the standard deviation is sqrt(2 / (outputs x kernel)); norms are 1 and 0."""
    torch.manual_seed(0)
    space = TransNASMicro(channels=32)
    network = space.build(space.parse("64-41414-3_23_333"), Task((3, 32, 32), 5))
    for edge, kernel in ((0, 9), (1, 1)):
        weight = network.cells[1].edges[edge][1].weight
        assert weight.std().item() == pytest.approx((2 / (64 * kernel)) ** 0.5, rel=0.05)
        assert abs(weight.mean().item()) < 0.01
    norms = [m for m in network.modules() if isinstance(m, nn.BatchNorm2d)]
    assert all(bool((norm.weight == 1).all()) and not norm.bias.any() for norm in norms)


def test_a_disconnected_cell_keeps_the_stem_in_the_graph():
    space = TransNASMicro(channels=2)
    network = space.build(space.parse("64-41414-0_00_000"), Task((3, 32, 32), 5)).eval()
    x = torch.randn(2, 3, 32, 32, requires_grad=True)
    out = network(x)
    assert torch.equal(out[0], out[1])
    out.sum().backward()
    assert not x.grad.any()
    assert all(parameter.grad is not None for parameter in network.parameters())
