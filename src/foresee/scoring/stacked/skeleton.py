"""What the networks of a space have in common, as a value: the parts that a map goes through, and where a choice is made.

A skeleton is said once for each space (`skeletons`). Where weights lie in the stream (`wiring`), what runs (`network`) and
how much a stack takes (`sizes`, `stacking`) are all read from it, and none of them knows a space. Parts stand in the order in
which the networks make them, for in that order first weights are drawn; names are those of the modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class Step(Enum):
    """Parts without weights."""

    RELU = "relu"
    IDENTITY = "identity"
    #: average of the 3x3 neighbours that lie inside the map
    POOL = "pool"
    #: average of 2x2 positions
    HALVE = "halve"
    #: the map without its first row and column, an odd one continued by zeros; no module
    SHIFT = "shift"
    #: nine tiles of a map, each of which goes on as a sample of its own, and their features joined again
    TILES = "tiles"
    JOIN = "join"
    #: global average, as a pool and a flattening
    AVERAGE = "average"


@dataclass(frozen=True, eq=False)
class Conv:
    """A convolution with "same" padding and no bias; `inputs` is how many channels a filter reads.

    Where a map has more of them there are groups of filters, each of which reads its share: one channel each if depthwise.
    """

    name: str
    inputs: int
    outputs: int
    kernel: int
    stride: int = 1

    @property
    def numbers(self) -> int:
        """How many weights it has."""
        return self.inputs * self.outputs * self.kernel**2

    @property
    def drawn(self) -> int:
        """How many numbers it draws when it is made."""
        return self.numbers


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear layer with bias, on vectors."""

    name: str
    inputs: int
    outputs: int
    kernel: int = 1
    stride: int = 1

    @property
    def numbers(self) -> int:
        """How many weights it has, the bias apart."""
        return self.inputs * self.outputs

    @property
    def drawn(self) -> int:
        """How many numbers it draws when it is made."""
        return self.numbers + self.outputs


@dataclass(frozen=True, eq=False)
class Norm:
    """Batch norm with scale and shift and the batch's own statistics."""

    name: str


@dataclass(frozen=True, eq=False)
class Sum:
    """Two ways from one map, added; one without parts gives the map itself."""

    main: Chain
    shortcut: Chain


@dataclass(frozen=True, eq=False)
class Concat:
    """Ways from one map whose channels are joined."""

    ways: tuple[Chain, ...]


@dataclass(frozen=True, eq=False)
class Edge:
    """A choice between ways from one node of a cell to another; where none of them is chosen it gives zeros.

    `pick` is the place of the choice among those of an architecture. A way that begins with a step begins with it once for
    all edges from its node that do.
    """

    source: int
    target: int
    pick: int
    ways: tuple[tuple[str, Chain], ...]


@dataclass(frozen=True, eq=False)
class Cell:
    """Nodes joined by edges: 0 is what it reads, each other one the sum of what comes in, the last what it gives."""

    edges: tuple[Edge, ...]
    outputs: int
    stride: int = 1

    @property
    def nodes(self) -> range:
        """All but the first."""
        return range(1, 1 + max(edge.target for edge in self.edges))


Part = Step | Conv | Linear | Norm | Sum | Concat | Cell
Chain = tuple[Part, ...]
#: channels, height and width
Shape = tuple[int, int, int]
#: the side of the grid that an image is cut into tiles by
GRID = 3


@dataclass(frozen=True, eq=False)
class Skeleton:
    """All networks of a stack, but for what they choose.

    Args:
        image: the shape of one sample.
        parts: what it goes through.
        normal: weights of convolutions are drawn again when all modules are there, normally, by what they give (`fan_out`).
    """

    image: Shape
    parts: Chain
    normal: bool = False

    @property
    def pieces(self) -> int:
        """How many entries a sample becomes."""
        return GRID**2 if Step.TILES in self.parts else 1

    def layers(self) -> Iterator[tuple[Conv | Linear, tuple[int, str] | None]]:
        """All layers with weights in the order in which they are made, and the choice (pick, option) that each stands for."""
        return _layers(self.parts, None)


def ways_of(part: Part) -> tuple[Chain, ...]:
    """The ways through a part that go side by side, in the order in which they are made; none where there is one."""
    match part:
        case Sum():
            return part.main, part.shortcut
        case Concat():
            return part.ways
    return ()


def _layers(parts: Chain, choice: tuple[int, str] | None) -> Iterator[tuple[Conv | Linear, tuple[int, str] | None]]:
    for part in parts:
        match part:
            case Conv() | Linear():
                yield part, choice
            case Sum() | Concat():
                for way in ways_of(part):
                    yield from _layers(way, choice)
            case Cell():
                for edge in part.edges:
                    for option, way in edge.ways:
                        yield from _layers(way, (edge.pick, option))
