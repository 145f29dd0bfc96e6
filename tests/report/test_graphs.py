from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.report.graphs import Cells, draw, lanes, load_cells, operations, palette
from foresee.runs.record import Record
from foresee.spaces.base import Graph

NB201 = Graph(
    ("in", "1", "2", "out"),
    ((0, 1, "conv"), (0, 2, "skip"), (1, 2, "pool"), (0, 3, "none"), (1, 3, "conv"), (2, 3, "skip")),
)
NB101 = Graph(("input", "conv3x3", "maxpool", "output"), ((0, 1, ""), (1, 2, ""), (0, 2, ""), (2, 3, "")))


@st.composite
def dags(make: Any) -> Graph:
    many = make(st.integers(1, 12))
    pairs = list(combinations(range(many), 2))
    chosen = make(st.lists(st.sampled_from(pairs), max_size=24)) if pairs else []
    ops = ["", "conv", "sep_conv_5x5", "none"]
    return Graph(tuple(f"n{i}" for i in range(many)), tuple((a, b, make(st.sampled_from(ops))) for a, b in chosen))


def test_a_cell_of_four_nodes_is_balanced() -> None:
    found = {(arc.start, arc.end): arc.lane for arc in lanes(NB201)}
    assert found == {(0, 1): 0, (1, 2): 0, (2, 3): 0, (0, 2): 1, (1, 3): -1, (0, 3): 2}


@examples(50)
@given(dags())
def test_no_two_overlapping_edges_share_a_lane_and_nested_ones_lie_inside(graph: Graph) -> None:
    arcs = lanes(graph)
    assert [(a.start, a.end, a.label) for a in arcs] == list(graph.edges)
    for a, b in combinations(arcs, 2):
        overlap = a.start < b.end and b.start < a.end
        if overlap and a.lane * b.lane > 0:
            assert a.lane != b.lane
            outer, inner = (a, b) if abs(a.lane) > abs(b.lane) else (b, a)
            assert outer.end - outer.start >= inner.end - inner.start
        if a.lane == b.lane == 0:
            assert not overlap
    assert all(arc.end - arc.start == 1 for arc in arcs if arc.lane == 0)


@examples(50)
@given(dags())
def test_drawings_are_well_formed_and_inside_their_box(graph: Graph) -> None:
    root = ET.fromstring(draw(graph, palette([graph]), name="g"))
    _, _, width, height = map(float, root.get("viewBox", "").split())
    for rect in root.iter("rect"):
        x, y, w, h = (float(rect.get(key, "nan")) for key in ("x", "y", "width", "height"))
        assert x >= -0.6
        assert x + w <= width + 0.6
        assert y >= -0.6
        assert y + h <= height + 0.6
    texts = [text.text for text in root.iter("text")]
    assert sorted(texts) == sorted([*graph.nodes, *(label for _, _, label in graph.edges if label)])
    assert len(list(root.iter("path"))) == 2 * len(graph.edges)


def test_names_of_edges_do_not_cover_each_other() -> None:
    root = ET.fromstring(draw(NB201, palette([NB201]), name="g"))
    boxes = [tuple(float(r.get(k, "nan")) for k in ("x", "y", "width", "height")) for r in root.iter("rect")]
    for (x, y, w, h), (u, v, p, q) in combinations(boxes, 2):
        assert x + w <= u or u + p <= x or y + h <= v or v + q <= y


def test_one_colour_for_each_operation_with_nothing_last() -> None:
    colours = palette([NB201])
    assert list(colours) == ["conv", "pool", "skip", "none"]
    svg = draw(NB201, colours, name="g")
    assert len(re.findall(r'class="edge op0"', svg)) == 2
    assert 'class="edge op3 nothing"' in svg
    many = Graph(("a", "b"), tuple((0, 1, f"op{i:02}") for i in range(15)))
    assert max(palette([many]).values()) == 9


def test_operations_on_nodes_are_coloured_where_edges_have_no_names() -> None:
    assert operations(NB101) == ["conv3x3", "maxpool"]
    svg = draw(NB101, palette([NB101]), name="g")
    assert svg.count('class="node op0"') == 1
    assert svg.count('class="node op1"') == 1


def test_edges_as_in_another_cell_step_back() -> None:
    other = Graph(NB201.nodes, ((0, 1, "conv"), (0, 2, "conv"), *NB201.edges[2:]))
    svg = draw(other, palette([NB201, other]), name="g", against=NB201)
    assert svg.count(" same") == 2 * 5  # line and name of each equal edge
    assert " same" not in draw(other, palette([other]), name="g")


def test_parallel_edges_are_both_seen() -> None:
    graph = Graph(("a", "b"), ((0, 1, "x"), (0, 1, "y"), (0, 1, "z")))
    assert sorted(arc.lane for arc in lanes(graph)) == [-1, 0, 1]


def test_words_for_those_who_do_not_see_it() -> None:
    root = ET.fromstring(draw(NB201, {}, name="g", title="best"))
    assert root.findtext("title") == "best"
    assert (root.findtext("desc") or "").startswith("in to 1 by conv; in to 2 by skip")
    assert root.get("aria-labelledby") == "g-t g-d"


def test_hostile_names_are_escaped(hostile: str) -> None:
    graph = Graph((hostile, hostile), ((0, 1, hostile),), hostile)
    root = ET.fromstring(draw(graph, palette([graph]), name="g"))
    assert {e.tag for e in root.iter()} <= {"svg", "title", "desc", "g", "path", "rect", "text"}
    assert root.findtext("title") == hostile


def test_cells_come_from_the_registered_space(make_record: Callable[..., Record], paper_cell: type) -> None:
    record = make_record(5)
    texts = [c.architecture for c in record.candidates]
    cells = load_cells(record.settings, texts)
    assert cells.reason == ""
    assert set(cells.graphs) == set(texts)
    assert cells.graphs[texts[0]] == tuple(paper_cell().graph(texts[0]))


@pytest.mark.parametrize("space", ["gone", "module:function", "file.py:make", None, 7])
def test_a_space_that_cannot_be_loaded_is_said_and_not_fatal(space: object) -> None:
    cells = load_cells({"space": space}, ["x"])
    assert cells.graphs == {}
    assert str(space) in cells.reason


def test_a_report_imports_no_code_that_a_run_names(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "no other code" in load_cells({"space": "trap:make"}, ["x"]).reason


def test_an_own_space_can_be_handed_in(paper_cell: Any) -> None:
    text = paper_cell().sample(random.Random(0))
    assert load_cells({"space": "my:own"}, [text], paper_cell()).graphs[text]


def test_text_that_no_longer_parses_is_said(paper_cell: Any) -> None:
    assert "six edges" in load_cells({"space": "paper_cell"}, ["|bad|"]).reason


def test_a_space_without_pictures_is_said(paper_cell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_cell, "graph", lambda self, architecture: [])
    text = paper_cell().sample(random.Random(0))
    assert "no picture" in load_cells({"space": "paper_cell"}, [text]).reason
    assert Cells({}).operations == {}
