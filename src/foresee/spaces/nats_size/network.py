"""The networks of the size space of NATS-Bench: the fixed cell, and three of them with two reductions between."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from foresee.spaces.blocks import Reduction, image_shape, relu_conv_bn
from foresee.spaces.four_nodes import EDGES, Cell, CellNetwork
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


class Network(CellNetwork):
    """The whole network: cells and reductions as wide as the architecture says."""

    def __init__(self, architecture: Architecture, task: Task) -> None:
        def row() -> Iterator[nn.Module]:
            for before, after, reduces in blocks(architecture):
                yield Reduction(before, after) if reduces else make_cell(before, after)

        widths = architecture.channels[0], architecture.channels[-1]
        super().__init__(image_shape(task, "nats_size")[0], widths, row, task.outputs)
