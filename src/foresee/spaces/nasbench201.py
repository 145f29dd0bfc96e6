"""NAS-Bench-201: one cell of four nodes, repeated; 15,625 of them.

Six edges, each with one of five operations; a node is the sum of what comes in, the last node is the cell's output. The
network (C channels, N cells a stage): 3x3 stem, N cells, reduction to 2C, N cells, reduction to 4C, N cells, BN-ReLU,
global average, linear. The benchmark has C = 16, N = 5.

>>> space = NASBench201()
>>> cell = space.named["ResNet"]
>>> str(cell)
'|nor_conv_3x3~0|+|none~0|nor_conv_3x3~1|+|skip_connect~0|none~1|skip_connect~2|'
>>> space.counts(cell, Task((3, 32, 32), 10))
Counts(params=559386, macs=78561920)
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from foresee.errors import InputError, UnknownNameError
from foresee.spaces import counting
from foresee.spaces.base import Counts, Graph, Space, spaces
from foresee.spaces.blocks import Reduction, Zero, avg_pool_3x3, image_shape, relu_conv_bn
from foresee.task import Task

if TYPE_CHECKING:
    from foresee.spaces.nasbench201_one_shot import NASBench201OneShot

#: in the benchmark's order, which fixes the order of `enumerate`
OPS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
#: (source, target) in the order of the text
EDGES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
NODES = (1, 2, 3)
IDENTITIES = ("benchmark", "skip", "function")
VARIANTS = ("benchmark", "reference")
#: the edges that end in each node
EDGES_INTO = {node: tuple(edge for edge, (_, target) in enumerate(EDGES) if target == node) for node in NODES}

_OP_SET = frozenset(OPS)
_EXAMPLE = "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~2|"


@dataclass(frozen=True)
class Architecture:
    """A cell: the operation of each edge, in the order of `EDGES`. Its `str` is the benchmark's text."""

    ops: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.ops) != len(EDGES):
            raise InputError(f"cell of {len(self.ops)} operations: expected {len(EDGES)}, one for each edge")
        if not _OP_SET.issuperset(self.ops):
            for (source, target), op in zip(EDGES, self.ops, strict=True):
                if op not in _OP_SET:
                    raise UnknownNameError(f"operation on edge {source}->{target}", op, OPS)

    def into(self, node: int) -> Iterator[tuple[int, str]]:
        """Source and operation of each edge into `node`."""
        return ((EDGES[edge][0], self.ops[edge]) for edge in EDGES_INTO[node])

    def __str__(self) -> str:
        return "+".join("|" + "".join([f"{op}~{source}|" for source, op in self.into(node)]) for node in NODES)

    @classmethod
    def parse(cls, text: str) -> Architecture:
        """Inverse of `str`; the error names the node and the edge that are wrong."""
        parts = text.strip().split("+")
        if len(parts) != len(NODES):
            raise InputError(
                f"cell {text!r}: {len(parts)} nodes, expected {len(NODES)} joined by +, such as {_EXAMPLE}"
            )
        return cls(tuple(op for node, part in zip(NODES, parts, strict=True) for op in _parse_node(node, part.strip())))


def _parse_node(node: int, text: str) -> Iterator[str]:
    if len(text) < 2 or text[0] != "|" or text[-1] != "|":
        raise InputError(f"cell, node {node}: {text!r} must begin and end with |, such as |skip_connect~0|")
    edges = text[1:-1].split("|")
    if len(edges) != node:
        raise InputError(f"cell, node {node}: {len(edges)} edges in {text!r}, expected {node}")
    for source, edge in enumerate(edges):
        op, mark, given = edge.partition("~")
        if not mark:
            raise InputError(f"cell, node {node}, edge {source}: {edge!r} has no ~; expected operation~{source}")
        if given != str(source):
            raise InputError(f"cell, node {node}, edge {source}: {edge!r} comes from {given!r}, expected node {source}")
        yield op


# -- identity -----------------------------------------------------------------------------------------------------------
def _published_identity(cell: Architecture, *, zero: bool) -> str:
    """The benchmark's own unique text: skip is what it copies, and (`zero`) none and whatever reads only it is zero."""
    nodes = ["0"]
    for node in NODES:
        terms = []
        for source, op in cell.into(node):
            inner = nodes[source]
            if zero and (op == "none" or inner == "#"):
                terms.append("#")
            else:
                terms.append(inner if op == "skip_connect" else f"({inner})@{op}")
        nodes.append("+".join(sorted(terms)))
    return nodes[-1]


