"""The frame around cells and reductions."""

from __future__ import annotations

import torch
from torch import nn

from foresee.spaces.four_nodes import CellNetwork


def test_the_frame():
    network = CellNetwork(3, (4, 6), lambda: [nn.Conv2d(4, 6, 1), nn.AvgPool2d(2)], 5).eval()
    x = torch.randn(2, 3, 8, 8)
    assert [tuple(stage.shape) for stage in network.stages(x)] == [(2, 4, 8, 8), (2, 6, 8, 8), (2, 6, 4, 4)]
    assert torch.equal(network.pre_gap(x), network.last(network.stages(x)[-1]))
    assert torch.equal(network(x), network.classifier(network.pre_gap(x).mean((2, 3))))


def test_first_weights_are_drawn_from_front_to_back():
    torch.manual_seed(0)
    network = CellNetwork(3, (4, 4), lambda: [nn.Conv2d(4, 4, 3)], 5)
    torch.manual_seed(0)
    for built, expected in (
        (network.stem[0], nn.Conv2d(3, 4, 3, bias=False)),
        (network.cells[0], nn.Conv2d(4, 4, 3)),
        (network.classifier, nn.Linear(4, 5)),
    ):
        assert torch.equal(built.weight, expected.weight)
