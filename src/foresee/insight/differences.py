"""Two architectures side by side: what they share, and what differs, edge by edge.

    found = compared(space, first, second)
    print(found)                      # cell by cell: how many connections are shared, what is in one alone
    first_svg, second_svg = found.cells[0].drawings()       # what is shared steps back

Cells are compared as they are written: two that differ in the numbering of nodes alone differ here, and `same` says that they
are one and the same network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foresee.errors import InputError
from foresee.insight.topology import Topology, shape_of
from foresee.lazy import find
from foresee.spaces.base import Graph, Space

Edge = tuple[int, int, str]


@dataclass(frozen=True)
class CellDifference:
    """One cell of both.

    Args:
        first: the cell of the first architecture, or None where it has fewer cells.
        second: of the second.
        shared: edges of both.
        only_first: edges of the first alone.
        only_second: edges of the second alone.
        changed: edges between the same nodes with another operation, (source, target, first's, second's).
    """

    first: Graph | None
    second: Graph | None
    shared: tuple[Edge, ...]
    only_first: tuple[Edge, ...]
    only_second: tuple[Edge, ...]
    changed: tuple[tuple[int, int, str, str], ...]

    @property
    def title(self) -> str:
        """Which cell it is."""
        graph = self.first or self.second
        return "" if graph is None else graph.title.partition(":")[0] or "cell"

    @property
    def shapes(self) -> tuple[Topology | None, Topology | None]:
        """Width and depth of both."""
        one, two = (None if graph is None else shape_of(graph) for graph in (self.first, self.second))
        return one, two

    def drawings(self, name: str = "difference") -> tuple[str, str]:
        """Both as SVG in one set of colours, what is shared stepping back; "" for one that is not there."""
        draw, palette = (find("foresee.report.graphs", what) for what in ("draw", "palette"))
        pair = (self.first, self.second)
        colours = palette([graph for graph in pair if graph is not None])
        one, two = (
            "" if graph is None else draw(graph, colours, name=f"{name}-{place}", against=other)
            for place, (graph, other) in enumerate(zip(pair, reversed(pair), strict=True), 1)
        )
        return one, two

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        shapes = [None if one is None else one.to_json() for one in self.shapes]
        edges = {key: [list(one) for one in getattr(self, key)] for key in ("shared", "only_first", "only_second")}
        return {"title": self.title, "shapes": shapes, **edges, "changed": [list(one) for one in self.changed]}

    def __str__(self) -> str:
        shapes = " against ".join("no cell" if one is None else str(one) for one in self.shapes)
        lines = [f"{self.title}: {shapes}; {len(self.shared)} connections shared"]
        ours, theirs = (() if graph is None else graph.nodes for graph in (self.first, self.second))
        for edges, names, mark in ((self.only_first, ours, "-"), (self.only_second, theirs, "+")):
            lines += [f"  {mark} {names[a]} -> {names[b]} {op}".rstrip() for a, b, op in edges]
        lines += [f"  ~ {ours[a]} -> {ours[b]} {one} became {two}" for a, b, one, two in self.changed]
        return "\n".join(lines)


@dataclass(frozen=True)
class Difference:
    """Two architectures of one space: all their cells, and whether they are one and the same network."""

    cells: tuple[CellDifference, ...]
    same: bool

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"same": self.same, "cells": [one.to_json() for one in self.cells]}

    def __str__(self) -> str:
        words = "the same network" if self.same else "different networks"
        return "\n".join([words, *map(str, self.cells)])


def compared(space: Space[Any], first: Any, second: Any) -> Difference:
    """Two architectures of a space, cell by cell.

    >>> from foresee.spaces import get
    >>> darts = get("darts")
    >>> print(compared(darts, darts.named["DARTS_V1"], darts.named["DARTS_V2"]).cells[0])
    normal cell: 3.5c, 3 against 3.5c, 3; 9 connections shared
      ~ before last -> 3 skip_connect became sep_conv_3x3
      ~ before last -> 5 sep_conv_3x3 became skip_connect
      ~ 2 -> 5 skip_connect became dil_conv_3x3
    """
    one, two = space.graph(first), space.graph(second)
    if not one and not two:
        raise InputError(f"space {space.name} draws no cells, so there is nothing to put side by side")
    return Difference(graphs_compared(one, two), space.canonical(first) == space.canonical(second))


def graphs_compared(first: Sequence[Graph], second: Sequence[Graph]) -> tuple[CellDifference, ...]:
    """Cells that are there as graphs, one by one; where one side has fewer, the rest stands alone."""
    count = max(len(first), len(second))
    return tuple(_cell(*pair) for pair in zip(_filled(first, count), _filled(second, count), strict=True))


def _filled(graphs: Sequence[Graph], count: int) -> list[Graph | None]:
    return [*graphs, *([None] * (count - len(graphs)))]


def _cell(first: Graph | None, second: Graph | None) -> CellDifference:
    """Edges counted, since two may be alike; those between the same nodes are paired as changed."""
    left, right = (Counter(graph.edges if graph else ()) for graph in (first, second))
    shared, gone, new = left & right, left - right, right - left
    changed = []
    for edge in sorted(gone.elements()):
        beside = next((one for one in sorted(new.elements()) if one[:2] == edge[:2]), None)
        if beside is not None:
            changed.append((*edge[:2], edge[2], beside[2]))
            gone, new = gone - Counter([edge]), new - Counter([beside])
    both, one, two = (tuple(sorted(edges.elements())) for edges in (shared, gone, new))
    return CellDifference(first, second, both, one, two, tuple(changed))
