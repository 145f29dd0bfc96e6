"""How a cell of four nodes is wired."""

from __future__ import annotations

import itertools

import networkx
import pytest
import torch
from torch import nn

from foresee.spaces.four_nodes import EDGES, EDGES_INTO, NODES, Cell, loose_edges


class Times(nn.Module):
    """Multiplies, and remembers that it was asked."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor, self.asked = factor, 0

    def forward(self, x):
        self.asked += 1
        return self.factor * x


def test_an_edge_from_each_node_to_every_later_one():
    assert sorted(EDGES) == sorted(itertools.combinations(range(4), 2))
    assert {node: [EDGES[edge][0] for edge in edges] for node, edges in EDGES_INTO.items()} == {
        node: list(range(node)) for node in NODES
    }


def test_a_node_is_the_sum_of_what_comes_in():
    factors = dict(zip(EDGES, (2.0, 3.0, 5.0, 7.0, 11.0, 13.0), strict=True))
    cell = Cell(["op"] * 6, [Times(factors[edge]) for edge in EDGES])
    paths = networkx.all_simple_paths(networkx.DiGraph(EDGES), 0, 3)
    products = [torch.tensor([factors[pair] for pair in itertools.pairwise(path)]).prod() for path in paths]
    assert cell(torch.ones(1)).item() == sum(products)


@pytest.mark.parametrize("every", [False, True])
def test_none_is_computed_only_where_a_node_has_nothing_else(every):
    ops = ["none", "op", "none", "none", "none", "none"]  # node 2 has one; nodes 1 and 3 have nothing
    edges = [Times(0.0 if op == "none" else 1.0) for op in ops]
    assert Cell(ops, edges, every=every)(torch.ones(1)).item() == 0
    assert [edge.asked for edge in edges] == ([1] * 6 if every else [1, 1, 0, 1, 0, 0])


def test_loose_edges_end_where_no_path_leads_to_the_output():
    for used in itertools.product([False, True], repeat=6):
        graph = networkx.DiGraph()
        graph.add_nodes_from(range(4))
        graph.add_edges_from(edge for edge, there in zip(EDGES, used, strict=True) if there)
        expected = [place for place, (_, target) in enumerate(EDGES) if not networkx.has_path(graph, target, 3)]
        assert loose_edges(["op" if there else "none" for there in used]) == expected
