"""The networks of NAS-Bench-201 against those of the golden values, and what they compute."""

from __future__ import annotations

import random

import pytest
import torch
from tests.golden.networks import CellNetwork
from tests.spaces.nasbench201.drawn import SPACE, uniform

from foresee.errors import InputError
from foresee.spaces.nasbench201 import Architecture, NASBench201
from foresee.task import Task

CIFAR10 = Task((3, 32, 32), 10)


@pytest.mark.parametrize("inputs", [(1, 16, 16), (3, 32, 32), (3, 64, 64), (4, 17, 9), (3, 5, 5)], ids=str)
def test_any_input_and_outputs(inputs):
    space, task = NASBench201(channels=2, cells=1), Task(inputs, 7)
    for cell in (uniform("nor_conv_3x3"), uniform("none"), space.named["ResNet"]):
        network = space.build(cell, task)
        x = torch.randn(2, *inputs)
        assert network(x).shape == (2, 7)
        maps = network.stages(x)
        assert len(maps) == 1 + 5
        assert network.pre_gap(x).shape == maps[-1].shape == (2, 8, -(-inputs[1] // 4), -(-inputs[2] // 4))


def test_tasks_that_are_no_images_are_refused():
    for use in (SPACE.build, SPACE.counts):
        with pytest.raises(InputError, match="space nasbench201 takes images: input shape 20"):
            use(uniform("none"), Task((20,), 2))


def test_networks_equal_the_golden_one():
    rng = random.Random(3)
    space = NASBench201(channels=8, cells=1)
    chosen = [space.sample(rng) for _ in range(6)] + [uniform("none"), space.named["ResNet"]]
    for number, cell in enumerate(chosen):
        torch.manual_seed(number)
        theirs = CellNetwork(str(cell), channels=8).double()
        ours = space.build(cell, CIFAR10).double()
        with torch.no_grad():
            for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
                mine.copy_(other)
        x = torch.randn(3, 3, 16, 16, dtype=torch.float64)
        for mine, other in zip(ours.stages(x), theirs.stages(x), strict=True):
            assert torch.allclose(mine, other, atol=1e-10)
        assert torch.allclose(ours.pre_gap(x), theirs.pre_gap(x), atol=1e-10)
        outputs = ours(x), theirs(x)
        assert torch.allclose(*outputs, atol=1e-10)
        for out in outputs:
            out.square().sum().backward()
        for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            zero = torch.zeros_like(mine)
            assert torch.allclose(zero if mine.grad is None else mine.grad, zero if other.grad is None else other.grad)


def test_every_operation_is_a_module_and_none_costs_nothing():
    cell = Architecture(("none", "skip_connect", "none", "nor_conv_1x1", "avg_pool_3x3", "none"))
    network = NASBench201(channels=2, cells=1).build(cell, CIFAR10)
    kinds = [type(edge).__name__ for edge in network.cells[0].edges]
    assert kinds == ["Zero", "Identity", "Zero", "Sequential", "AvgPool2d", "Zero"]
    called = []
    for number, edge in enumerate(network.cells[0].edges):
        edge.register_forward_hook(lambda module, args, out, number=number: called.append(number))
    network(torch.randn(2, 3, 8, 8))
    assert called == [0, 1, 3, 4]  # node 1 has only a zero, which gives its value; the other zeros are not computed


def test_a_disconnected_cell_is_constant_and_keeps_its_input_in_the_graph():
    network = NASBench201(channels=2, cells=1).build(uniform("none"), CIFAR10).eval()
    x = torch.randn(2, 3, 8, 8, requires_grad=True)
    out = network(x)
    assert torch.allclose(out[0], out[1])
    out.sum().backward()
    assert not x.grad.any()


def test_the_reference_variant():
    space = NASBench201(channels=4, cells=1, variant="reference")
    cell = space.named["ResNet"]
    network = space.build(cell, CIFAR10)
    inside = [m for c in (network.cells[0], network.cells[4]) for m in c.modules()]
    norms = [m for m in inside if isinstance(m, torch.nn.BatchNorm2d)]
    convs = [m for m in inside if isinstance(m, torch.nn.Conv2d)]
    assert len(convs) == len(norms) == 2 * 6 * 2
    assert not any(norm.affine or norm.track_running_stats for norm in norms)
    assert all(conv.bias is not None for conv in convs)
    assert all(m.bias is None for m in network.cells[1].modules() if isinstance(m, torch.nn.Conv2d))
    counts = {space.counts(one, CIFAR10).params for one in map(space.sample, map(random.Random, range(20)))}
    assert counts == {sum(p.numel() for p in network.parameters())}  # the count of the supernet, whatever the cell