def _function_identity(cell: Architecture) -> str:
    """The function as a sum of terms: sums of sums are flattened and zeros left out."""
    nodes: list[list[str]] = [["0"]]
    for node in NODES:
        terms: list[str] = []
        for source, op in cell.into(node):
            inner = nodes[source]
            if op == "skip_connect":
                terms += inner
            elif op != "none" and inner:
                terms.append(f"({'+'.join(inner)})@{op}")
        nodes.append(sorted(terms))
    return "+".join(nodes[-1]) or "#"


# -- the network --------------------------------------------------------------------------------------------------------
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


class Cell(nn.Module):
    """The cell as a module: `edges` in the order of `EDGES`, shape kept.

    A `none` edge is not computed, unless a node has nothing else: then one of them gives the zeros.

    Args:
        ops: the operation of each edge.
        edges: its module.
        every: compute the `none` edges too (where they give more than zeros).
    """

    def __init__(self, ops: Sequence[str], edges: Iterable[nn.Module], *, every: bool = False) -> None:
        super().__init__()
        self.edges = nn.ModuleList(edges)
        self.computed = tuple(
            tuple(edge for edge in into if every or ops[edge] != "none") or into[:1] for into in EDGES_INTO.values()
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to the same shape."""
        states = [x]
        for first, *others in self.computed:
            state: Tensor = self.edges[first](states[EDGES[first][0]])
            for edge in others:
                state = state + self.edges[edge](states[EDGES[edge][0]])
            states.append(state)
        return states[-1]


class Network(nn.Module):
    """The whole network; `cells` holds cells and reductions in order. `make` gives a cell of the width asked for."""

    def __init__(self, task: Task, channels: int, cells: int, make: Callable[[int], nn.Module]) -> None:
        super().__init__()
        inputs = image_shape(task, NASBench201.name)[0]
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


def loose_edges(ops: Sequence[str]) -> list[int]:
    """The edges from whose end no path leads to the output."""
    reaching = {NODES[-1]}
    for (source, target), op in reversed(list(zip(EDGES, ops, strict=True))):
        if op != "none" and target in reaching:
            reaching.add(source)
    return [edge for edge, (_, target) in enumerate(EDGES) if target not in reaching]


@lru_cache(maxsize=256)
def _formulas(task: Task, channels: int, cells: int, variant: str) -> tuple[Counts, dict[str, Counts]]:
    """Counts of all that is not an edge, and of one edge of all cells by its operation."""
    inputs, height, width = image_shape(task, NASBench201.name)
    size = (height, width)
    affine = variant == "benchmark"
    fixed = counting.conv2d(inputs, channels, 3, size) + counting.norm(channels)
    convs = dict.fromkeys(("nor_conv_1x1", "nor_conv_3x3"), counting.NOTHING)
    for stage, wide in enumerate((channels, 2 * channels, 4 * channels)):
        if stage:
            size = counting.strided(size)
            fixed += counting.reduction(wide // 2, wide, size)
        for op, kernel in (("nor_conv_1x1", 1), ("nor_conv_3x3", 3)):
            convs[op] += counting.repeat(counting.relu_conv_bn(wide, wide, kernel, size, affine=affine), cells)
    fixed += counting.norm(4 * channels) + counting.linear(4 * channels, task.outputs)
    edges = {op: convs.get(op, counting.NOTHING) for op in OPS}
    if variant == "reference":  # every edge holds the parameters of all operations and computes one
        held = counting.total(edges.values()).params
        edges = {op: Counts(held, edge.macs) for op, edge in edges.items()}
    return fixed, edges


@spaces.register("nasbench201")
class NASBench201(Space[Architecture]):
    """The NAS-Bench-201 cells, also known as the topology space of NATS-Bench.

    Args:
        channels: width C of the first stage; the benchmark has 16.
        cells: number N of cells in each of the three stages; the benchmark has 5.
        variant: `benchmark` builds the benchmark's networks. `reference` builds those of the public proxy code: inside
            cells batch norm has neither scale, shift nor running statistics, convolutions have a bias, and every edge
            holds all five operations (their parameters count).
        identity: which cells count as one. `benchmark` (6,466 classes) is the benchmark's own text of the function,
            with skip as identity and none as zero; `skip` (12,751) collapses skips only. Both compare sums as text and
            leave a few equal ones apart; `function` (4,930) flattens sums and drops zeros. None of them tells apart
            whether a repeated expression has one set of weights or two, or counts weights that reach nothing.
    """

    name = "nasbench201"
    summary = "one repeated cell of 4 nodes, 6 edges, 5 operations: 15,625 image networks"
    source = "NAS-Bench-201 (Dong & Yang, ICLR 2020); the topology space of NATS-Bench"

    def __init__(
        self, *, channels: int = 16, cells: int = 5, variant: str = "benchmark", identity: str = "benchmark"
    ) -> None:
        for key, value in (("channels", channels), ("cells", cells)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(f"space {self.name}: {key} {value!r}, expected a whole number of at least 1")
        if variant not in VARIANTS:
            raise UnknownNameError(f"variant of space {self.name}", str(variant), VARIANTS)
        if identity not in IDENTITIES:
            raise UnknownNameError(f"identity of space {self.name}", str(identity), IDENTITIES)
        self.channels, self.cells, self.variant, self.identity = channels, cells, variant, identity

    def settings(self) -> dict[str, Any]:
        """Settings that differ from the benchmark's."""
        plain = {"channels": 16, "cells": 5, "variant": "benchmark", "identity": "benchmark"}
        return {key: getattr(self, key) for key, default in plain.items() if getattr(self, key) != default}

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """Each edge's operation uniformly."""
        return Architecture(tuple(rng.choices(OPS, k=len(EDGES))))

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """A node uniformly, then one of its edges, then another operation."""
        edge = rng.choice(EDGES_INTO[rng.choice(NODES)])
        ops = list(architecture.ops)
        ops[edge] = rng.choice([op for op in OPS if op != ops[edge]])
        return Architecture(tuple(ops))

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """Each edge from either parent."""
        return Architecture(tuple(rng.choice(pair) for pair in zip(first.ops, second.ops, strict=True)))

    def parse(self, text: str) -> Architecture:
        """Read the benchmark's text."""
        return Architecture.parse(text)

    @property
    def size(self) -> int:
        """Five operations on six edges: 15,625."""
        return 5**6

    def enumerate(self) -> Iterator[Architecture]:
        """All cells, the last edge changing fastest (the benchmark's files have an order of their own)."""
        return map(Architecture, itertools.product(OPS, repeat=len(EDGES)))

    @property
    def named(self) -> Mapping[str, Architecture]:
        """`ResNet`: a residual block. `NATS_SSS`: the cell of the size space of NATS-Bench."""
        resnet = "|nor_conv_3x3~0|+|none~0|nor_conv_3x3~1|+|skip_connect~0|none~1|skip_connect~2|"
        return {"ResNet": Architecture.parse(resnet), "NATS_SSS": Architecture.parse(_EXAMPLE)}

    # -- one architecture ---------------------------------------------------------------------------------------------
    def canonical(self, architecture: Architecture) -> str:
        """Equal for cells that compute the same function, as far as the setting `identity` goes."""
        if self.identity == "function":
            return _function_identity(architecture)
        return _published_identity(architecture, zero=self.identity == "benchmark")

    def build(self, architecture: Architecture, task: Task) -> Network:
        """The network for images of any size and number of channels."""

        def make(channels: int) -> Cell:
            return Cell(architecture.ops, (make_edge(op, channels, self.variant) for op in architecture.ops))

        return Network(task, self.channels, self.cells, make)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula."""
        fixed, edges = _formulas(task, self.channels, self.cells, self.variant)
        return counting.total(edges[op] for op in architecture.ops) + fixed

    def benchmark_flops(self, architecture: Architecture, task: Task) -> int:
        """The number the benchmark's tables call FLOPs: the MACs, and one more for each bias of the classifier.

        It is not `counts(...).flops`, which is two per MAC.
        """
        return self.counts(architecture, task).macs + task.outputs

    def one_shot(self, task: Task, **options: Any) -> NASBench201OneShot:
        """All operations on every edge; option: `partial` (see `nasbench201_one_shot`)."""
        from foresee.spaces.nasbench201_one_shot import NASBench201OneShot

        return NASBench201OneShot(task, self, **options)

    def unused_parameters(self, architecture: Architecture) -> frozenset[str]:
        """Modules, by name in the network, whose parameters cannot reach its output and so get no gradient."""
        dead = {f"edges.{edge}" for edge in loose_edges(architecture.ops)}
        if self.variant == "reference":
            dead |= {f"edges.{edge}.ops.{op}" for edge, used in enumerate(architecture.ops) for op in OPS if op != used}
        places = [place for place in range(3 * self.cells + 2) if (place + 1) % (self.cells + 1)]
        return frozenset(f"cells.{place}.{name}" for place in places for name in dead)

    def graph(self, architecture: Architecture) -> list[Graph]:
        """The cell; edges with `none` are not drawn."""
        edges = zip(EDGES, architecture.ops, strict=True)
        drawn = tuple((source, target, op) for (source, target), op in edges if op != "none")
        return [Graph(("input", "1", "2", "output"), drawn, title="cell")]
