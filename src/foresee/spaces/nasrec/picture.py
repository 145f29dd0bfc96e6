"""A NASRec architecture as a graph for drawing."""

from __future__ import annotations

from foresee.spaces.base import Graph
from foresee.spaces.nasrec.architecture import BINARY_OPS, Architecture, liveness


def picture(architecture: Architecture) -> Graph:
    """What reaches the logit: a node for each operation, merge and input; dead parts are not drawn.

    The dense stream is the first row and the sparse one the second; a block has two columns, its operations and its merges.
    """
    live, _ = liveness(architecture)
    nodes, kinds, places = ["dense", "sparse"], ["", ""], [(0, 0), (0, 1)]
    edges: list[tuple[int, int, str]] = []
    dense, sparse = {0: 0}, {0: 1}  # input number -> the node that holds it

    def node(label: str, kind: str, place: tuple[int, int], *sources: tuple[int, str]) -> int:
        nodes.append(label)
        kinds.append(kind)
        places.append(place)
        edges.extend((source, len(nodes) - 1, mark) for source, mark in sources)
        return len(nodes) - 1

    for number, (block, alive) in enumerate(zip(architecture.blocks, live, strict=True), 1):
        tokens = [(sparse[read], "") for read in block.sparse_inputs if read in sparse]
        if alive.dense:
            if block.dense in BINARY_OPS:
                sources = [(dense[block.left], "left"), (dense[block.right], "right")]
                if block.left == block.right:
                    sources = [(dense[block.left], "both")]
            else:
                sources = [(dense[read], "") for read in block.dense_inputs]
            sources += tokens if block.dense == "dot" else []
            dense[number] = node(
                f"{number} {block.dense} {block.dense_width}", block.dense, (2 * number - 1, 0), *sources
            )
        if alive.sparse:
            sparse[number] = node(
                f"{number} {block.sparse} {block.sparse_width}", block.sparse, (2 * number - 1, 1), *tokens
            )
        if alive.interact:
            sparse[number] = node(
                f"{number} interact", "interact", (2 * number, 1), (dense[number], ""), (sparse[number], "")
            )
        if alive.fm:
            dense[number] = node(f"{number} fm", "fm", (2 * number, 0), (dense[number], ""), (sparse[number], ""))
    last = len(architecture.blocks)
    node("logit", "", (2 * last + 1, 0), (dense[last], ""), (sparse[last], ""))
    return Graph(tuple(nodes), tuple(edges), title="blocks", kinds=tuple(kinds), places=tuple(places))
