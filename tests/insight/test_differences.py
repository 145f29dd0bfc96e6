"""Two architectures side by side."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.errors import InputError
from foresee.insight.differences import compared
from foresee.spaces import get

DARTS = get("darts")


def test_darts_one_and_two():
    found = compared(DARTS, DARTS.named["DARTS_V1"], DARTS.named["DARTS_V2"])
    normal = found.cells[0]
    assert not found.same
    assert (normal.only_first, normal.only_second) == ((), ())
    assert normal.changed == (
        (0, 3, "skip_connect", "sep_conv_3x3"),
        (0, 5, "sep_conv_3x3", "skip_connect"),
        (2, 5, "skip_connect", "dil_conv_3x3"),
    )
    assert "became dil_conv_3x3" in str(found)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_edges_are_all_accounted_for(one, two):
    first, second = (DARTS.sample(random.Random(seed)) for seed in (one, two))
    found = compared(DARTS, first, second)
    for cell in found.cells:
        assert len(cell.shared) + len(cell.only_first) + len(cell.changed) == len(cell.first.edges)
        assert len(cell.shared) + len(cell.only_second) + len(cell.changed) == len(cell.second.edges)
    assert found.same == (DARTS.canonical(first) == DARTS.canonical(second))
    if one == two:
        assert all(not cell.only_first and not cell.changed for cell in found.cells)


def test_drawings_mark_what_is_shared():
    """One SVG for each, what is in both has a class of its own; ids differ, so both can stand on one page."""
    cell = compared(DARTS, DARTS.named["DARTS_V1"], DARTS.named["DARTS_V2"]).cells[0]
    one, two = cell.drawings("normal")
    assert one.startswith("<svg")
    assert one.count('class="edge') == two.count('class="edge') == 12
    assert one.count(" same") // 2 >= 6
    assert 'id="normal-1-t"' in one
    assert 'id="normal-2-t"' in two


def test_cells_of_different_sizes_and_json():
    found = compared(DARTS, DARTS.named["NASNet_A"], DARTS.named["DARTS_V2"])
    assert "different networks" in str(found)
    assert found.to_json()["cells"][0]["shapes"][0]["width"] == 5
    nb201 = get("nasbench201")
    alike = compared(nb201, nb201.sample(random.Random(0)), nb201.sample(random.Random(0)))
    assert alike.same
    assert len(alike.cells) == 1
    robnet = get("robnet")
    more = compared(
        robnet, robnet.named["RobNet_free"], robnet.parse(str([robnet.named["RobNet_free"].cells[0].codes]))
    )
    assert more.cells[-1].second is None
    assert more.cells[-1].drawings()[1] == ""
    assert "no cell" in str(more)


def test_spaces_without_pictures():
    space = get("darts")
    space.graph = lambda architecture: []
    with pytest.raises(InputError, match="draws no cells"):
        compared(space, space.named["SNAS"], space.named["ENAS"])
