"""Figures 4.6 to 4.8 of the thesis, at the smallest size."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from tests.papers.chapter4.test_convergence import TINY, images

from foresee.papers import Workshop, reproduce
from foresee.report.papers import save

__all__ = ["images"]
SMALL = {**TINY, "epochs": 1, "points": 3, "samples": 4, "lanczos": 2}


def page(name, folder):
    where = Workshop(data=str(folder / "images.npz"), cache=folder / "scores.sqlite", table_settings=SMALL)
    return reproduce(name, where)


def test_contours(images, tmp_path):
    found = page("thesis-figure-4.6", images)
    lines = {(line.row, line.column): line for line in found.lines}
    for column in ("loss", "rise", "largest eigenvalue", "near-convex"):
        assert lines["darts", column].ours is not None, column
    assert ("Spearman of width with it", "largest eigenvalue") in lines
    assert len(found.scatters) == 3
    assert found.scatters[0].heights.look == "contours"
    svg, _ = save(found.scatters[0], tmp_path, "contours")
    assert ET.parse(svg).getroot().tag.endswith("svg")


def test_heat_and_surfaces(images, tmp_path):
    heat, surface = page("thesis-figure-4.7", images), page("thesis-figure-4.8", images)
    assert [line.ours for line in heat.lines] == [line.ours for line in surface.lines]
    for one in (heat, surface):
        assert save(one.scatters[0], tmp_path, one.name)[1].read_bytes().startswith(b"\x89PNG")
    assert surface.scatters[0].heights.look == "surface"
