"""What the networks of a space have in common, as a value: the parts that a map goes through, and where a choice is made.

A skeleton is said once for each space (`skeletons`). Where weights lie in the stream (`wiring`), what runs (`network`) and
how much a stack takes (`sizes`, `stacking`) are all read from it, and none of them knows a space. Parts stand in the order in
which the networks make them, for in that order first weights are drawn; names are those of the modules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from foresee.scoring.stacked.transformer import Attention, LayerNorm, Learnt, Patches, Table, Tokens
from foresee.scoring.stacked.weights import Drawn, normals, truncated


class Step(Enum):
    """Parts without weights."""

    RELU = "relu"
    GELU = "gelu"
    IDENTITY = "identity"
    #: average of the 3x3 neighbours that lie inside the map
    POOL = "pool"
    #: the same of every second position
    POOL_HALVING = "pool halving"
    #: the greatest of these neighbours, of all positions and of every second
    GREATEST = "greatest"
    GREATEST_HALVING = "greatest halving"
    #: average of 2x2 positions
    HALVE = "halve"
    #: the map without its first row and column, an odd one continued by zeros; no module
    SHIFT = "shift"
    #: this map is what the next cell reads as the one before the last; no module
    BEFORE = "before"
    #: nine tiles of a map, each of which goes on as a sample of its own, and their features joined again
    TILES = "tiles"
    JOIN = "join"
    #: global average, as a pool and a flattening
    AVERAGE = "average"
    #: the mean of all tokens but the first; no module
    MEAN = "mean"


@dataclass(frozen=True, eq=False)
class Conv(Drawn):
    """A convolution with "same" padding and no bias; `inputs` is how many channels a filter reads.

    Where a map has more of them there are groups of filters, each of which reads its share: one channel each if depthwise.
    What a filter reads lies `dilation` positions apart.
    """

    name: str
    inputs: int
    outputs: int
    kernel: int
    stride: int = 1
    dilation: int = 1

    @property
    def drawn(self) -> int:
        """How many numbers it draws when it is made."""
        return self.numbers


@dataclass(frozen=True, eq=False)
class Linear(Drawn):
    """A linear layer with bias, on vectors or on each of the `tokens`.

    With a `deviation` its weights are drawn again when all modules are there, normally with that one, and its bias is zero.
    """

    name: str
    inputs: int
    outputs: int
    tokens: bool = False
    deviation: float | None = None
    kernel: int = 1
    stride: int = 1

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
class First:
    """The first channels of a map; those beyond them are zeros that it was filled up with. No module."""

    channels: int


@dataclass(frozen=True, eq=False)
class Fixed:
    """Nodes joined by ways that nobody chooses: (from, to, way) in the order in which networks make them.

    The first node is what it reads, each other one is the sum of what comes in, and the last one is what it gives. Ways that
    begin with the same step at the same node begin with it once.
    """

    ways: tuple[tuple[int, int, Chain], ...]

    @property
    def nodes(self) -> range:
        """All that are sums."""
        return range(1, 1 + max(target for _, target, _ in self.ways))

    @cached_property
    def starts(self) -> dict[int, Counter[Step]]:
        """The steps that ways from a node begin with, and how many do."""
        found = {source: Counter[Step]() for source in range(len(self.nodes))}
        for source, _, way in self.ways:
            if isinstance(way[0], Step):
                found[source][way[0]] += 1
        return found


@dataclass(frozen=True, eq=False)
class Either:
    """A choice between ways whose maps have other shapes: how wide a network is here. No way holds a cell.

    Inside a way maps have the channels of their networks. What it gives is filled up with zeros to the widest, for there is
    one map for all architectures again; a way that reads such a map begins with its `First` channels. So nobody computes
    with zeros, and whoever listens to modules hears of no channel that the networks do not have.
    """

    pick: int
    ways: tuple[tuple[str, Chain], ...]


@dataclass(frozen=True, eq=False)
class Edge:
    """A choice between ways from one node of a cell to another; where none of them is chosen it gives zeros.

    `pick` is the place of the choice among those of an architecture. A way that begins with a step begins with it once for
    all edges from its node that do. Where a choice names the node that is read, too, there is an edge from each such node;
    these hold the same way, which has its layers once.
    """

    source: int
    target: int
    pick: int
    ways: tuple[tuple[str, Chain], ...]


#: a choice of an architecture: its place, and what is chosen there
Choice = tuple[int, str]


class Lane(NamedTuple):
    """A way to a node, and the choices that an architecture takes it by, each from a node of its own."""

    target: int
    choices: tuple[Choice, ...]
    sources: tuple[int, ...]
    way: Chain


@dataclass(frozen=True, eq=False)
class Cell:
    """Nodes joined by edges: the first are what it reads, each other one is the sum of what comes in.

    Args:
        edges: between nodes, in the order in which networks make them.
        outputs: channels of a node that is a sum.
        stride: of the ways from what it reads.
        inputs: how it reads the last maps, the newest one last: what cells gave, and first of all what came before them.
        joined: the nodes whose channels it gives; none: the last node.
    """

    edges: tuple[Edge, ...]
    outputs: int
    stride: int = 1
    inputs: tuple[Chain, ...] = ((),)
    joined: tuple[int, ...] = ()

    @property
    def nodes(self) -> range:
        """All that are sums."""
        return range(len(self.inputs), 1 + max(edge.target for edge in self.edges))

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        """The ways of its edges in order, one that several edges of a choice hold once."""
        found: dict[tuple[int, int, Chain], list[tuple[Choice, int]]] = {}
        for edge in self.edges:
            for option, way in edge.ways:
                found.setdefault((edge.target, edge.pick, way), []).append(((edge.pick, option), edge.source))
        return tuple(
            Lane(target, tuple(choice for choice, _ in reads), tuple(source for _, source in reads), way)
            for (target, _, way), reads in found.items()
        )


#: what has weights, or other numbers that are drawn
Drawing = Conv | Linear | Patches | Table | Learnt
Part = (
    Step
    | Conv
    | Linear
    | Norm
    | First
    | Sum
    | Concat
    | Fixed
    | Either
    | Cell
    | Patches
    | Tokens
    | LayerNorm
    | Attention
)
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
        made: the parts in the order in which networks make them, where this is another one.
    """

    image: Shape
    parts: Chain
    normal: bool = False
    made: Chain = ()

    @property
    def pieces(self) -> int:
        """How many entries a sample becomes."""
        return GRID**2 if Step.TILES in self.parts else 1

    def layers(self) -> Iterator[tuple[Drawing, tuple[Choice, ...]]]:
        """All layers with weights in the order in which they are made, and the choices by which one has them (none: all)."""
        for part, choices in _inside(self.made or self.parts, ()):
            match part:
                case Conv() | Linear() | Patches():
                    yield part, choices
                case Tokens():
                    yield from ((one, choices) for one in (part.first, part.places))
                case Attention():
                    yield from ((one, choices) for one in part.tables)

    def again(self, part: Drawing) -> int:
        """How many numbers a layer draws when all modules are there, for weights that take the place of the first ones."""
        match part:
            case Conv():
                return normals(part.numbers) if self.normal else 0
            case Learnt():
                return truncated(part.numbers)
            case Linear():
                return 0 if part.deviation is None else truncated(part.numbers)
        return 0

    @property
    def by_batch(self) -> bool:
        """Whether samples share the statistics of a norm."""
        return any(isinstance(part, Norm) for part, _ in _inside(self.parts, ()))


def ways_of(part: Part) -> tuple[Chain, ...]:
    """The ways through a part that go side by side, in the order in which they are made; none where there is one."""
    match part:
        case Sum():
            return part.main, part.shortcut
        case Concat():
            return part.ways
        case Fixed():
            return tuple(way for _, _, way in part.ways)
    return ()


def _inside(parts: Chain, choices: tuple[Choice, ...]) -> Iterator[tuple[Part, tuple[Choice, ...]]]:
    """All parts that hold no other ones, with the choices that lead to them."""
    for part in parts:
        match part:
            case Sum() | Concat() | Fixed():
                for way in ways_of(part):
                    yield from _inside(way, choices)
            case Either():
                for option, way in part.ways:
                    yield from _inside(way, ((part.pick, option),))
            case Cell():
                for way in part.inputs:
                    yield from _inside(way, choices)
                for lane in part.lanes:
                    yield from _inside(lane.way, lane.choices)
            case _:
                yield part, choices
