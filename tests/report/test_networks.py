"""Networks as SVG: everything escaped, every line drawn, boxes of the best step back."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

from tests.report.conftest import HOSTILE

from foresee.report.networks import draw, palette
from foresee.spaces.own.boxes import Box, Drawing, Repeat

DRAWING = Drawing(
    (Box("input", "input", shape=(3, 8, 8)), Box("Conv2d 3×3, 3 → 4", name="stem", shape=(4, 8, 8), params=112),
     Box("Linear", shape=(4,), params=2_000_000, before=("LayerNorm",), after=("ReLU", "Dropout 0.1")),
     Box("+", "join", shape=(4,)), Box("output", "output", shape=(4,))),
    ((0, 1), (1, 2), (1, 3), (2, 3), (3, 4), (0, 3)),
    (Repeat(1, 2, 4),),
)  # fmt: skip


def drawn(drawing, **more):
    text = draw(drawing, palette([drawing]), title="network", **more)
    return text, ET.fromstring(text)


def test_everything_is_in_the_picture():
    text, root = drawn(DRAWING)
    for words in (
        "Conv2d 3×3, 3 → 4",
        "112",
        "2 M",
        "after LayerNorm; then ReLU, Dropout 0.1",
        "× 4",
        "3×8×8",
        "4×8×8",
    ):
        assert words in text
    assert text.count('class="flow"') == len(DRAWING.lines)
    assert len(list(root.iter("rect"))) == len(DRAWING.boxes)
    assert text.count("4×8×8") == 1


def test_long_lines_take_lanes_of_their_own():
    text, _ = drawn(DRAWING)
    lanes = [part.split("q5 0")[0].rpartition("H")[2] for part in text.split('d="M') if "q5 0" in part]
    assert len(lanes) == len(set(lanes)) == 2


def test_what_the_best_has_steps_back():
    text, _ = drawn(DRAWING, new=frozenset({2}))
    assert text.count(" same") == len(DRAWING.boxes) - 1
    assert " same" not in drawn(DRAWING)[0]


def test_names_of_strangers_are_escaped_and_cut():
    boxes = tuple(replace(box, title=HOSTILE, name=HOSTILE, after=(HOSTILE,)) for box in DRAWING.boxes)
    text, _ = drawn(replace(DRAWING, boxes=boxes))
    assert "<script" not in text
    assert "<img" not in text


def test_colours_go_by_kind():
    assert palette([DRAWING]) == {"Conv2d": 0, "Linear": 1}
    many = Drawing(tuple(Box(f"Kind{number}") for number in range(25)), ())
    assert max(palette([many]).values()) < 10
