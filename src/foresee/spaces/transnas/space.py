"""The two spaces of TransNAS-Bench-101.

>>> space = TransNASMicro()
>>> cell = space.parse("64-41414-1_02_333")
>>> space.backbone_counts(cell, Task((3, 256, 256), 47)).params
22520608
>>> space.counts(cell, Task((3, 256, 256), 47)).params - 22520608
24111
"""

from __future__ import annotations

import itertools
import random
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from torch import nn

from foresee.checks import whole
from foresee.errors import UnknownNameError
from foresee.spaces import counting
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.counting import Counts, Size
from foresee.spaces.four_nodes import EDGES, loose_edges
from foresee.spaces.one_shot import Choice
from foresee.spaces.transnas import heads, network
from foresee.spaces.transnas.network import Network, Place
from foresee.spaces.transnas.one_shot import TransNASOneShot
from foresee.spaces.transnas.text import (
    DOUBLES,
    HALVES,
    MICRO_MODULES,
    OPS,
    MacroArchitecture,
    MicroArchitecture,
    all_modules,
    function_identity,
    trouble,
)
from foresee.task import Task

A = TypeVar("A", MicroArchitecture, MacroArchitecture)


class TransNAS(Space[A]):
    """What both spaces share: the skeleton, the heads and how a network is counted.

    Args:
        channels: width after the stem; the benchmark has 64 (which the text says whatever the width is).
        head: `class`, `regression`, `jigsaw` or `dense`: see `heads`. The task's outputs are classes, values,
            permutations or channels of a map of the image's size.
    """

    source = "TransNAS-Bench-101 (Duan et al., CVPR 2021)"

    def __init__(self, *, channels: int = 64, head: str = "class") -> None:
        whole("channels", channels, of=f"space {self.name}")
        if head not in heads.HEADS:
            raise UnknownNameError(f"head of space {self.name}", str(head), heads.HEADS)
        self.channels, self.head = channels, head

    @abstractmethod
    def _cell(self, architecture: A, place: Place) -> nn.Module:
        """The cell at a place."""

    @abstractmethod
    def _cells(self, architecture: A, size: Size) -> Counts:
        """What all cells cost, the first reading a map of `size`."""

    def build(self, architecture: A, task: Task) -> Network:
        """The network for images of any size and number of channels, with the head of the settings."""
        return Network(
            task,
            self.head,
            self.channels,
            architecture.modules,
            lambda place: self._cell(architecture, place),
            self.name,
        )

    def backbone_counts(self, architecture: A, task: Task) -> Counts:
        """Stem and cells on one image (one tile, for jigsaw): the benchmark's own counts have no head."""
        inputs, *size = heads.backbone_shape(task, self.head, self.name)
        stem, quarter = network.count_stem(inputs, self.channels, (size[0], size[1]))
        return stem + self._cells(architecture, quarter)

    def counts(self, architecture: A, task: Task) -> Counts:
        """Exact, by formula, head included."""
        size: Size = heads.backbone_shape(task, self.head, self.name)[1:]
        for _ in range(2 + sum(digit in HALVES for digit in architecture.modules)):
            size = counting.strided(size)
        backbone = self.backbone_counts(architecture, task)
        if self.head == "jigsaw":
            backbone = Counts(backbone.params, backbone.macs * heads.TILES)
        return backbone + network.count_head(self.head, architecture.modules, self.channels, task.outputs, size)


@spaces.register("transnas_micro")
class TransNASMicro(TransNAS[MicroArchitecture]):
    """The cells of TransNAS-Bench-101 in its fixed skeleton; settings as in `TransNAS`."""

    name = "transnas_micro"
    summary = "one repeated cell of 4 nodes, 6 edges, 4 operations, 4 kinds of vision tasks: 4,096 networks"

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> MicroArchitecture:
        """Each edge's operation uniformly."""
        return MicroArchitecture(tuple(rng.choices(OPS, k=len(EDGES))))

    def mutate(self, architecture: MicroArchitecture, rng: random.Random) -> MicroArchitecture:
        """An edge uniformly, then another operation."""
        ops, edge = list(architecture.ops), rng.randrange(len(EDGES))
        ops[edge] = rng.choice([op for op in OPS if op != ops[edge]])
        return MicroArchitecture(tuple(ops))

    def crossover(self, first: MicroArchitecture, second: MicroArchitecture, rng: random.Random) -> MicroArchitecture:
        """Each edge from either parent."""
        return MicroArchitecture(tuple(rng.choice(pair) for pair in zip(first.ops, second.ops, strict=True)))

    def parse(self, text: str) -> MicroArchitecture:
        """Read the benchmark's text."""
        return MicroArchitecture.parse(text)

    @property
    def size(self) -> int:
        """Four operations on six edges: 4,096."""
        return 4**6

    def enumerate(self) -> Iterator[MicroArchitecture]:
        """All cells in the order of their digits."""
        return map(MicroArchitecture, itertools.product(OPS, repeat=len(EDGES)))

    # -- choices --------------------------------------------------------------------------------------------------------
    @property
    def choices(self) -> tuple[Choice, ...]:
        """The operation of each edge: `3.1` is the edge from node 1 to node 3."""
        return tuple(Choice(f"{target}.{source}", OPS) for source, target in EDGES)

    def assemble(self, picks: Sequence[int]) -> MicroArchitecture:
        """The cell of these operations."""
        return MicroArchitecture(tuple(OPS[pick] for pick in picks))

    def picks(self, architecture: MicroArchitecture) -> tuple[int, ...]:
        """The places of its operations."""
        return tuple(map(OPS.index, architecture.ops))

    # -- one architecture ---------------------------------------------------------------------------------------------
    def canonical(self, architecture: MicroArchitecture) -> str:
        """Equal for cells that compute the same function: `none` is zero, skip the identity where it keeps the shape."""
        return function_identity(architecture)

    def _cell(self, architecture: MicroArchitecture, place: Place) -> nn.Module:
        return network.make_cell(architecture, place)

    def _cells(self, architecture: MicroArchitecture, size: Size) -> Counts:
        costs = _edge_costs(self.channels, size)
        return counting.total(costs[source == 0, op] for (source, _), op in zip(EDGES, architecture.ops, strict=True))

    def unused_parameters(self, architecture: MicroArchitecture) -> frozenset[str]:
        """Edges from whose end no path leads to the output."""
        loose, cells = loose_edges(architecture.ops), 2 * len(MICRO_MODULES)
        return frozenset(f"cells.{place}.edges.{edge}" for place in range(cells) for edge in loose)

    def graph(self, architecture: MicroArchitecture) -> list[Graph]:
        """The cell; edges with `none` are not drawn."""
        edges = zip(EDGES, architecture.ops, strict=True)
        drawn = tuple((source, target, op) for (source, target), op in edges if op != "none")
        return [Graph(("input", "1", "2", "output"), drawn, title="cell")]

    def one_shot(self, task: Task, **options: Any) -> TransNASOneShot:
        """All operations on every edge, with the head of the settings; option: `channels`, the width after the stem."""
        made = type(self)(**{**self.settings(), **options})
        return TransNASOneShot(task, made.head, made.channels, made.build)


