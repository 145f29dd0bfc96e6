"""The networks of NAS-Bench-101, and their counts.

Stem, then stacks of cells; before each further stack the map is halved and the width doubled; global average; linear.
Convolutions are followed by batch norm and ReLU. Inside a cell of width C, the vertices that feed the output share C, and
are concatenated there; every edge that leaves the cell's input has its own 1x1 projection.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

import torch
from torch import Tensor, nn

from foresee.spaces import counting
from foresee.spaces.blocks import global_average, image_shape
from foresee.spaces.counting import Counts
from foresee.spaces.nasbench101.cell import Architecture
from foresee.spaces.staged import Staged, through
from foresee.task import Task

#: torch's momentum (the share of the new batch); TensorFlow writes the same as 0.997
MOMENTUM = 0.003
VARIANTS = ("benchmark", "reference")
#: standard deviation of a standard normal cut off at two
_TRUNCATED = 0.87962566103423978


def conv_bn_relu(inputs: int, outputs: int, kernel: int, *, momentum: float = MOMENTUM) -> nn.Sequential:
    """Convolution with "same" padding, batch norm, ReLU."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(outputs, momentum=momentum),
        nn.ReLU(),
    )


#: what each operation is at a given width
MAKERS: Mapping[str, Callable[[int, float], nn.Module]] = {
    "conv3x3": lambda width, momentum: conv_bn_relu(width, width, 3, momentum=momentum),
    "conv1x1": lambda width, momentum: conv_bn_relu(width, width, 1, momentum=momentum),
    "maxpool3x3": lambda width, momentum: nn.MaxPool2d(3, stride=1, padding=1),
}


def vertex_widths(cell: Architecture, outputs: int) -> list[int]:
    """Channels of each interior vertex of a pruned cell whose output is `outputs` wide.

    The vertices that feed the output share its width, the first ones one channel more where it does not divide; any other
    is as wide as the widest vertex that reads it.

    >>> vertex_widths(Architecture.parse("conv3x3@0+conv3x3@1+conv3x3@0+output@2,3"), 5)
    [3, 3, 2]
    """
    interior = len(cell.ops)
    feeders = [vertex for vertex in cell.parents[-1] if vertex > 0]
    widths = [0] * (interior + 1)
    for rank, vertex in enumerate(feeders):
        widths[vertex] = outputs // len(feeders) + (rank < outputs % len(feeders))
    for vertex in range(interior, 0, -1):
        if vertex not in feeders:
            widths[vertex] = max(
                widths[reader] for reader in range(vertex + 1, interior + 1) if vertex in cell.parents[reader - 1]
            )
    return widths[1:]


