"""Networks of TransNAS-Bench-101: a stem that divides the image's size by four, two cells for each module, a head.

The first cell of a module changes the shape where the module's digit says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from torch import Tensor, nn

from foresee.spaces import counting
from foresee.spaces.blocks import Zero, relu_conv_bn
from foresee.spaces.counting import Counts, Size
from foresee.spaces.darts.operations import FactorizedReduce
from foresee.spaces.four_nodes import EDGES, Cell
from foresee.spaces.staged import Staged, through
from foresee.spaces.transnas import heads
from foresee.spaces.transnas.text import DOUBLES, HALVES, MicroArchitecture
from foresee.task import Task

STEM_STRIDE = 4


@dataclass(frozen=True)
class Place:
    """Where a cell stands: the channels it reads and gives, and its stride."""

    inputs: int
    outputs: int
    stride: int

    @property
    def keeps(self) -> bool:
        """Whether the shape is kept."""
        return self.inputs == self.outputs and self.stride == 1


def places(modules: str, channels: int) -> list[Place]:
    """Two cells for each module."""
    found = []
    for digit in modules:
        outputs = 2 * channels if digit in DOUBLES else channels
        found += [Place(channels, outputs, 2 if digit in HALVES else 1), Place(outputs, outputs, 1)]
        channels = outputs
    return found


def stem_width(channels: int) -> int:
    """Width between the two convolutions of the stem."""
    return max(channels // 2, 1)


# -- modules ------------------------------------------------------------------------------------------------------------
class Zeros(nn.Module):
    """Zeros of another shape. They stay in the graph: what lies before gets a gradient, which is zero."""

    def __init__(self, outputs: int, stride: int) -> None:
        super().__init__()
        self.outputs, self.stride = outputs, stride

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to zeros (B, outputs, ceil(H/stride), ceil(W/stride))."""
        return (x[:, :1, :: self.stride, :: self.stride] * 0.0).expand(-1, self.outputs, -1, -1)


def make_op(op: str, place: Place) -> nn.Module:
    """The module of an operation between these shapes."""
    match op:
        case "none":
            return Zero() if place.keeps else Zeros(place.outputs, place.stride)
        case "skip_connect":
            return nn.Identity() if place.keeps else FactorizedReduce(place.inputs, place.outputs)
    return relu_conv_bn(place.inputs, place.outputs, int(op[-1]), stride=place.stride)


def edge_place(place: Place, source: int) -> Place:
    """The shapes of an edge: only edges from the cell's input change anything."""
    return place if source == 0 else Place(place.outputs, place.outputs, 1)


def make_cell(architecture: MicroArchitecture, place: Place) -> Cell:
    """A cell of the micro space."""
    ops = zip(EDGES, architecture.ops, strict=True)
    return Cell(architecture.ops, [make_op(op, edge_place(place, source)) for (source, _), op in ops])


class Basic(nn.Module):
    """The cell of the macro space: two ReLU-conv3x3-BN beside a shortcut, a 1x1 convolution with BN where shapes differ."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.main = nn.Sequential(
            relu_conv_bn(place.inputs, place.outputs, 3, stride=place.stride),
            relu_conv_bn(place.outputs, place.outputs, 3),
        )
        self.shortcut: nn.Module = nn.Identity()
        if not place.keeps:
            conv = nn.Conv2d(place.inputs, place.outputs, 1, stride=place.stride, bias=False)
            self.shortcut = nn.Sequential(conv, nn.BatchNorm2d(place.outputs))

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, ceil(H/stride), ceil(W/stride))."""
        out: Tensor = self.shortcut(x) + self.main(x)
        return out


class Network(Staged):
    """Stem, cells, head.

    Args:
        task: images; outputs are classes, values, permutations or channels, as the head says.
        head: one of `heads.HEADS`.
        channels: width after the stem; 64 in the benchmark.
        modules: their digits.
        make: gives a cell for its place.
        space: name of the space, for errors.
    """

    def __init__(
        self,
        task: Task,
        head: str,
        channels: int,
        modules: str,
        make: Callable[[Place], nn.Module],
        space: str,
    ) -> None:
        super().__init__()
        inputs = heads.backbone_shape(task, head, space)[0]
        where, narrow = places(modules, channels), stem_width(channels)
        self.kind = head
        self.tiles = heads.Tiles() if head == "jigsaw" else nn.Identity()
        self.stem = nn.Sequential(
            nn.Conv2d(inputs, narrow, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(narrow),
            relu_conv_bn(narrow, channels, 3, stride=2),
        )
        self.cells = nn.ModuleList(make(place) for place in where)
        self.head = heads.make(head, where[-1].outputs, narrow, _stride(where), task.outputs)
        self.apply(_initialise)

    def flow(self, x: Tensor) -> Iterator[Tensor]:
        """Outputs of the stem, then of each cell (of every tile, for jigsaw)."""
        return through((self.stem, *self.cells), self.tiles(x))

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to (B, outputs), or to (B, outputs, H, W) with the dense head."""
        out: Tensor = self.head(self.pre_gap(x))
        return out[..., : x.shape[-2], : x.shape[-1]] if self.kind == "dense" else out


def _initialise(module: nn.Module) -> None:
    """Normal weights of convolutions that keep the variance of gradients; batch norms begin as the identity anyway."""
    if isinstance(module, nn.Conv2d) and not module.weight.is_meta:
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


def _stride(where: list[Place]) -> int:
    stride = STEM_STRIDE
    for place in where:
        stride *= place.stride
    return stride


# -- formulas -------------------------------------------------------------------------------------------------------------
def count_stem(inputs: int, channels: int, size: Size) -> tuple[Counts, Size]:
    """The stem, and the size of its map."""
    half, narrow = counting.strided(size), stem_width(channels)
    quarter = counting.strided(half)
    first = counting.conv2d(inputs, narrow, 3, half) + counting.norm(narrow)
    return first + counting.relu_conv_bn(narrow, channels, 3, quarter), quarter


@lru_cache(maxsize=4096)
def count_op(op: str, place: Place, size: Size) -> Counts:
    """What `make_op` costs on a map of `size`."""
    out = counting.strided(size, place.stride)
    if op.startswith("nor_conv"):
        return counting.relu_conv_bn(place.inputs, place.outputs, int(op[-1]), out)
    if op == "skip_connect" and not place.keeps:
        return counting.conv2d(place.inputs, place.outputs, 1, out) + counting.norm(place.outputs)
    return counting.NOTHING


@lru_cache(maxsize=4096)
def count_basic(place: Place, size: Size) -> Counts:
    """What `Basic` costs on a map of `size`."""
    out = counting.strided(size, place.stride)
    main = counting.relu_conv_bn(place.inputs, place.outputs, 3, out) + counting.relu_conv_bn(
        place.outputs, place.outputs, 3, out
    )
    if place.keeps:
        return main
    return main + counting.conv2d(place.inputs, place.outputs, 1, out) + counting.norm(place.outputs)


def count_head(head: str, modules: str, channels: int, outputs: int, size: Size) -> Counts:
    """The head, on a backbone's map of `size`."""
    where = places(modules, channels)
    return heads.count(head, where[-1].outputs, stem_width(channels), _stride(where), outputs, size)
