"""The networks of NAS-Bench-201: operations, edges, and three stages of cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import Tensor, nn

from foresee.spaces.blocks import Reduction, Zero, avg_pool_3x3, image_shape, relu_conv_bn
from foresee.spaces.darts.network import Partial
from foresee.spaces.four_nodes import Cell
from foresee.spaces.nasbench201.architecture import Architecture
from foresee.task import Task

VARIANTS = ("benchmark", "reference")

MAKERS: Mapping[str, Callable[[int, bool], nn.Module]] = {
    "none": lambda channels, affine: Zero(),
    "avg_pool_3x3": lambda channels, affine: avg_pool_3x3(),
    "nor_conv_3x3": lambda channels, affine: relu_conv_bn(channels, channels, 3, affine=affine),
    "nor_conv_1x1": lambda channels, affine: relu_conv_bn(channels, channels, 1, affine=affine),
    "skip_connect": lambda channels, affine: nn.Identity(),
}


class MaskedEdge(nn.Module):
    """An edge of the reference variant: all five operations are there, one is used."""

    def __init__(self, op: str, channels: int) -> None:
        super().__init__()
        self.op = op
        self.ops = nn.ModuleDict({name: make(channels, False) for name, make in MAKERS.items()})

    def forward(self, x: Tensor) -> Tensor:
        """The used operation's output, of the input's shape."""
        out: Tensor = self.ops[self.op](x)
        return out


def make_edge(op: str, channels: int, variant: str) -> nn.Module:
    """The module of one edge, shape kept."""
    return MaskedEdge(op, channels) if variant == "reference" else MAKERS[op](channels, True)


class Network(nn.Module):
    """The whole network; `cells` holds cells and reductions in order. `make` gives a cell of the width asked for."""

    def __init__(self, task: Task, channels: int, cells: int, make: Callable[[int], nn.Module]) -> None:
        super().__init__()
        inputs = image_shape(task, "nasbench201")[0]
        widths = (channels, 2 * channels, 4 * channels)
        self.stem = nn.Sequential(nn.Conv2d(inputs, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))
        self.cells = nn.ModuleList()
        for stage, width in enumerate(widths):
            if stage:
                self.cells.append(Reduction(widths[stage - 1], width))
            self.cells.extend(make(width) for _ in range(cells))
        self.last = nn.Sequential(nn.BatchNorm2d(widths[-1]), nn.ReLU())
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(1))
        self.classifier = nn.Linear(widths[-1], task.outputs)

    def stages(self, x: Tensor) -> list[Tensor]:
        """Output of the stem, then of each cell and reduction."""
        maps: list[Tensor] = [self.stem(x)]
        for cell in self.cells:
            maps.append(cell(maps[-1]))
        return maps

    def pre_gap(self, x: Tensor) -> Tensor:
        """The map before global pooling, (B, 4C, H/4, W/4)."""
        x = self.stem(x)
        for cell in self.cells:
            x = cell(x)
        out: Tensor = self.last(x)
        return out

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to logits (B, outputs)."""
        logits: Tensor = self.classifier(self.pool(self.pre_gap(x)))
        return logits


def build(
    architecture: Architecture, task: Task, channels: int, cells: int, variant: str, *, partial: int = 1
) -> Network:
    """The network of one architecture; with `partial`, only one in so many channels passes through the operations."""

    def make(width: int) -> Cell:
        edges = [make_edge(op, width // partial, variant) for op in architecture.ops]
        if partial == 1:
            return Cell(architecture.ops, edges)
        return Cell(architecture.ops, [Partial(edge, partial, 1) for edge in edges], every=True)

    return Network(task, channels, cells, make)
