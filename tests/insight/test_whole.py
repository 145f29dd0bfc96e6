"""Whole networks as pictures."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET

from foresee.insight.whole import picture, whole_network
from foresee.spaces import get
from foresee.task import Task

IMAGES = Task((3, 8, 8), 10)


def test_cells_in_a_row_are_one_box_and_no_weight_is_lost():
    space = get("darts", channels=2, layers=6)
    for name in ("DARTS_V2", "NASNet_A"):
        found = whole_network(space, space.named[name], IMAGES)
        titles = [box.title for box in found.boxes]
        assert titles[2:7] == ["2 normal cells", "reduction cell", "normal cell", "reduction cell", "normal cell"]
        assert sum(box.params for box in found.boxes) == space.counts(space.named[name], IMAGES).params
        assert all(start < end for start, end in found.lines)
        assert (0, 1) in found.lines


def test_other_spaces_and_the_picture():
    space = get("nasbench201", channels=2, cells=1)
    architecture = space.sample(random.Random(0))
    found = whole_network(space, architecture, IMAGES)
    assert found.boxes[0].kind == "input"
    assert found.boxes[-1].kind == "output"
    assert ET.fromstring(picture(found, title="a <network>")).tag.endswith("svg")
