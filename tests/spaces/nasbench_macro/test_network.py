"""The networks of NAS-Bench-Macro, layer by layer, and beside one that is written down a second time."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from foresee.spaces.nasbench_macro import NASBenchMacro
from foresee.spaces.nasbench_macro.network import Place, make_layer, places
from foresee.task import Task


def test_shapes():
    space = NASBenchMacro(channels=2, head=6)
    network = space.build(space.parse("10210012"), Task((3, 17, 12), 5))
    maps = network.stages(torch.randn(2, 3, 17, 12))
    shapes = [tuple(one.shape[1:]) for one in maps]
    assert shapes == [(2, 17, 12), *[(4, 9, 6)] * 2, *[(8, 5, 3)] * 3, *[(16, 3, 2)] * 3, (6, 3, 2)]
    assert network(torch.randn(2, 3, 17, 12)).shape == (2, 5)


def test_widths_of_the_benchmark():
    assert places(32)[0] == Place(32, 64, 2)
    assert [place.outputs for place in places(32)] == [64] * 2 + [128] * 3 + [256] * 3
    assert [place.stride for place in places(32)] == [2, 1, 2, 1, 1, 2, 1, 1]


def test_identities():
    assert isinstance(make_layer("identity", Place(4, 4, 1)), nn.Identity)
    conv, norm = make_layer("identity", Place(4, 8, 2))
    assert (conv.kernel_size, conv.stride, conv.bias, norm.num_features) == ((1, 1), (2, 2), None, 8)


def test_a_network_by_hand():
    """Every tensor taken in the order in which the network holds it."""
    torch.manual_seed(0)
    space, text = NASBenchMacro(channels=2, head=5), "02010000"
    network = space.build(space.parse(text), Task((3, 8, 8), 3)).train()
    x = torch.randn(4, 3, 8, 8)
    held = iter(network.parameters())

    def conv(x, stride=1, depthwise=False):
        weight = next(held)
        x = F.conv2d(x, weight, None, stride, weight.shape[-1] // 2, groups=x.shape[1] if depthwise else 1)
        return F.batch_norm(x, None, None, next(held), next(held), training=True)

    out = F.relu(conv(x))
    out = conv(out, 2)  # 0 at the first layer of a stage
    out = out + conv(F.relu(conv(F.relu(conv(out)), depthwise=True)))  # 2
    out = conv(out, 2)
    out = out + conv(F.relu(conv(F.relu(conv(out)), depthwise=True)))  # 1
    out = conv(out, 2)
    out = F.relu(conv(out)).mean((2, 3))
    torch.testing.assert_close(network(x), F.linear(out, next(held), next(held)))
