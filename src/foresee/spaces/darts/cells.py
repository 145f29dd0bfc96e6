"""DARTS cells as values: two inputs, nodes of two edges each, some nodes joined into the output.

Node 0 is the output of the cell before the last one, node 1 that of the last one, nodes 2, 3, ... are the cell's own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from foresee.errors import InputError, UnknownNameError

#: the operations of the space, in the order of its weights
OPS = (
    "max_pool_3x3",
    "avg_pool_3x3",
    "skip_connect",
    "sep_conv_3x3",
    "sep_conv_5x5",
    "dil_conv_3x3",
    "dil_conv_5x5",
)
#: operations of published cells that the space does not offer
OLDER_OPS = ("sep_conv_7x7", "conv_7x1_1x7")
#: the nodes of a cell of the space, all of them joined into its output
NODES = (2, 3, 4, 5)
#: the candidate edges (source, node) of a cell of the space, in the numbering of NAS-Bench-301
EDGES = tuple((source, node) for node in NODES for source in range(node))
KINDS = ("normal", "reduce")
#: an identity tries renumberings, so a cell must not be arbitrarily large
MOST_NODES = 16

Edge = tuple[str, int]  # operation, and the node it reads
_KNOWN = frozenset(OPS + OLDER_OPS)


@dataclass(frozen=True)
class Cell:
    """A cell: two edges `(operation, input)` for each node in order, and the nodes joined into the output.

    It may lie outside the space: another number of nodes, the same input twice, older operations, fewer joined nodes.
    """

    edges: tuple[Edge, ...]
    concat: tuple[int, ...] = NODES

    def __post_init__(self) -> None:
        count = len(self.edges) // 2
        if len(self.edges) % 2 or not 1 <= count <= MOST_NODES:
            raise InputError(f"cell of {len(self.edges)} edges: expected two for each of 1 to {MOST_NODES} nodes")
        for place, (op, source) in enumerate(self.edges):
            node = 2 + place // 2
            if op not in _KNOWN:
                raise UnknownNameError(f"operation on edge {place} (into node {node})", op, _KNOWN)
            if not 0 <= source < node:
                raise InputError(f"edge {place}: node {node} reads node {source}, expected one of 0 to {node - 1}")
        if not self.concat or len(set(self.concat)) < len(self.concat):
            raise InputError(f"joined nodes {list(self.concat)}: expected at least one, each once")
        for node in self.concat:
            if not 2 <= node < 2 + count:
                raise InputError(f"joined node {node}: expected one of the cell's own, 2 to {1 + count}")

    @property
    def nodes(self) -> Iterator[tuple[int, tuple[Edge, Edge]]]:
        """Each node's number with its two edges."""
        return ((2 + i // 2, (self.edges[i], self.edges[i + 1])) for i in range(0, len(self.edges), 2))

    @property
    def links(self) -> tuple[tuple[int, ...], ...]:
        """The inputs of each node."""
        return tuple((first[1], second[1]) for _, (first, second) in self.nodes)

    def relabelled(self) -> Cell:
        """The cell's normal form: equal for cells that differ in the numbering of nodes or in the order of edges only.

        Nodes that do not reach the output are left out. Of all numberings in which a node comes after those it reads, the
        one whose nodes, written one after the other, come first in the order of tuples.
        """
        live = reaching(self)
        written = normal_form({node: pair for node, pair in self.nodes if node in live}, self.concat)
        return Cell(
            tuple((op, source) for pair, _ in written for source, op in pair),
            tuple(2 + place for place, (_, joined) in enumerate(written) if joined),
        )


#: a node in a numbering: its edges (input, operation), sorted, and whether it is joined into the output
Written = tuple[tuple[tuple[int, str], ...], bool]
_Edges = Mapping[int, Sequence[Edge]]
_Readers = Mapping[int, tuple[tuple[int, str], ...]]


def normal_form(edges: _Edges, joined: Collection[int]) -> tuple[Written, ...]:
    """A cell's nodes, each given by its edges, in the numbering that comes first; equal for isomorphic cells.

    >>> one = normal_form({2: [("a", 0)], 3: [("b", 0), ("c", 2)]}, [2, 3])
    >>> two = normal_form({2: [("b", 0), ("c", 3)], 3: [("a", 0)]}, [3, 2])
    >>> one == two
    True
    """
    readers: dict[int, list[tuple[int, str]]] = {node: [] for node in (0, 1, *edges)}
    for reader, pair in edges.items():
        for op, source in pair:
            readers[source].append((reader, op))
    ordered = {node: tuple(sorted(found)) for node, found in readers.items()}
    return _first_numbering({0: 0, 1: 1}, edges, ordered, joined)


def _first_numbering(
    numbers: dict[int, int], edges: _Edges, readers: _Readers, joined: Collection[int]
) -> tuple[Written, ...]:
    """The smallest continuation of a numbering; only nodes that are written alike and read differently need trying."""
    ready = {
        node: (tuple(sorted((numbers[source], op) for op, source in pair)), node in joined)
        for node, pair in edges.items()
        if node not in numbers and all(source in numbers for _, source in pair)
    }
    if not ready:
        return ()
    least = min(ready.values())
    alike = {readers[node]: node for node, written in ready.items() if written == least}
    rests = (_first_numbering({**numbers, node: len(numbers)}, edges, readers, joined) for node in alike.values())
    return (least, *min(rests))


@dataclass(frozen=True)
class Architecture:
    """A normal and a reduction cell. Its `str` is the genotype as the DARTS code writes it."""

    normal: Cell
    reduce: Cell

    def __getitem__(self, kind: str) -> Cell:
        return self.normal if kind == "normal" else self.reduce

    def __str__(self) -> str:
        fields = []
        for kind in KINDS:
            cell = self[kind]
            fields += [f"{kind}={list(cell.edges)}", f"{kind}_concat={_write_concat(cell.concat)}"]
        return f"Genotype({', '.join(fields)})"


def _write_concat(concat: tuple[int, ...]) -> str:
    run = range(concat[0], concat[0] + len(concat))
    return repr(run) if len(concat) > 1 and concat == tuple(run) else repr(list(concat))


def within(cell: Cell) -> bool:
    """Whether a cell is one of the space: four nodes, all joined, each with two different inputs, only `OPS`."""
    return (
        len(cell.edges) == 2 * len(NODES)
        and tuple(sorted(cell.concat)) == NODES
        and all(first != second for first, second in cell.links)
        and all(op in OPS for op, _ in cell.edges)
    )


# -- what weights prefer ------------------------------------------------------------------------------------------------
def discretise(rows: Sequence[Sequence[float]]) -> Cell:
    """DARTS' rule: each node keeps the two edges whose best operation weighs most, the stronger first.

    Args:
        rows: for each of `EDGES` the weights of `OPS` (without `none`, which is never kept); trailing ones may be missing.
    """
    strongest = [(max(row), OPS[max(range(len(row)), key=row.__getitem__)]) for row in rows]
    kept: list[Edge] = []
    for node in NODES:
        into = [(strongest[place], source) for place, (source, target) in enumerate(EDGES) if target == node]
        into.sort(key=lambda edge: -edge[0][0])  # stable: in a tie the earlier input
        kept += [(op, source) for (_, op), source in into[:2]]
    return Cell(tuple(kept))


# -- the shape of a cell ------------------------------------------------------------------------------------------------
class Wired(Protocol):
    """What has a shape: the inputs of each node from 2 on, and the nodes joined into the output."""

    @property
    def links(self) -> Sequence[Sequence[int]]:
        """The inputs of each node."""

    @property
    def concat(self) -> tuple[int, ...]:
        """The nodes joined into the output."""


def reaching(cell: Wired) -> frozenset[int]:
    """All nodes, the two inputs included, from which the output can be reached."""
    live = set(cell.concat)
    for node in reversed(range(2, 2 + len(cell.links))):
        if node in live:
            live.update(cell.links[node - 2])
    return frozenset(live)


def width(cell: Wired) -> float:
    """Width in units of one node's: each node that reaches the output counts by its share of edges from cell inputs.

    >>> from foresee.spaces.darts.named import NAMED
    >>> width(NAMED["DARTS_V2"].normal), depth(NAMED["DARTS_V2"].normal)
    (3.5, 3)
    """
    live = reaching(cell)
    nodes = [links for node, links in enumerate(cell.links, 2) if node in live and links]
    return float(sum(sum(source < 2 for source in links) / len(links) for links in nodes))


def depth(cell: Wired) -> int:
    """Edges on the longest path from a cell input to the output, the step into the output included."""
    longest = {0: 0, 1: 0}
    for node, links in enumerate(cell.links, 2):
        steps = [longest[source] for source in links if source in longest]
        if steps:
            longest[node] = 1 + max(steps)
    return max((1 + longest[node] for node in cell.concat if node in longest), default=0)
