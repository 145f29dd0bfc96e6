"""Width and depth of cells, against the thesis and against the formulas of DARTS cells."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.errors import InputError
from foresee.insight.topology import Topology, shape_of, shapes
from foresee.spaces import get
from foresee.spaces.base import Graph
from foresee.spaces.darts.cells import depth, width

#: name -> normal cell, reduction cell
KNOWN = {
    "NASNet_A": ("5c, 2", "3.5c, 3"),
    "AmoebaNet_A": ("4c, 4", "4c, 3"),
    "ENAS": ("5c, 2", "4c, 4"),
    "DARTS_V1": ("3.5c, 3", "2.5c, 3"),
    "DARTS_V2": ("3.5c, 3", "2.5c, 3"),
    "SNAS": ("4c, 2", "2.5c, 3"),
    "GDAS_V1": ("2c, 5", None),
    "PC_DARTS_C10": ("4c, 2", None),
    "PC_DARTS_ImageNet": ("3c, 4", None),
}


@pytest.mark.parametrize(("name", "known"), KNOWN.items())
def test_known_cells(name, known):
    """Figure 4.1 of the thesis, and the other published cells."""
    darts = get("darts")
    for found, expected in zip(shapes(darts, darts.named[name]), known, strict=True):
        assert expected is None or str(found) == expected


@given(st.integers(0, 10**6))
def test_random_darts_cells_agree_with_their_own_formulas(seed):
    darts = get("darts")
    architecture = darts.sample(random.Random(seed))
    for kind, found in zip(("normal", "reduce"), shapes(darts, architecture), strict=True):
        cell = architecture[kind]
        assert (found.width, found.depth) == (width(cell), depth(cell))
        assert found.title == {"normal": "normal cell", "reduce": "reduction cell"}[kind]
        assert found.nodes == 4
        assert found.connections == 12


def longest_by_trying(graph, inputs):
    """Every path, one after the other."""

    def from_node(node):
        if node == len(graph.nodes) - 1:
            return 0
        steps = [from_node(target) for source, target, _ in graph.edges if source == node]
        known = [1 + one for one in steps if one is not None]
        return max(known, default=None)

    return max((one for one in map(from_node, inputs) if one is not None), default=0)


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(1, 6))), st.integers(2, 7))
def test_any_graph(pairs, count):
    """Depth by trying all paths; whatever is on no path can be taken away."""
    edges = tuple(sorted((a, b, "") for a, b in pairs if a < b < count))
    graph = Graph(("input", *"abcdefg"[: count - 2], "output"), edges)
    found = shape_of(graph)
    assert found.depth == longest_by_trying(graph, [0])
    assert 0 <= found.width <= found.nodes
    reachable = {0}
    for a, b, _ in edges:
        if a in reachable:
            reachable.add(b)
    fed = tuple(edge for edge in edges if edge[0] in reachable)
    assert shape_of(Graph(graph.nodes, fed)) == found
    if found.depth >= 2:
        assert found.width > 0


def test_robnets_and_cells_of_nasbench():
    """More than two inputs to a node, operations on nodes, and edges that were left empty."""
    robnet = get("robnet")
    assert len(shapes(robnet, robnet.named["RobNet_free"])) == 20
    nb201 = get("nasbench201")
    wide = nb201.parse("|nor_conv_3x3~0|+|nor_conv_3x3~0|none~1|+|none~0|nor_conv_3x3~1|nor_conv_3x3~2|")
    deep = nb201.parse("|nor_conv_3x3~0|+|none~0|nor_conv_3x3~1|+|none~0|none~1|nor_conv_3x3~2|")
    unfed = nb201.parse("|none~0|+|none~0|nor_conv_3x3~1|+|skip_connect~0|none~1|nor_conv_3x3~2|")
    nothing = nb201.parse("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|")
    assert [str(shapes(nb201, one)[0]) for one in (wide, deep, unfed, nothing)] == ["2c, 2", "1c, 3", "0c, 1", "0c, 0"]


def test_nodes_of_different_widths():
    graph = Graph(("in", "a", "b", "out"), ((0, 1, ""), (0, 2, ""), (1, 3, ""), (2, 3, "")))
    assert shape_of(graph).width == 2
    assert shape_of(graph, [1, 16, 32, 1]).width == 48
    with pytest.raises(InputError, match="one each"):
        shape_of(graph, [1.0])
    with pytest.raises(InputError, match="topological"):
        shape_of(Graph(("in", "a", "out"), ((1, 0, ""),)))


def test_json_and_spaces_without_pictures():
    one = Topology(3.5, 3, 4, 12, "normal cell")
    assert Topology.from_json(one.to_json()) == one
    space = get("mlp")
    if not space.graph(space.sample(random.Random(0))):
        with pytest.raises(InputError, match="draws no cells"):
            shapes(space, space.sample(random.Random(0)))
