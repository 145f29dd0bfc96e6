"""Maps around trained weights, as SVG."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

from foresee.report.maps import contours, scale_of, shades

STEPS = (-1.0, 0.0, 1.0)
BOWL = tuple(tuple(x * x + y * y for x in STEPS) for y in STEPS)


def test_contours_of_a_bowl():
    svg = contours(STEPS, BOWL, (0.0, 1.0), "series-1", "a <bowl>")
    found = ET.fromstring(svg)
    assert found.find("title").text == "a <bowl>"
    assert len(found.findall(".//path")) == 9
    assert "var(--series-1)" in svg


def test_a_map_that_is_nowhere_a_number():
    assert scale_of([[[math.inf]]]) == (0.0, 1.0)
    hole = ((0.0, 1.0), (math.inf, 0.5))
    drawn = ET.fromstring(shades(hole, (0.0, 1.0), "best", "hole"))
    squares = drawn.findall(".//g/rect")
    assert [one.find("title").text for one in squares] == ["0", "1", "no number", "0.5"]
    assert [one.get("style") for one in squares] == [
        f"fill-opacity: {share}" for share in ("0.00", "1.00", "1.00", "0.50")
    ]
    assert "path" not in contours(
        (0.0, 1.0), ((1.0, 1.0), (1.0, 1.0)), scale_of([((1.0, 1.0), (1.0, 1.0))]), "best", "flat"
    )
