"""Drawings as plain data: there and back, and what a file may say."""

from __future__ import annotations

import json

import pytest

from foresee.errors import InputError
from foresee.spaces.own.boxes import Box, Drawing, Repeat

DRAWING = Drawing(
    (Box("input", "input", shape=(3, 8, 8)), Box("Conv2d", name="a.0", shape=(4, 8, 8), params=12, after=("ReLU",)),
     Box("+", "join"), Box("output", "output")),
    ((0, 1), (0, 2), (1, 2), (2, 3)),
    (Repeat(1, 2, 3),),
)  # fmt: skip


def test_there_and_back():
    assert Drawing.from_json(json.loads(json.dumps(DRAWING.to_json()))) == DRAWING
    assert [DRAWING.times(place) for place in range(4)] == [1, 3, 3, 1]


@pytest.mark.parametrize(
    "change",
    [
        {"boxes": 3}, {"boxes": [{"title": 3}]}, {"boxes": [{"title": "x", "kind": "<b>"}]}, {"lines": [[0, 9]]},
        {"lines": [[2, 1]]}, {"lines": [[0]]}, {"repeats": [[3, 2, 2]]}, {"repeats": [[0, 0, 2]]}, {"lines": None},
        {"boxes": [{"title": "x", "params": -1}]}, {"boxes": [{"title": "x", "shape": [1.5]}]}, {"repeats": [[0, 1, True]]},
        {"boxes": [{"title": "x"}] * 500}, {"boxes": ["x"]}, {"boxes": [{"title": "x", "params": 10**30}]},
    ],
)  # fmt: skip
def test_what_is_no_drawing_is_refused(change):
    with pytest.raises(InputError, match="this is no drawing of a network"):
        Drawing.from_json({**DRAWING.to_json(), **change})
    with pytest.raises(InputError, match="this is no drawing of a network"):
        Drawing.from_json(None)


def test_boxes_that_another_has_not():
    other = Drawing((*DRAWING.boxes[:1], Box("Conv2d", shape=(4, 8, 8), params=13), *DRAWING.boxes[1:]), ())
    assert DRAWING.new_in(other) == {1, 2, 3}  # the others are there, but not three times
    assert DRAWING.new_in(DRAWING) == frozenset()
