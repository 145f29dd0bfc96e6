"""The shape of a cell: its width and its depth, of any graph without cycles (thesis, Section 4.2.2).

*Depth* is the number of connections on the longest path from an input to the output. *Width* is the total width of the inner
nodes, each counted by the share of its connections that come straight from the cell's inputs, in units of one node's
channels. Only what carries something counts: a connection on no path from an input to the output is none, so edges that a
search left empty, nodes that nobody reads, and nodes that read nothing change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from foresee.errors import InputError
from foresee.spaces.base import Graph, Space

#: what spaces call the inputs of their cells
INPUTS = frozenset({"input", "before last", "last"})


@dataclass(frozen=True)
class Topology:
    """The shape of one cell.

    Args:
        width: in units of one node's channels.
        depth: connections on the longest path; 0 where no input reaches the output.
        nodes: inner nodes that carry something.
        connections: those that carry something, the ones into the output included.
        title: which cell it is.
    """

    width: float
    depth: int
    nodes: int
    connections: int
    title: str = ""

    def __str__(self) -> str:
        """As the thesis writes it: `3.5c, 3`."""
        return f"{self.width:g}c, {self.depth}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Topology:
        """Inverse of `to_json`."""
        return cls(**plain)


def shape_of(graph: Graph, channels: Sequence[float] | None = None) -> Topology:
    """Width and depth of a cell that is drawn as a graph: nodes in topological order, the last one the output.

    Its inputs are the nodes that are called so (`INPUTS`), or where none is, those that read nothing. `channels` are the
    widths of its nodes, where they differ.

    >>> diamond = Graph(("input", "a", "b", "output"), ((0, 1, ""), (0, 2, ""), (1, 2, ""), (1, 3, ""), (2, 3, "")))
    >>> print(shape_of(diamond))
    1.5c, 3
    """
    edges, output = graph.edges, len(graph.nodes) - 1
    if channels is not None and len(channels) != len(graph.nodes):
        raise InputError(f"{len(channels)} widths for {len(graph.nodes)} nodes: one each is needed")
    for source, target, _ in edges:
        if not 0 <= source < target <= output:
            raise InputError(f"edge {source} to {target}: expected nodes in topological order, 0 to {output}")
    inputs = _inputs(graph)
    longest = dict.fromkeys(inputs, 0)  # connections from an input, for every node that one reaches
    for source, target, _ in sorted(edges, key=lambda edge: edge[1]):
        if source in longest and target not in inputs:
            longest[target] = max(longest.get(target, 0), 1 + longest[source])
    reaching = {output}
    for source, target, _ in sorted(edges, key=lambda edge: -edge[1]):
        if target in reaching:
            reaching.add(source)
    carrying = [(source, target) for source, target, _ in edges if source in longest and target in reaching - inputs]
    width, inner = 0.0, {target for _, target in carrying} - {output}
    for node in sorted(inner):
        read = [source in inputs for source, target in carrying if target == node]
        width += (1.0 if channels is None else float(channels[node])) * sum(read) / len(read)
    depth = longest.get(output, 0)
    return Topology(width, depth, len(inner), len(carrying), graph.title.partition(":")[0])


def shapes(space: Space[Any], architecture: Any) -> tuple[Topology, ...]:
    """The shape of every cell of an architecture, in the order in which the space draws them.

    >>> from foresee.spaces import get
    >>> darts = get("darts")
    >>> [str(one) for one in shapes(darts, darts.named["DARTS_V2"])]
    ['3.5c, 3', '2.5c, 3']
    """
    found = tuple(shape_of(graph) for graph in space.graph(architecture) if graph.nodes)
    if not found:
        raise InputError(f"space {space.name} draws no cells, so their width and depth are not known")
    return found


def _inputs(graph: Graph) -> frozenset[int]:
    named = frozenset(place for place, label in enumerate(graph.nodes) if label in INPUTS)
    read = {target for _, target, _ in graph.edges}
    return named or frozenset(place for place in range(len(graph.nodes) - 1) if place not in read)
