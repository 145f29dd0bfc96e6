"""Mobile networks: shapes, activations, gates, widths."""

from __future__ import annotations

import torch
from torch import nn

from foresee.spaces.bottlenecks import HardSigmoid, SqueezeExcite
from foresee.spaces.mobile import Mobile
from foresee.spaces.mobile.network import Place, rounded
from foresee.task import Task


def kinds(module):
    return {type(one) for one in module.modules() if not list(one.children())}


def test_shapes():
    space = Mobile(widths=(4, 6), strides=(1, 2), stem=5, first=3, head=7)
    network = space.build(space.parse("e3k3x2:e6k5s"), Task((3, 17, 12), 5))
    shapes = [tuple(one.shape[1:]) for one in network.stages(torch.randn(2, 3, 17, 12))]
    assert shapes == [(5, 9, 6), (3, 9, 6), (4, 9, 6), (4, 9, 6), (6, 5, 3), (7, 5, 3)]
    assert network(torch.randn(2, 3, 17, 12)).shape == (2, 5)


def test_mobilenet_v3_has_relus_first_and_cheap_gates():
    space = Mobile(design="mobilenet_v3")
    with torch.device("meta"):
        network = space.build(space.named["MobileNetV3_Large"], Task((3, 32, 32), 10))
    assert nn.ReLU in kinds(network.blocks[1])
    assert nn.Hardswish not in kinds(network.blocks[1])
    assert nn.ReLU not in kinds(network.blocks[2])
    assert nn.Hardswish in kinds(network.stem) & kinds(network.blocks[2]) & kinds(network.classifier)
    assert nn.ReLU in kinds(network.first)
    assert HardSigmoid in kinds(network.blocks[3])
    widths = [layer.look[0].in_channels for layer in network.layers]
    assert widths == [64, 72, 72, 120, 120, 240, 200, 184, 184, 480, 672, 672, 960, 960]
    gates = [one.squeeze.reduce.out_channels for one in network.layers if isinstance(one.squeeze, SqueezeExcite)]
    assert gates == [24, 32, 32, 120, 168, 168, 240, 240]


def test_mnasnet_squeezes_by_what_a_layer_reads():
    place = Place(1, 0, 24, 40, 2)
    assert place.squeezed(place.hidden(3), Mobile().form) == 6
    assert place.squeezed(place.hidden(3), Mobile(design="ofa").form) == rounded(72 // 4) == 24


def test_an_expansion_of_one_widens_nothing():
    assert Place(0, 0, 10, 16, 2).hidden(1) == 10
    assert Place(0, 0, 10, 16, 2).hidden(1.5) == 16
