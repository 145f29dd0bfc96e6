"""Views of graphs, against versions that walk every way; and laws."""

from __future__ import annotations

import math
import random
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.benchmarks.graph_views import PASSED_ON, view_of_parts, view_of_ways
from foresee.spaces import get
from foresee.spaces.base import Graph

#: spaces whose operations stand on edges, on nodes, in two graphs, and in a chain; and the names of their ends
SPACES = {
    "nasbench201": (("input",), ("output",)),
    "nasbench101": (("input",), ("output",)),
    "darts": (("before last", "last"), ("output",)),
}


def drawn(name, count=25):
    space, rng = get(name), random.Random(4)
    return [space.graph(space.sample(rng)) for _ in range(count)]


def walks(graph, name):
    """Every way through a graph, as its edges."""
    inputs, outputs = SPACES[name]

    def onwards(node, passed):
        if graph.nodes[node] in outputs:
            yield passed
        for edge in graph.edges:
            if edge[0] == node:
                yield from onwards(edge[1], [*passed, edge])

    return [(start, way) for start, label in enumerate(graph.nodes) if label in inputs for way in onwards(start, [])]


def gram(counts):
    columns = [np.array([one.get(key, 0.0) for one in counts]) for key in set().union(*counts)]
    columns = [c for c in columns if sum(c != np.median(c)) > 1]
    columns = [(column - column.mean()) / column.std() for column in columns]
    return np.mean([np.outer(column, column) for column in columns], axis=0) if columns else None


@pytest.mark.parametrize("name", SPACES)
def test_parts_are_those_on_some_way(name):
    graphs, counts = drawn(name), [[], [], []]
    for architecture in graphs:
        labels, joined, numbers = Counter(), Counter(), {}
        for place, graph in enumerate(architecture):
            edges = {edge for _, way in walks(graph, name) for edge in way}
            labels.update((place, graph.nodes[node]) for node in {n for edge in edges for n in edge[:2]})
            labels.update((place, "edge", edge[2]) for edge in edges if edge[2])
            joined.update((place, graph.nodes[s], label, graph.nodes[t]) for s, t, label in edges)
            for node, label in enumerate(graph.nodes):
                for which, found in enumerate(re.findall("[0-9]+", label)):
                    if found != label:
                        numbers[place, node, which] = math.log(1 + int(found))
        for column, one in zip(counts, (labels, joined, numbers), strict=True):
            column.append(one)
    expected = [found for one in counts if (found := gram(one)) is not None]
    view = view_of_parts(graphs)
    np.testing.assert_allclose(view @ view.T, np.mean(expected, axis=0), atol=1e-9)


@pytest.mark.parametrize("name", SPACES)
def test_ways_are_counted_as_if_each_were_walked(name):
    graphs, counts = drawn(name), []
    for architecture in graphs:
        found = {}
        for place, graph in enumerate(architecture):
            passed = []
            for start, way in walks(graph, name):
                met = [graph.nodes[start]] if len(SPACES[name][0]) > 1 else []
                met += [label for _, _, label in way if label and label not in PASSED_ON]
                if name == "nasbench101":
                    met = [graph.nodes[target] for _, target, _ in way[:-1]]
                passed.append(met)
            found[place, "ways"] = math.log(1 + len(passed))
            for label in {one for met in passed for one in met} | ({None} if passed else set()):
                each = [len(met) if label is None else met.count(label) for met in passed]
                found |= {(place, label, "most"): max(each), (place, label, "least"): min(each)}
                found |= {(place, label, "mean"): sum(each) / len(each), (place, label, "all"): math.log(1 + sum(each))}
        counts.append(found)
    view = view_of_ways(graphs)
    np.testing.assert_allclose(view @ view.T, gram(counts), atol=1e-9)


@pytest.mark.parametrize("view", [view_of_parts, view_of_ways])
@pytest.mark.parametrize("name", ["nasbench201", "darts", "nats_size", "autoformer_tiny"])
def test_the_order_of_architectures_does_not_count(view, name):
    graphs = drawn(name, 12)
    order = np.random.default_rng(0).permutation(12)
    np.testing.assert_allclose(view([graphs[place] for place in order]), view(graphs)[order], atol=1e-12)


@pytest.mark.parametrize("view", [view_of_parts, view_of_ways])
@examples(10)
@given(st.integers(0, 1000))
def test_what_reaches_no_output_and_titles_do_not_count(view, seed):
    rng = random.Random(seed)
    space = get("nasbench201")
    alive = [space.graph(space.sample(rng)) for _ in range(8)]
    # a further node hangs on the input of every second cell and leads nowhere; somewhere else its label goes on
    more = [
        [Graph((*g.nodes[:1], "1", *g.nodes[1:]), (*tuple(_moved(g)), (0, 1, "nor_conv_3x3")), f"cell {place}")]
        if place % 2
        else [Graph(g.nodes, g.edges, f"cell {place}")]
        for place, [g] in enumerate(alive)
    ]
    carried = Graph(("input", "1", "2", "output"), ((0, 1, "a"), (1, 2, "a"), (2, 3, "a")))
    np.testing.assert_allclose(view([*alive, [carried]]), view([*more, [carried]]), atol=1e-12)


def _moved(graph):
    return ((s + (s > 0), t + (t > 0), label) for s, t, label in graph.edges)


def test_a_number_in_a_label_is_a_number():
    def chain(width):
        return [Graph(("stem", f"cell, {width}", "head"), ((0, 1, ""), (1, 2, "")))]

    widths = [8, 8, 16, 16, 32, 32, 64, 64]
    view = view_of_parts([chain(width) for width in widths])
    logs = np.log1p(widths)
    like = (logs - logs.mean()) / logs.std()
    assert max(abs(np.corrcoef(view.T[column], like)[0, 1]) for column in range(view.shape[1])) == pytest.approx(1)


def test_there_may_be_more_ways_than_a_number_holds():
    def ladder(rungs):
        edges = [(node, node + 1, op) for node in range(rungs) for op in ("conv", "skip")]
        return [Graph(("in", *map(str, range(1, rungs)), "out"), tuple(edges))]

    view = view_of_ways([ladder(1500), ladder(1500), ladder(1200), ladder(1200), ladder(3)])
    assert view.shape[1] > 2
    assert np.isfinite(view).all()


@pytest.mark.parametrize("view", [view_of_parts, view_of_ways])
def test_architectures_without_graphs_or_all_alike_have_nothing_to_see(view):
    same = Graph(("in", "out"), ((0, 1, "conv"),))
    assert view([[], [], []]).shape == (3, 0)
    assert view([[same], [same]]).shape == (2, 0)
    assert view([]).shape == (0, 0)
    assert np.isfinite(view([[same], [], [Graph(("in", "out"), ())], [same]])).all()
