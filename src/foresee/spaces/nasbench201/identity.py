"""Which cells are one: texts that are equal where the functions are, as far as each of them looks."""

from __future__ import annotations

from foresee.spaces.four_nodes import NODES
from foresee.spaces.nasbench201.architecture import Architecture


def published_identity(cell: Architecture, *, zero: bool) -> str:
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


def function_identity(cell: Architecture) -> str:
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
