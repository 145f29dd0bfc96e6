"""Figures of the papers as files."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from foresee.papers.cells import Heights, Scatter
from foresee.report.papers import figure, save


def test_points_and_bars():
    scatter = Scatter("dots", "some dots", "FMI", "accuracy", (1.0, 2.0, 30.0), (3.0, 4.0, 5.0), (0.1, 0.2, 0.3))
    axes = figure(scatter).axes[0]
    dots = next(line for line in axes.lines if len(line.get_xdata()) == 3)
    assert list(dots.get_xdata()) == [1.0, 2.0, 30.0]
    assert list(dots.get_ydata()) == [3.0, 4.0, 5.0]
    assert axes.get_xlabel() == "FMI"
    assert len(axes.containers) == 1, "the bars"
    assert not figure(Scatter("dots", "", "x", "y", (1.0,), (2.0,))).axes[0].containers


def test_kinds_have_a_colour_and_a_line_each():
    scatter = Scatter("dots", "", "x", "y", (1.0, 2.0, 1.0), (3.0, 4.0, 5.0), (0.1, 0.2, 0.3), kinds=("a", "a", "b"))
    axes = figure(scatter).axes[0]
    assert len(axes.containers) == 2
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    assert not figure(Scatter("dots", "", "x", "y", (1.0,), (2.0,), kinds=("a",))).axes[0].containers


def test_points_on_a_map():
    heights = Heights((0.0, 1.0, 2.0), (0.0, 1.0), ((0.0, 1.0, 2.0), (1.0, 2.0, 3.0)))
    axes = figure(Scatter("dots", "some dots", "x", "y", (1.0,), (0.5,), heights=heights)).axes[0]
    assert axes.get_aspect() == 1
    assert any(len(one.get_paths()) for one in axes.collections), "the contours"


def test_maps_as_colours_and_as_surfaces():
    """On one scale, whatever is not a number as high as the map goes."""
    z = ((1.0, 2.0), (3.0, float("inf")))
    for look, count in (("heat", 2), ("surface", 1)):
        heights = Heights((0.0, 1.0), (0.0, 1.0), z, look, 0.0, 2.5)
        made = figure(Scatter("map", "", "x", "y", (0.0,), (0.0,), heights=heights))
        assert len(made.axes) == count
    assert made.axes[0].get_zlim()[1] >= 2.5


def test_files(tmp_path):
    scatter = Scatter("dots", "some dots", "x", "y", (1.0, 2.0), (3.0, 4.0))
    svg, png = save(scatter, tmp_path / "new", "dextr-figure-1a-fmi")
    assert ET.parse(svg).getroot().tag.endswith("svg")
    assert png.read_bytes().startswith(b"\x89PNG")
