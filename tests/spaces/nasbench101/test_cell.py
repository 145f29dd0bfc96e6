from __future__ import annotations

import itertools
import random

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError, UnknownNameError
from foresee.spaces.nasbench101 import OPS, Architecture, NASBench101, published_hash

INCEPTION = "conv1x1@0+conv3x3@0+conv3x3@0+conv3x3@3+maxpool3x3@0+output@1,2,4,5"
SEEDS = st.integers(0, 10_000)


def raw_cell(seed: int) -> Architecture:
    """A cell with its useless vertices still there, as often as not."""
    return NASBench101(sampling="published").sample(random.Random(seed))


def renumbered(cell: Architecture, rng: random.Random) -> Architecture:
    """The same cell with its vertices in another order that the edges allow."""
    order, left = [0], set(range(1, len(cell.ops) + 1))
    while left:
        ready = [v for v in sorted(left) if not set(cell.parents[v - 1]) & left]
        order.append(rng.choice(ready))
        left.remove(order[-1])
    order.append(len(cell.ops) + 1)
    new = {vertex: number for number, vertex in enumerate(order)}
    return Architecture(
        tuple(cell.ops[v - 1] for v in order[1:-1]),
        tuple(tuple(sorted(new[p] for p in cell.parents[v - 1])) for v in order[1:]),
    )


def as_graph(cell: Architecture) -> networkx.DiGraph:
    graph = networkx.DiGraph()
    for vertex, label in enumerate(cell.labels):
        graph.add_node(vertex, label=label)
    graph.add_edges_from((p, v) for v, read in enumerate(cell.parents, 1) for p in read)
    return graph


def isomorphic(one: Architecture, two: Architecture) -> bool:
    return networkx.is_isomorphic(
        as_graph(one.pruned), as_graph(two.pruned), node_match=lambda a, b: a["label"] == b["label"]
    )


# -- text ---------------------------------------------------------------------------------------------------------------
def test_text_and_the_benchmarks_names():
    cell = Architecture.parse(INCEPTION)
    assert str(cell) == INCEPTION
    assert cell == Architecture.parse(INCEPTION.replace("conv3x3@", "conv3x3-bn-relu@").replace("+", " + "))
    assert Architecture.parse("conv1x1@-+conv3x3@0+output@2").pruned == Architecture.parse("conv3x3@0+output@1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "vertex 1: '' has no @"),
        ("conv3x3@0", "only it, is the output"),
        ("output@0+output@0", "vertex 1: 'output'"),
        ("conv3x3+output@0", "vertex 1: 'conv3x3' has no @"),
        ("conv3x@0+output@1", "operation of vertex 1 'conv3x': did you mean conv3x3"),
        ("conv3x3@1+output@1", "vertex 1: reads '1', expected vertices below 1"),
        ("conv3x3@0+output@0,x", "vertex 2: reads 'x'"),
        ("conv3x3@0+output@", "vertex 2: reads ''"),
        ("conv3x3@0+output@1,1", "occurs twice"),
        ("conv3x3@0+output@-", "no path leads"),
        ("conv3x3@-+output@1", "no path leads"),
        ("+".join(["conv3x3@0"] * 6) + "+output@6", "8 vertices"),
        ("conv3x3@0+conv3x3@0,1+conv3x3@0,1,2+conv3x3@0,1+output@3,4", "10 edges"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str):
    with pytest.raises(InputError, match=r"cell|operation") as caught:
        Architecture.parse(text)
    assert message in str(caught.value)


def test_edges_of_useless_vertices_do_not_count():
    text = "conv3x3@0+conv3x3@0,1+conv3x3@0,1,2+conv3x3@0,1,2+conv3x3@0,1+output@1"
    assert str(Architecture.parse(text).pruned) == "conv3x3@0+output@1"


def test_parts_are_checked():
    with pytest.raises(InputError, match="parents of 1 vertices"):
        Architecture(("conv3x3",), ((0,),))
    with pytest.raises(InputError, match="vertex 2: reads"):
        Architecture(("conv3x3",), ((0,), (1, 0)))
    with pytest.raises(UnknownNameError, match="vertex 1"):
        Architecture(("conv5x5",), ((0,), (1,)))


# -- matrices -------------------------------------------------------------------------------------------------------------
@given(SEEDS)
@examples(30)
def test_matrix_round_trips(seed: int):
    cell = raw_cell(seed)
    matrix, ops = cell.spec()
    assert ops[0] == "input"
    assert ops[-1] == "output"
    assert not np.tril(np.array(matrix)).any()
    assert Architecture.from_matrix(matrix, ops) == cell
    assert Architecture.from_matrix(np.array(matrix), np.array(cell.labels)) == cell
    letters = "".join({"conv3x3": "3", "conv1x1": "1", "maxpool3x3": "m"}[op] for op in cell.ops)
    upper = "".join(str(matrix[i][j]) for i, j in itertools.combinations(range(7), 2))
    assert Architecture.from_matrix(upper, letters) == cell
    assert Architecture.from_matrix("".join(str(bit) for row in matrix for bit in row), list(cell.ops)) == cell


@pytest.mark.parametrize(
    ("matrix", "ops", "message"),
    [
        ([[0, 1], [0, 0]], "3", "expected 3 x 3"),
        ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], "3", "row 2, column 0"),
        ([[0, 1, 0], [0, 1, 1], [0, 0, 0]], "3", "row 1, column 1"),
        ([[0, 2, 0], [0, 0, 1], [0, 0, 0]], "3", "0 and 1"),
        ("10", "3", "the 3 above the diagonal"),
        ("10x", "3", "digits 0 or 1"),
        ("101", "5", "operation of vertex 1 '5'"),
        ("101", [7], "operation of vertex 1 '7'"),
    ],
)
def test_bad_matrices(matrix: object, ops: object, message: str):
    with pytest.raises(InputError, match=message):
        Architecture.from_matrix(matrix, ops)


