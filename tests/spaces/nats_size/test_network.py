"""The networks of the size space, by hand."""

from __future__ import annotations

import torch

from foresee.spaces.nats_size import Architecture, NATSSize
from foresee.task import Task


def test_maps_and_the_kinds_of_skip():
    network = NATSSize(step=1).build(Architecture((2, 3, 3, 4, 6)), Task((1, 12, 10), 7))
    shapes = [tuple(m.shape[1:]) for m in network.stages(torch.randn(2, 1, 12, 10))]
    assert shapes == [(2, 12, 10), (2, 12, 10), (3, 6, 5), (3, 6, 5), (4, 3, 3), (6, 3, 3)]
    assert network.pre_gap(torch.randn(2, 1, 12, 10)).shape == (2, 6, 3, 3)
    skips = [type(network.cells[layer].edges[3]).__name__ for layer in (0, 2, 4)]
    assert skips == ["Identity", "Identity", "Sequential"]


def test_the_cell_by_hand():
    cell = NATSSize(step=1).build(Architecture((2, 3, 5, 4, 6)), Task((3, 32, 32), 10)).cells[2].eval()
    x, e = torch.randn(2, 3, 4, 4), cell.edges
    one = e[0](x)
    two = e[1](x) + e[2](one)
    torch.testing.assert_close(cell(x), e[3](x) + e[4](one) + e[5](two))
    kinds = [type(m).__name__ for m in e[3]]
    assert kinds == ["Conv2d", "BatchNorm2d"]
