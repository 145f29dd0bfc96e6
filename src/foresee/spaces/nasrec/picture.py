"""A NASRec architecture as a graph for drawing."""

from __future__ import annotations

from foresee.spaces.base import Graph
from foresee.spaces.nasrec.architecture import BINARY_OPS, Architecture, liveness


def picture(architecture: Architecture) -> Graph:
    """What reaches the logit: a node for each operation, merge and input; dead parts are not drawn."""
    live, _ = liveness(architecture)
    nodes = ["dense", "sparse"]
    edges: list[tuple[int, int, str]] = []
    dense, sparse = {0: 0}, {0: 1}  # input number -> the node that holds it

    def node(label: str, *sources: tuple[int, str]) -> int:
        nodes.append(label)
        edges.extend((source, len(nodes) - 1, mark) for source, mark in sources)
        return len(nodes) - 1

    for number, (block, alive) in enumerate(zip(architecture.blocks, live, strict=True), 1):
        tokens = [(sparse[read], "") for read in block.sparse_inputs if read in sparse]
        if alive.dense:
            if block.dense in BINARY_OPS:
                sources = [(dense[block.left], "left"), (dense[block.right], "right")]
            else:
                sources = [(dense[read], "") for read in block.dense_inputs]
            sources += tokens if block.dense == "dot" else []
            dense[number] = node(f"{number} {block.dense} {block.dense_width}", *sources)
        if alive.sparse:
            sparse[number] = node(f"{number} {block.sparse} {block.sparse_width}", *tokens)
        if alive.interact:
            sparse[number] = node(f"{number} interact", (dense[number], ""), (sparse[number], ""))
        if alive.fm:
            dense[number] = node(f"{number} fm", (dense[number], ""), (sparse[number], ""))
    last = len(architecture.blocks)
    node("logit", (dense[last], ""), (sparse[last], ""))
    return Graph(tuple(nodes), tuple(edges), title="blocks")
