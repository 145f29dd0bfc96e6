"""Cells as values: what is refused, identities against networkx, the discretisation rule, width and depth."""

from __future__ import annotations

import random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError, UnknownNameError
from foresee.spaces.darts.cells import (
    EDGES,
    NODES,
    OPS,
    Architecture,
    Cell,
    depth,
    discretise,
    reaching,
    width,
    within,
)
from foresee.spaces.darts.named import NAMED


def any_cell(rng: random.Random, nodes: int, ops: int = 2) -> Cell:
    """A cell that may lie outside the space; few operations, so that equal cells are frequent."""
    edges = tuple((OPS[rng.randrange(ops)], rng.randrange(node)) for node in range(2, 2 + nodes) for _ in range(2))
    own = range(2, 2 + nodes)
    return Cell(edges, tuple(rng.sample(own, rng.randint(1, nodes))))


def renumbered(cell: Cell, rng: random.Random) -> Cell:
    """The same cell with its nodes in another order that still allows to compute them one after the other."""
    edges = dict(cell.nodes)
    new = {0: 0, 1: 1}
    while len(new) < 2 + len(edges):
        ready = [n for n, pair in edges.items() if n not in new and all(source in new for _, source in pair)]
        new[rng.choice(ready)] = len(new)
    pairs = {new[node]: rng.sample([(op, new[source]) for op, source in pair], 2) for node, pair in edges.items()}
    flat = tuple(edge for node in sorted(pairs) for edge in pairs[node])
    return Cell(flat, tuple(rng.sample([new[node] for node in cell.concat], len(cell.concat))))


def as_graph(cell: Cell) -> nx.MultiDiGraph:
    """The part of the cell that reaches the output, its inputs and output told apart."""
    graph = nx.MultiDiGraph()
    live = reaching(cell)
    for node in sorted(live | {0, 1}):
        graph.add_node(node, label=f"input {node}" if node < 2 else "own")
    graph.add_node("output", label="output")
    for node, pair in cell.nodes:
        if node in live:
            graph.add_edges_from((source, node, {"op": op}) for op, source in pair)
    graph.add_edges_from((node, "output", {"op": "join"}) for node in cell.concat)
    return graph


def isomorphic(first: Cell, second: Cell) -> bool:
    return nx.is_isomorphic(
        as_graph(first),
        as_graph(second),
        node_match=nx.algorithms.isomorphism.categorical_node_match("label", None),
        edge_match=nx.algorithms.isomorphism.categorical_multiedge_match("op", None),
    )


@examples(50)
@given(st.integers(0, 2**32), st.integers(1, 6))
def test_normal_form_forgets_numbering_and_order(seed, nodes):
    rng = random.Random(seed)
    cell = any_cell(rng, nodes)
    form = cell.relabelled()
    assert renumbered(cell, rng).relabelled() == form
    assert form.relabelled() == form
    assert isomorphic(form, cell)


def test_normal_forms_are_equal_exactly_for_isomorphic_cells():
    rng = random.Random(0)
    cells = [any_cell(rng, 3, ops=1) for _ in range(45)]
    outcomes = {True: 0, False: 0}
    for place, first in enumerate(cells):
        for second in cells[:place]:
            same = isomorphic(first, second)
            outcomes[same] += 1
            assert (first.relabelled() == second.relabelled()) is same, (first, second)
    assert min(outcomes.values()) >= 10, "the cells are too much alike, or not enough"


def test_twins_that_are_read_differently():
    """Nodes 2 and 3 are alike; reading one of them twice is not reading each once."""
    twin = [("max_pool_3x3", 0), ("max_pool_3x3", 1)] * 2
    one = Cell((*twin, ("skip_connect", 2), ("skip_connect", 2), ("skip_connect", 3), ("skip_connect", 2)))
    two = Cell((*twin, ("skip_connect", 2), ("skip_connect", 3), ("skip_connect", 3), ("skip_connect", 2)))
    swapped = Cell((*twin, ("skip_connect", 3), ("skip_connect", 3), ("skip_connect", 2), ("skip_connect", 3)))
    assert one.relabelled() == swapped.relabelled() != two.relabelled()


def test_many_twins_take_no_time():
    """Sixteen nodes that are written and read alike have 16! numberings, and need one."""
    cell = Cell((("skip_connect", 0), ("skip_connect", 1)) * 16, tuple(range(2, 18)))
    assert cell.relabelled() == cell


