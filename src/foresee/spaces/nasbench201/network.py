"""The networks of NAS-Bench-201: operations, edges, and three stages of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from torch import Tensor, nn

from foresee.spaces.blocks import Reduction, Zero, avg_pool_3x3, image_shape, relu_conv_bn
from foresee.spaces.four_nodes import Cell, CellNetwork
from foresee.spaces.moulds import cast
from foresee.spaces.nasbench201.architecture import Architecture
from foresee.spaces.partial import Partial
from foresee.task import Task

VARIANTS = ("benchmark", "reference")

MAKERS: Mapping[str, Callable[[int, bool], nn.Module]] = {
    "none": lambda channels, affine: Zero(),
    "avg_pool_3x3": lambda channels, affine: cast(avg_pool_3x3),
    "nor_conv_3x3": lambda channels, affine: cast(relu_conv_bn, channels, channels, 3, affine=affine),
    "nor_conv_1x1": lambda channels, affine: cast(relu_conv_bn, channels, channels, 1, affine=affine),
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


class Network(CellNetwork):
    """The whole network: three stages of cells. `make` gives a cell of the width asked for."""

    def __init__(self, task: Task, channels: int, cells: int, make: Callable[[int], nn.Module]) -> None:
        widths = (channels, 2 * channels, 4 * channels)

        def row() -> Iterator[nn.Module]:
            for stage, width in enumerate(widths):
                if stage:
                    yield cast(Reduction, widths[stage - 1], width)
                yield from (make(width) for _ in range(cells))

        inputs = image_shape(task, "nasbench201")[0]
        super().__init__(inputs, (channels, widths[-1]), row, task.outputs)


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