# -- identity -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "key"),
    [
        (INCEPTION, "28cfc7874f6d200472e1a9dcd8650aa0"),
        ("conv3x3@0+conv3x3@1+output@0,2", "b5fb4f6193360330b6ff6a52cbf0cad7"),
        ("conv3x3@0+output@1", "b49ac8c578b4561d79ac7087988f1c61"),
        ("output@0", "043721b9c7fe8c5fad811d47d83132ec"),
    ],
)
def test_published_hashes(text: str, key: str):
    assert Architecture.parse(text).hash == key


def test_hash_of_numpy_numbers():
    cell = Architecture.parse(INCEPTION)
    assert published_hash(np.array(cell.matrix), np.array(cell.labels)) == cell.hash


@given(SEEDS)
@examples(50)
def test_isomorphic_cells_are_one(seed: int):
    cell = raw_cell(seed)
    other = renumbered(cell, random.Random(seed))
    assert isomorphic(cell, other)
    assert other.hash == cell.hash
    assert other.normal == cell.normal
    assert isomorphic(cell.normal, cell)
    assert cell.normal.normal == cell.normal


def test_different_cells_differ_as_graphs_do():
    """All pairs of small cells: hash and normal form tell apart exactly what networkx tells apart."""
    cells = [
        Architecture(ops, ((0,), second, third))
        for second in ((0,), (1,), (0, 1))
        for third in itertools.chain.from_iterable(itertools.combinations(range(3), k) for k in (1, 2, 3))
        for ops in itertools.product(OPS, repeat=2)
    ]
    for one, two in itertools.islice(itertools.combinations(cells, 2), 0, None, 7):
        same = isomorphic(one, two)
        assert (one.hash == two.hash) == same, f"{one} and {two}"
        assert (one.normal == two.normal) == same, f"{one} and {two}"


@pytest.mark.slow
def test_every_measured_cell(table: list[dict[str, str]]):
    """Text, hash and, since networks are built from the normal form, parameters, of every row."""
    from foresee.task import Task

    space, task = NASBench101(), Task((3, 32, 32), 10)
    assert len(table) == 13_231
    for row in table:
        cell = Architecture.from_matrix(row["adj_upper"], row["ops"])
        assert len(cell.ops) + 2 == int(row["n"])
        assert space.canonical(Architecture.parse(str(cell))) == row["hash"]
        assert space.counts(cell, task).params == int(row["params"]), f"{cell}"
