"""Graphs in rows: every node and edge is there, nested arcs keep apart, and colours go by what nodes do."""

from __future__ import annotations

import itertools
import random
import re

from hypothesis import given
from hypothesis import strategies as st

from foresee.report import placed
from foresee.report.graphs import draw, operations, palette
from foresee.spaces.base import Graph
from foresee.spaces.find import get

SMALL = Graph(
    ("dense", "sparse", "1 dot 16", "1 linear3d 8", "1 fm", "logit"),
    ((0, 2, ""), (1, 2, ""), (1, 3, ""), (2, 4, ""), (3, 4, ""), (4, 5, ""), (0, 5, "left")),
    kinds=("", "", "dot", "linear3d", "fm", ""),
    places=((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (3, 0)),
)


def test_all_is_drawn_and_coloured_by_kind():
    colours = palette([SMALL])
    assert sorted(colours) == ["dot", "fm", "linear3d"]
    svg = draw(SMALL, colours, name="a")
    assert svg.count('class="edge') == len(SMALL.edges)
    assert svg.count('class="node') == len(SMALL.nodes)
    assert svg.count(f'class="node op{colours["dot"]}"') == 1
    assert ">left<" in svg


def test_streams_stand_in_their_rows():
    svg, width, high = placed.draw_placed(SMALL, palette([SMALL]))
    boxes = [
        tuple(map(float, found))
        for found in re.findall(r'class="node[^>]*><rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', svg)
    ]
    rows = sorted({y for _, y, _ in boxes})
    assert [y == rows[row] for (_, y, _), (_, row) in zip(boxes, SMALL.places, strict=True)] == [True] * len(boxes)
    assert all(x >= 0 and x + wide <= width and y + 26 <= high for x, y, wide in boxes)
    for row in rows:
        ordered = sorted((x, x + wide) for x, y, wide in boxes if y == row)
        assert all(one[1] < other[0] for one, other in itertools.pairwise(ordered))


@given(st.integers(0, 10_000), st.sampled_from(["nasrec_small", "nasrec_full"]))
def test_overlapping_arcs_have_lanes_of_their_own(seed, name):
    space = get(name)
    (graph,) = space.graph(space.sample(random.Random(seed)))
    assert len(graph.kinds) == len(graph.places) == len(graph.nodes)
    assert len(set(graph.places)) == len(graph.nodes)
    arcs = placed._lanes(graph)
    spans = {n: tuple(graph.places[at][0] for at in graph.edges[n][:2]) for n in arcs}
    for one in arcs:
        assert graph.places[graph.edges[one][0]][1] == (0 if arcs[one] > 0 else 1)
        for other in arcs:
            crossing = spans[one][0] < spans[other][1] and spans[other][0] < spans[one][1]
            assert one == other or not crossing or arcs[one] != arcs[other]
    assert set(operations(graph)) <= {"dot", "linear2d", "linear3d", "gate", "sum", "transformer", "interact", "fm"}