class Cell(nn.Module):
    """A pruned cell as a module: `ops` by vertex, and `projections` of the input by the vertex that reads it.

    A vertex that reads a wider one takes its first channels (it is one channel wider at most).
    """

    def __init__(self, cell: Architecture, inputs: int, outputs: int, *, momentum: float = MOMENTUM) -> None:
        super().__init__()
        self.parents = cell.parents
        self.widths = (inputs, *vertex_widths(cell, outputs), outputs)
        self.ops = nn.ModuleDict({str(v): MAKERS[op](self.widths[v], momentum) for v, op in enumerate(cell.ops, 1)})
        self.projections = nn.ModuleDict(
            {
                str(v): conv_bn_relu(inputs, self.widths[v], 1, momentum=momentum)
                for v, read in enumerate(cell.parents, 1)
                if 0 in read
            }
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, H, W)."""
        values = [x]
        for vertex, read in enumerate(self.parents[:-1], 1):
            terms = [values[parent][:, : self.widths[vertex]] for parent in read if parent]
            values.append(self.ops[str(vertex)](self._sum(terms, x, vertex, read)))
        last = len(self.parents)
        fed = [values[parent] for parent in self.parents[-1] if parent]
        return self._sum([torch.cat(fed, 1)] if fed else [], x, last, self.parents[-1])

    def _sum(self, terms: list[Tensor], x: Tensor, vertex: int, read: tuple[int, ...]) -> Tensor:
        if 0 in read:
            terms = [*terms, self.projections[str(vertex)](x)]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total


class Network(Staged):
    """The whole network; `layers` holds cells and the pools between stacks in order."""

    def __init__(self, cell: Architecture, task: Task, channels: int, stacks: int, cells: int, variant: str) -> None:
        super().__init__()
        inputs = image_shape(task, "nasbench101")[0]
        momentum = MOMENTUM if variant == "benchmark" else 0.1
        self.stem = conv_bn_relu(inputs, channels, 3, momentum=momentum)
        self.layers = nn.ModuleList()
        width = channels
        for stack in range(stacks):
            if stack:
                self.layers.append(nn.MaxPool2d(2, stride=2, ceil_mode=True))
            wide = channels << stack
            for _ in range(cells):
                self.layers.append(Cell(cell.normal, width, wide, momentum=momentum))
                width = wide
        self.pool = global_average()
        self.classifier = nn.Linear(width, task.outputs)
        initialise(self, variant)

    def flow(self, x: Tensor) -> Iterator[Tensor]:
        """Outputs of the stem, then of each cell and pool."""
        return through((self.stem, *self.layers), x)


def initialise(network: nn.Module, variant: str) -> None:
    """The benchmark's first weights, or those of the public port to PyTorch (`reference`). Norms start at 1 and 0.

    benchmark: convolutions truncated normal of variance 1 / fan-in, linear layers Glorot uniform.
    reference: convolutions normal of variance 2 / (kernel area x outputs), linear layers normal of deviation 0.01.
    """
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            area = module.kernel_size[0] * module.kernel_size[1]
            if variant == "benchmark":
                deviation = 1 / math.sqrt(module.in_channels * area) / _TRUNCATED
                nn.init.trunc_normal_(module.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
            else:
                nn.init.normal_(module.weight, std=math.sqrt(2 / (area * module.out_channels)))
        elif isinstance(module, nn.Linear):
            if variant == "benchmark":
                nn.init.xavier_uniform_(module.weight)
            else:
                nn.init.normal_(module.weight, std=0.01)
            nn.init.zeros_(module.bias)


# -- counts -----------------------------------------------------------------------------------------------------------
def count(cell: Architecture, task: Task, channels: int, stacks: int, cells: int) -> Counts:
    """Exact counts of `Network`, without building it."""
    cell = cell.normal
    fixed, sizes = _frame(task, channels, stacks)
    total, width = fixed, channels
    for stack, size in enumerate(sizes):
        wide = channels << stack
        total += _count_cell(cell, width, wide, size)
        total += counting.repeat(_count_cell(cell, wide, wide, size), cells - 1)
        width = wide
    return total


@lru_cache(maxsize=256)
def _frame(task: Task, channels: int, stacks: int) -> tuple[Counts, tuple[counting.Size, ...]]:
    """Counts of stem and classifier, and the size of the map in each stack."""
    inputs, height, width = image_shape(task, "nasbench101")
    sizes = [(height, width)]
    for _ in range(stacks - 1):
        sizes.append(counting.strided(sizes[-1]))
    stem = _conv_bn_relu(inputs, channels, 3, sizes[0])
    return stem + counting.linear(channels << (stacks - 1), task.outputs), tuple(sizes)


def _count_cell(cell: Architecture, inputs: int, outputs: int, size: counting.Size) -> Counts:
    widths = [*vertex_widths(cell, outputs), outputs]
    projections = (
        _conv_bn_relu(inputs, width, 1, size) for width, read in zip(widths, cell.parents, strict=True) if 0 in read
    )
    kernels = {"conv3x3": 3, "conv1x1": 1}
    ops = (
        _conv_bn_relu(width, width, kernels[op], size)
        for width, op in zip(widths, cell.ops, strict=False)
        if op in kernels
    )
    return counting.total(projections) + counting.total(ops)


@lru_cache(maxsize=4096)
def _conv_bn_relu(inputs: int, outputs: int, kernel: int, size: counting.Size) -> Counts:
    return counting.conv2d(inputs, outputs, kernel, size) + counting.norm(outputs)
