"""Cells made from a cell."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.errors import InputError, UnknownNameError
from foresee.insight.variants import (
    Variant,
    deepest,
    published,
    random_connections,
    random_operations,
    spanning,
    variants_of,
    widest,
)
from foresee.spaces import get
from foresee.spaces.darts.cells import KINDS, OPS, depth, width
from foresee.spaces.darts.named import NAMED
from foresee.task import Task

NAMES = st.sampled_from(sorted(NAMED))


@given(NAMES, st.integers(0, 1000))
def test_connections_keep_the_operations(name, seed):
    before, after = NAMED[name], random_connections(NAMED[name], random.Random(seed))
    for kind in KINDS:
        assert [op for op, _ in after[kind].edges] == [op for op, _ in before[kind].edges]
        assert after[kind].concat == before[kind].concat


@given(NAMES, st.integers(0, 1000))
def test_operations_keep_the_shape(name, seed):
    before, after = NAMED[name], random_operations(NAMED[name], random.Random(seed))
    for kind in KINDS:
        assert after[kind].links == before[kind].links
        assert {op for op, _ in after[kind].edges} <= set(OPS)


def test_sources_are_drawn_uniformly():
    """The last node of DARTS' cell reads each of the five before it equally often."""
    rng, seen = random.Random(0), [0] * 5
    for _ in range(2000):
        seen[random_connections(NAMED["DARTS_V2"], rng).normal.edges[-1][1]] += 1
    assert max(seen) - min(seen) < 120


def test_adapted_cells_of_the_thesis():
    """Figure 4.26: NASNet 5c, AmoebaNet 3c, ENAS 5c, DARTS 4c, SNAS 4c, all of depth 2."""
    known = {"NASNet_A": 5, "AmoebaNet_A": 3, "ENAS": 5, "DARTS_V2": 4, "SNAS": 4}
    for name, expected in known.items():
        made = widest(NAMED[name])
        assert (width(made.normal), depth(made.normal)) == (expected, 2)
        assert depth(made.reduce) == 2


def test_the_deepest_of_the_thesis():
    """Table 7.2: DEEP is 1.5 wide and 5 deep."""
    made = deepest(NAMED["DARTS_V2"])
    assert all((width(made[kind]), depth(made[kind])) == (1.5, 5) for kind in KINDS)


def test_variants_are_different_ordered_and_decided_by_the_seed():
    cell = NAMED["DARTS_V2"]
    found = variants_of(cell, 12, seed=3)
    assert [one.name for one in found] == [f"C{place}" for place in range(1, 13)]
    assert [one.width for one in found] == sorted(one.width for one in found)
    assert len({one.architecture for one in found} | {cell}) == 13
    assert found == variants_of(cell, 12, seed=3) != variants_of(cell, 12, seed=4)
    assert {one.width for one in variants_of(cell, 5, kind="operations")} == {3.5}
    assert [Variant.from_json(one.to_json()) for one in found] == found
    few = spanning(found, 3)
    assert (few[0], few[-1]) == (found[0], found[-1])
    assert spanning(found, 50) == found


def test_published_operations_have_the_printed_sizes():
    """Table 4.3, the first three variants of ENAS; and published connections keep all operations."""
    space, task = get("darts", channels=36, layers=20), Task((3, 32, 32), 10)
    made = [published(NAMED["ENAS"], "operations", seed) for seed in (1, 2, 3)]
    assert [round(space.counts(one, task).params / 1e6, 2) for one in made] == [3.45, 3.19, 2.98]
    other = published(NAMED["AmoebaNet_A"], "connections", 4)
    assert (width(other.normal), depth(other.normal)) == (1.5, 3)
    for kind in KINDS:
        assert [op for op, _ in other[kind].edges] == [op for op, _ in NAMED["AmoebaNet_A"][kind].edges]


def test_what_cannot_be_asked_for():
    with pytest.raises(UnknownNameError, match="kind of variants"):
        variants_of(NAMED["SNAS"], 2, kind="colours")
    with pytest.raises(InputError, match="variants"):
        variants_of(NAMED["SNAS"], 0)