def test_idle_nodes_are_left_out_of_the_normal_form():
    cell = Cell((("skip_connect", 0), ("skip_connect", 1)) * 2, (3,))
    assert cell.relabelled() == Cell((("skip_connect", 0), ("skip_connect", 1)), (2,))


@pytest.mark.parametrize(
    ("edges", "concat", "message"),
    [
        ((("skip_connect", 0),), (2,), "two for each"),
        ((), (2,), "two for each"),
        ((("skip_connect", 0), ("skip_connect", 2)), (2,), "edge 1: node 2 reads node 2"),
        ((("skip_connect", 0), ("skip_connect", -1)), (2,), "reads node -1"),
        ((("skip_connect", 0), ("skip_connect", 1)), (), "at least one"),
        ((("skip_connect", 0), ("skip_connect", 1)), (2, 2), "each once"),
        ((("skip_connect", 0), ("skip_connect", 1)), (1,), "joined node 1"),
        ((("skip_connect", 0), ("skip_connect", 1)) * 17, (2,), "1 to 16 nodes"),
    ],
)
def test_what_is_no_cell(edges, concat, message):
    with pytest.raises(InputError, match=message):
        Cell(edges, concat)


def test_an_unknown_operation_has_a_near_name():
    with pytest.raises(UnknownNameError, match=r"edge 1 \(into node 2\).*sep_conv_3x3"):
        Cell((("skip_connect", 0), ("sep_conv3x3", 1)), (2,))


def test_concat_is_written_as_range_where_it_is_one():
    cell = Cell((("skip_connect", 0), ("skip_connect", 1)) * 3, (2, 4))
    assert "normal_concat=range(2, 6)" in str(NAMED["DARTS_V2"])
    assert "normal_concat=[2, 4], " in str(Architecture(cell, cell))
    assert str(NAMED["AmoebaNet_A"]).endswith("reduce_concat=[3, 4, 6])")


def test_which_published_cells_lie_in_the_space():
    outside = {name for name, one in NAMED.items() if not (within(one.normal) and within(one.reduce))}
    assert outside == {"NASNet_A", "AmoebaNet_A", "ENAS"}


# -- the discretisation rule --------------------------------------------------------------------------------------------
def test_discretise_against_a_slow_version():
    rng = random.Random(3)
    rows = [[rng.random() for _ in OPS] for _ in EDGES]
    kept = discretise(rows)
    for node, pair in kept.nodes:
        candidates = sorted(((max(rows[EDGES.index((s, node))]), s) for s in range(node)), reverse=True)
        assert [source for _, source in pair] == [source for _, source in candidates[:2]], "the stronger edge first"
        for op, source in pair:
            row = rows[EDGES.index((source, node))]
            assert row[OPS.index(op)] == max(row)


def test_ties_go_to_the_first():
    assert discretise([[0.0] * len(OPS)] * len(EDGES)).edges == ((OPS[0], 0), (OPS[0], 1)) * len(NODES)


# -- width and depth ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "kind", "wide", "deep"),
    [
        ("NASNet_A", "normal", 5, 2),
        ("AmoebaNet_A", "normal", 4, 4),
        ("ENAS", "normal", 5, 2),
        ("DARTS_V1", "normal", 3.5, 3),
        ("DARTS_V2", "normal", 3.5, 3),
        ("SNAS", "normal", 4, 2),
        ("GDAS_V1", "normal", 2, 5),
        ("PC_DARTS_C10", "normal", 4, 2),
        ("PC_DARTS_ImageNet", "normal", 3, 4),
        ("NASNet_A", "reduce", 3.5, 3),
        ("AmoebaNet_A", "reduce", 4, 3),
        ("ENAS", "reduce", 4, 4),
        ("DARTS_V2", "reduce", 2.5, 3),
        ("SNAS", "reduce", 2.5, 3),
    ],
)
def test_width_and_depth_of_published_cells(name, kind, wide, deep):
    cell = NAMED[name][kind]
    assert (width(cell), depth(cell)) == (wide, deep)


def test_width_counts_only_nodes_that_reach_the_output():
    """AmoebaNet's cell with every node rewired to the inputs: two of its five nodes are then idle."""
    amoeba = NAMED["AmoebaNet_A"].normal
    adapted = Cell(tuple((op, place % 2) for place, (op, _) in enumerate(amoeba.edges)), amoeba.concat)
    assert (width(adapted), depth(adapted)) == (3, 2)


def test_the_deepest_cell_of_the_space():
    chain = Cell(tuple(("skip_connect", s) for s in (0, 1, 2, 0, 3, 2, 4, 3)))
    assert (width(chain), depth(chain)) == (1.5, 5)
