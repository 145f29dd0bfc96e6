"""Texts, the macro space's limits, and the micro cells' identity against a slow semantic oracle."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError
from foresee.spaces.four_nodes import EDGES
from foresee.spaces.transnas.text import (
    OPS,
    MacroArchitecture,
    MicroArchitecture,
    all_modules,
    function_identity,
    trouble,
)

micro = st.text("0123", min_size=6, max_size=6).map(MicroArchitecture.from_digits)


def test_texts_are_the_benchmarks():
    ops = ("skip_connect", "none", "nor_conv_1x1", "nor_conv_3x3", "nor_conv_3x3", "nor_conv_3x3")
    assert str(MicroArchitecture(ops)) == "64-41414-1_02_333"
    assert MicroArchitecture.parse(" 64-41414-1_02_333\n").ops == ops
    assert str(MacroArchitecture("1234")) == "64-1234-basic"
    assert MacroArchitecture.parse("64-2311-basic").modules == "2311"


@examples(50)
@given(micro)
def test_round_trips(one):
    assert MicroArchitecture.parse(str(one)) == one
    assert MicroArchitecture.from_digits(one.digits) == one


def test_every_row_of_the_table(data_folder):
    path = data_folder / "nas" / "tnb101_micro.csv.gz"
    if not path.is_file():
        pytest.skip(f"no nas/{path.name} under FORESEE_DATA")
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2037
    cut = set()
    for row in rows:
        one = MicroArchitecture.from_digits(row["arch"])
        assert one.digits == row["arch"]
        if function_identity(one) == "#":
            cut.add(round(float(row["val_class_scene"]), 1))
    assert max(cut) < min(40.0, float(rows[0]["val_class_scene"]))  # a cell of zeros learns nothing


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (
            MicroArchitecture,
            "64-41414",
            "2 parts, expected width, modules and cell joined by -, such as 64-41414-3_33_333",
        ),
        (MicroArchitecture, "32-41414-3_33_333", "width '32', expected 64"),
        (MicroArchitecture, "64-41441-3_33_333", "modules '41441', expected 41414"),
        (MicroArchitecture, "64-41414-3_33333", "2 nodes, expected 3 joined by _"),
        (MicroArchitecture, "64-41414-3_3_3333", "node 2: 1 digits in '3', expected 2"),
        (MicroArchitecture, "64-41414-3_34_333", "edge 1->2: '4', expected a digit from 0 to 3"),
        (MacroArchitecture, "64-1234", "2 parts, .*, such as 64-1234-basic"),
        (MacroArchitecture, "64-1234-3_33_333", "cell '3_33_333', expected basic"),
        (MacroArchitecture, "64-1254-basic", "module 3 is '5', expected a digit from 1 to 4"),
        (MacroArchitecture, "64-123-basic", "3 modules, expected 4 to 6"),
        (MacroArchitecture, "64-1234123-basic", "7 modules, expected 4 to 6"),
        (MacroArchitecture, "64-1113-basic", "0 of them double the channels"),
        (MacroArchitecture, "64-2244-basic", "4 of them double the channels"),
        (MacroArchitecture, "64-2111-basic", "0 of them halve the map"),
        (MacroArchitecture, "64-23334-basic", None),
        (MacroArchitecture, "64-233334-basic", "5 of them halve the map"),
    ],
)
def test_malformed_texts_name_the_part(kind, text, message):
    if message is None:
        assert str(kind.parse(text)) == text
        return
    with pytest.raises(InputError, match=message):
        kind.parse(text)


def test_wrong_cells_cannot_be_made():
    with pytest.raises(InputError, match="cell of 5 operations: expected 6"):
        MicroArchitecture(("none",) * 5)
    with pytest.raises(InputError, match="edge 2->3 'skip': did you mean skip_connect"):
        MicroArchitecture(("none",) * 5 + ("skip",))
    with pytest.raises(InputError, match="5 digits, expected 6"):
        MicroArchitecture.from_digits("12345")


def test_the_macro_space_has_3256_skeletons():
    listed = all_modules()
    assert len(set(listed)) == len(listed) == 3256
    assert {len(modules) for modules in listed} == {4, 5, 6}
    assert "41414" in listed
    assert trouble("41414") is None


# -- identity -------------------------------------------------------------------------------------------------------------
def values(changes: bool) -> list[bytes]:
    """What each micro cell computes at one point, node by node, with fixed random functions that keep zero.

    Where the cell `changes` the shape, a skip from its input is such a function too.
    """
    rng = np.random.default_rng(0)
    weights = {op: rng.standard_normal((3, 3)) for op in OPS}
    start, found = rng.standard_normal(3), []
    for number in range(4**6):
        digits = np.base_repr(number, 4).zfill(6)
        nodes = [start, np.zeros(3), np.zeros(3), np.zeros(3)]
        for (source, target), digit in zip(EDGES, digits, strict=True):
            op = OPS[int(digit)]
            if op == "skip_connect" and not (changes and source == 0):
                nodes[target] = nodes[target] + nodes[source]
            elif op != "none":
                nodes[target] = nodes[target] + np.tanh(weights[op] @ nodes[source])
        found.append(bytes(np.round(nodes[3], 9) + 0.0))
    return found


def partition(labels) -> list[int]:
    seen: dict = {}
    return [seen.setdefault(label, len(seen)) for label in labels]


def test_the_identity_is_exactly_what_the_cells_compute():
    """In the fixed skeleton there are cells that change the shape and cells that keep it: both must agree."""
    cells = [MicroArchitecture.from_digits(np.base_repr(number, 4).zfill(6)) for number in range(4**6)]
    both = list(zip(values(True), values(False), strict=True))
    mine = partition(map(function_identity, cells))
    assert mine == partition(both)
    assert len(set(mine)) == 1229
