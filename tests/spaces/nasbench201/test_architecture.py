"""Cells of NAS-Bench-201 and the benchmark's text of them."""

from __future__ import annotations

import pickle
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from tests.spaces.nasbench201.drawn import SPACE, cells

from foresee.errors import InputError, UnknownNameError
from foresee.spaces.nasbench201 import Architecture

frugal = examples(50)


@frugal
@given(cells)
def test_text_round_trip(cell):
    assert SPACE.parse(str(cell)) == cell
    assert SPACE.parse(f"  {cell}\n") == cell
    assert pickle.loads(pickle.dumps(cell)) == cell


def test_text_is_the_benchmarks():
    ops = ("avg_pool_3x3", "nor_conv_1x1", "skip_connect", "none", "nor_conv_3x3", "skip_connect")
    text = "|avg_pool_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|none~0|nor_conv_3x3~1|skip_connect~2|"
    assert str(Architecture(ops)) == text
    assert Architecture.parse(text).ops == ops


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1 nodes, expected 3"),
        ("|none~0|+|none~0|none~1|", "2 nodes, expected 3 joined by [+]"),
        ("none~0|+|none~0|none~1|+|none~0|none~1|none~2|", r"node 1: 'none~0\|' must begin and end with \|"),
        ("|none~0|+|none~0|+|none~0|none~1|none~2|", "node 2: 1 edges .*, expected 2"),
        ("|none~0|+|none~0|none~2|+|none~0|none~1|none~2|", "node 2, edge 1: 'none~2' comes from '2', expected node 1"),
        ("|none~0|+|none~0|none|+|none~0|none~1|none~2|", "node 2, edge 1: 'none' has no ~; expected operation~1"),
        ("|none~0|+|none~0|none~1|+|none~0|nor_conv3~1|none~2|", "edge 1->3 'nor_conv3': did you mean nor_conv_3x3"),
    ],
)
def test_malformed_text_names_the_part(text, message):
    with pytest.raises(InputError, match=message):
        SPACE.parse(text)


@frugal
@given(cells, st.data())
def test_damaged_text_is_refused_or_means_what_it_says(cell, data):
    text = str(cell)
    place = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:place] + data.draw(st.text("|+~0123none_x", max_size=3)) + text[place + 1 :]
    with suppress(InputError):
        assert str(SPACE.parse(damaged)) == damaged


def test_wrong_cells_cannot_be_made():
    with pytest.raises(InputError, match="cell of 5 operations: expected 6"):
        Architecture(("none",) * 5)
    with pytest.raises(UnknownNameError, match="edge 2->3 'skip': did you mean skip_connect"):
        Architecture(("none",) * 5 + ("skip",))