@lru_cache(maxsize=256)
def _edge_costs(channels: int, size: Size) -> dict[tuple[bool, str], Counts]:
    """One edge in all cells, by whether it leaves the cell's input and by its operation."""
    costs = dict.fromkeys(itertools.product((True, False), OPS), counting.NOTHING)
    for place in network.places(MICRO_MODULES, channels):
        out = counting.strided(size, place.stride)
        for op in OPS:
            costs[True, op] += network.count_op(op, place, size)
            costs[False, op] += network.count_op(op, network.edge_place(place, 1), out)
        size = out
    return costs


@spaces.register("transnas_macro")
class TransNASMacro(TransNAS[MacroArchitecture]):
    """The skeletons of TransNAS-Bench-101 with basic residual cells; settings as in `TransNAS`."""

    name = "transnas_macro"
    summary = "4 to 6 modules of residual cells that widen or shrink, 4 kinds of vision tasks: 3,256 networks"

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> MacroArchitecture:
        """Uniformly over all skeletons."""
        return MacroArchitecture(rng.choice(all_modules()))

    def mutate(self, architecture: MacroArchitecture, rng: random.Random) -> MacroArchitecture:
        """Uniformly one of the skeletons that differ by one module: changed, inserted or left out."""
        old = architecture.modules
        near = {old[:place] + old[place + 1 :] for place in range(len(old))}
        for digit in "1234":
            near |= {old[:place] + digit + old[place + 1 :] for place in range(len(old))}
            near |= {old[:place] + digit + old[place:] for place in range(len(old) + 1)}
        return MacroArchitecture(rng.choice(sorted(one for one in near if one != old and trouble(one) is None)))

    def crossover(self, first: MacroArchitecture, second: MacroArchitecture, rng: random.Random) -> MacroArchitecture:
        """The beginning of one parent and the end of the other, cut at the same place; a parent where no cut fits."""
        left, right = rng.sample([first.modules, second.modules], 2)
        children = [left[:cut] + right[cut:] for cut in range(1, len(left))]
        inside = [child for child in children if trouble(child) is None]
        return MacroArchitecture(rng.choice(inside or [left, right]))

    def parse(self, text: str) -> MacroArchitecture:
        """Read the benchmark's text."""
        return MacroArchitecture.parse(text)

    @property
    def size(self) -> int:
        """3,256."""
        return len(all_modules())

    def enumerate(self) -> Iterator[MacroArchitecture]:
        """All skeletons: short ones first, then in the order of their digits."""
        return map(MacroArchitecture, all_modules())

    # -- one architecture ---------------------------------------------------------------------------------------------
    def _cell(self, architecture: MacroArchitecture, place: Place) -> nn.Module:
        return network.Basic(place)

    def _cells(self, architecture: MacroArchitecture, size: Size) -> Counts:
        total = counting.NOTHING
        for place in network.places(architecture.modules, self.channels):
            total += network.count_basic(place, size)
            size = counting.strided(size, place.stride)
        return total

    def graph(self, architecture: MacroArchitecture) -> list[Graph]:
        """The chain of modules, each with its channels and how much smaller than the image its map is."""
        nodes, channels, stride = ["stem"], self.channels, network.STEM_STRIDE
        for digit in architecture.modules:
            channels *= 2 if digit in DOUBLES else 1
            stride *= 2 if digit in HALVES else 1
            nodes.append(f"{channels} channels, 1/{stride}")
        edges = tuple((place, place + 1, f"module {digit}") for place, digit in enumerate(architecture.modules))
        return [Graph(tuple(nodes), edges, title="skeleton")]
