"""Side by side: exactly what differs is marked."""

from __future__ import annotations

import json
from dataclasses import replace

from foresee.insight.explaining import explain
from foresee.insight.explanation import Explanation
from foresee.insight.layers import Layer, Layers
from foresee.insight.side_by_side import side_by_side
from foresee.insight.standing import Standing
from foresee.scoring.settings import ScoringSettings
from foresee.spaces import get

SETTINGS = ScoringSettings(proxies=("params",), inputs=(3, 8, 8))


def of_darts(name: str) -> Explanation:
    return explain((get("darts", channels=2, layers=2), name), samples=0, settings=SETTINGS, parts=["cells", "layers"])


def test_edges_that_differ_are_those_of_the_two_sets() -> None:
    one, two = of_darts("DARTS_V1"), of_darts("DARTS_V2")
    pair = side_by_side(one, two)
    for cell, ours, theirs in zip(pair.cells, one.cells, two.cells, strict=True):
        left, right = set(ours.graph.edges), set(theirs.graph.edges)
        changed = {(a, b, op) for a, b, op, _ in cell.changed}
        assert set(cell.shared) == left & right
        assert set(cell.only_first) | changed == left - right
        assert set(cell.only_second) | {(a, b, op) for a, b, _, op in cell.changed} == right - left
    names = [{row.name: (row.kind, row.params, row.macs) for row in each.layers.rows} for each in (one, two)]  # type: ignore[union-attr]
    assert pair.layers[0] == {name for name, look in names[0].items() if names[1].get(name) != look}
    assert json.loads(json.dumps(pair.to_json()))["differs"]["layers"][1] == sorted(pair.layers[1])
    assert "became" in str(pair)


def test_the_same_twice_has_no_mark() -> None:
    one = of_darts("DARTS_V2")
    pair = side_by_side(one, one)
    assert not pair.facts
    assert pair.layers == (frozenset(), frozenset())
    assert not pair.proxies
    assert not any(cell.only_first or cell.only_second or cell.changed for cell in pair.cells)
    assert "the same, edge by edge" in str(pair)


def test_facts_proxies_and_layers_one_by_one() -> None:
    row = Layer("a", "Linear", 4, 4, 2.0, 0.5, 0.5)
    scores = (Standing("p", 1.0), Standing("q", 2.0, direction="lower"), Standing("r", None, "nan", "no number"))
    one = Explanation("one", facts=(("Seed", "0"), ("Data", "x")), layers=Layers((row,)), standings=scores)
    two = replace(
        one,
        name="two",
        facts=(("Seed", "1"), ("Data", "x")),
        layers=Layers((replace(row, reads=0.9), Layer("b", "Linear", 1, 1))),
        standings=(Standing("p", 1.0), Standing("q", 3.0, direction="lower"), scores[2]),
    )
    pair = side_by_side(one, two)
    assert pair.facts == {"Seed"}
    assert pair.proxies == {"q"}
    assert pair.layers == (frozenset(), {"b"})  # another evenness is no other layer
    marks = {line.split()[0]: line.split()[-1] for line in str(pair).splitlines() if line[:2] in ("p ", "q ", "r ")}
    assert marks == {"p": "–", "q": "first", "r": "–"}
