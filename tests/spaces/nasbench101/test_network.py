from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from foresee.errors import InputError
from foresee.spaces.counting import measure
from foresee.spaces.nasbench101 import Architecture, NASBench101
from foresee.spaces.nasbench101.network import Cell, vertex_widths
from foresee.task import Task

CIFAR = Task((3, 32, 32), 10)


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("conv1x1@0+conv3x3@0+conv3x3@0+conv3x3@3+maxpool3x3@0+output@1,2,4,5", 2_694_282),
        ("conv3x3@0+conv3x3@1+output@0,2", 20_346_506),
        ("conv3x3@0+output@1", 10_177_674),
        ("output@0", 882_570),
    ],
)
def test_published_parameters(text: str, params: int):
    space = NASBench101()
    cell = space.parse(text)
    assert space.counts(cell, CIFAR).params == params
    with torch.device("meta"):
        assert sum(p.numel() for p in space.build(cell, CIFAR).parameters()) == params


def test_hundred_classes():
    space = NASBench101()
    cell = space.named["ResNet"]
    more = space.counts(cell, Task((3, 32, 32), 100)).params - space.counts(cell, CIFAR).params
    assert more == 90 * (512 + 1)


@pytest.mark.parametrize(
    ("text", "outputs", "widths"),
    [
        ("conv3x3@0+conv3x3@0+conv3x3@0+output@1,2,3", 128, [43, 43, 42]),
        ("conv3x3@0+conv3x3@1+conv3x3@1+conv3x3@1+output@2,3,4", 128, [43, 43, 43, 42]),
        ("conv3x3@0+conv3x3@0+conv3x3@2+output@1,3", 7, [4, 3, 3]),
        ("output@0", 128, []),
    ],
)
def test_widths(text: str, outputs: int, widths: list[int]):
    assert vertex_widths(Architecture.parse(text), outputs) == widths


def test_a_cell_by_hand():
    """Projections, sums, truncation (vertex 1 is a channel wider than vertex 3), join, and the input added to it."""
    torch.manual_seed(0)
    cell = Cell(Architecture.parse("conv3x3@0+maxpool3x3@1+conv1x1@0,1+output@0,2,3"), 5, 9)
    assert cell.widths == (5, 5, 5, 4, 9)
    x = torch.randn(2, 5, 6, 6)
    first = cell.ops["1"](cell.projections["1"](x))
    second = nn.functional.max_pool2d(first, 3, 1, 1)
    third = cell.ops["3"](first[:, :4] + cell.projections["3"](x))
    torch.testing.assert_close(cell(x), torch.cat([second, third], 1) + cell.projections["4"](x))
    assert cell.projections.keys() == {"1", "3", "4"}
    kinds = [type(module) for module in cell.ops["1"]]
    assert kinds == [nn.Conv2d, nn.BatchNorm2d, nn.ReLU]


def test_only_input_to_output_is_a_projection():
    cell = Cell(Architecture.parse("output@0"), 3, 8)
    x = torch.randn(2, 3, 4, 4)
    torch.testing.assert_close(cell(x), cell.projections["1"](x))


def test_stages():
    space = NASBench101(channels=8, cells=2)
    network = space.build(space.named["Inception"], Task((3, 13, 9), 10)).eval()
    shapes = [tuple(m.shape[1:]) for m in network.stages(torch.randn(1, 3, 13, 9))]
    stack = [(8, 13, 9)] * 3, [(8, 7, 5), *[(16, 7, 5)] * 2], [(16, 4, 3), *[(32, 4, 3)] * 2]
    assert shapes == [shape for part in stack for shape in part]
    assert network.pre_gap(torch.randn(1, 3, 13, 9)).shape == (1, 32, 4, 3)


def test_first_weights():
    cell = NASBench101().parse("conv3x3@0+output@1")
    torch.manual_seed(0)
    benchmark = NASBench101(channels=32, cells=1, stacks=1).build(cell, CIFAR)
    conv = benchmark.layers[0].ops["1"][0]
    fan_in = 32 * 9
    assert conv.weight.std().item() == pytest.approx(1 / math.sqrt(fan_in), rel=0.05)
    assert conv.weight.abs().max().item() <= 2 / math.sqrt(fan_in) / 0.8796 + 1e-6
    assert benchmark.stem[1].momentum == 0.003
    reference = NASBench101(channels=32, cells=1, stacks=1, variant="reference").build(cell, CIFAR)
    assert reference.layers[0].ops["1"][0].weight.std().item() == pytest.approx(math.sqrt(2 / fan_in), rel=0.05)
    assert reference.classifier.weight.std().item() == pytest.approx(0.01, rel=0.2)
    assert reference.stem[1].momentum == 0.1
    assert not reference.classifier.bias.any()
    assert not benchmark.classifier.bias.any()


@pytest.mark.parametrize("shape", [(1, 7, 5), (4, 1, 1), (3, 16, 16)])
def test_any_image(shape: tuple[int, ...]):
    space, task = NASBench101(channels=6, cells=2, stacks=4), Task(shape, 3)
    cell = space.named["Inception"]
    assert space.counts(cell, task) == measure(lambda: space.build(cell, task), task)


def test_no_image():
    space = NASBench101()
    for use in (space.build, space.counts):
        with pytest.raises(InputError, match="takes images"):
            use(space.named["ResNet"], Task((16,), 2))
