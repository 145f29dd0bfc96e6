"""A cell of NAS-Bench-201 and the benchmark's text of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from foresee.errors import InputError, UnknownNameError
from foresee.spaces.four_nodes import EDGES, EDGES_INTO, NODES

#: in the benchmark's order, which fixes the order of `enumerate`
OPS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")

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


#: `ResNet`: a residual block. `NATS_SSS`: the cell of the size space of NATS-Bench.
NAMED = {
    "ResNet": Architecture.parse("|nor_conv_3x3~0|+|none~0|nor_conv_3x3~1|+|skip_connect~0|none~1|skip_connect~2|"),
    "NATS_SSS": Architecture.parse(_EXAMPLE),
}
