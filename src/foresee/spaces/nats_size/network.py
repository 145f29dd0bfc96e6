"""The networks of the size space of NATS-Bench: the fixed cell, and three of them with two reductions between."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from foresee.spaces.blocks import Reduction, image_shape, relu_conv_bn
from foresee.spaces.four_nodes import EDGES, Cell
from foresee.spaces.nats_size.architecture import Architecture, blocks
from foresee.task import Task

#: the fixed cell: the operation of each edge of NAS-Bench-201
OPS = ("nor_conv_3x3", "nor_conv_3x3", "nor_conv_3x3", "skip_connect", "nor_conv_3x3", "nor_conv_3x3")


def make_cell(inputs: int, outputs: int) -> Cell:
    """The fixed cell. Edges from its input may change the width; the skip is then a 1x1 convolution with batch norm."""
    return Cell(OPS, [_make_edge(op, inputs if source == 0 else outputs, outputs) for (source, _), op in _edges()])


def _edges() -> Iterator[tuple[tuple[int, int], str]]:
    return zip(EDGES, OPS, strict=True)


def _make_edge(op: str, inputs: int, outputs: int) -> nn.Module:
    if op == "nor_conv_3x3":
        return relu_conv_bn(inputs, outputs, 3)
    if inputs == outputs:
        return nn.Identity()
    return nn.Sequential(nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs))


class Network(nn.Module):
    """The whole network; `cells` holds cells and reductions in order."""

    def __init__(self, architecture: Architecture, task: Task) -> None:
        super().__init__()
        inputs, first, last = (
            image_shape(task, "nats_size")[0],
            architecture.channels[0],
            architecture.channels[-1],
        )
        self.stem = nn.Sequential(nn.Conv2d(inputs, first, 3, padding=1, bias=False), nn.BatchNorm2d(first))
        self.cells = nn.ModuleList(
            Reduction(before, after) if reduces else make_cell(before, after)
            for before, after, reduces in blocks(architecture)
        )
        self.last = nn.Sequential(nn.BatchNorm2d(last), nn.ReLU())
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(1))
        self.classifier = nn.Linear(last, task.outputs)

    def stages(self, x: Tensor) -> list[Tensor]:
        """Output of the stem, then of each cell and reduction."""
        maps: list[Tensor] = [self.stem(x)]
        for cell in self.cells:
            maps.append(cell(maps[-1]))
        return maps

    def pre_gap(self, x: Tensor) -> Tensor:
        """The map before global pooling, (B, c5, H/4, W/4)."""
        out: Tensor = self.last(self.stages(x)[-1])
        return out

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to logits (B, outputs)."""
        logits: Tensor = self.classifier(self.pool(self.pre_gap(x)))
        return logits
