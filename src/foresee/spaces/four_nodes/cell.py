"""How a cell of four nodes is wired: an edge from each node to every later one, a node being the sum of what comes in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torch import Tensor, nn

#: (source, target) in the order of the text
EDGES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
NODES = (1, 2, 3)
#: the edges that end in each node
EDGES_INTO = {node: tuple(edge for edge, (_, target) in enumerate(EDGES) if target == node) for node in NODES}


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


def loose_edges(ops: Sequence[str]) -> list[int]:
    """The edges from whose end no path leads to the output."""
    reaching = {NODES[-1]}
    for (source, target), op in reversed(list(zip(EDGES, ops, strict=True))):
        if op != "none" and target in reaching:
            reaching.add(source)
    return [edge for edge, (_, target) in enumerate(EDGES) if target not in reaching]
