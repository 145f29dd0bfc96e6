"""Thesis Table 7.2: shape and kernel of cells."""

from __future__ import annotations

import pytest

from foresee.papers import Workshop, reproduce
from foresee.papers.numbers import published
from foresee.papers.thesis_topology import contestants
from foresee.spaces.darts.cells import depth, width, within

TINY = {"channels": 2, "layers": 3, "samples": 4, "draws": 2, "random": 1}


def test_shapes_are_those_printed():
    printed = {row.key: row.values for row in published("thesis-table-7.2").rows}
    found = contestants(2, seed=0)
    assert set(printed) < set(found)
    for row, values in printed.items():
        cell = found[row].normal
        assert (width(cell), depth(cell)) == (values["width"], values["depth"]), row
    for row in ("wide", "deep"):
        assert within(found[row].normal)
        assert within(found[row].reduce)
    assert width(found["random-1"].normal) <= width(found["random-2"].normal)


@pytest.mark.slow
def test_every_row_has_its_numbers():
    page = reproduce("thesis-table-7.2", Workshop(data="synthetic", table_settings=TINY))
    rows = {line.row for line in page.lines}
    assert {"NASNet", "WIDE", "DEEP"} <= rows
    assert any(row.startswith("random-1") for row in rows)
    for line in page.lines:
        assert line.ours is not None or "kappa" in line.column, line
        if line.column in ("width", "depth", "width-max", "depth-max") and line.paper is not None:
            assert line.ours.value == line.paper
    assert any(note.startswith("M_Trace, largest first") for note in page.notes)
