"""The space of NAS-Bench-201: its cells, neighbours and children, and its settings."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from tests.spaces.nasbench201.drawn import SPACE, cells, uniform

from foresee.errors import InputError
from foresee.spaces import get
from foresee.spaces.nasbench201 import EDGES, OPS

frugal = examples(50)
seeds = st.integers(0, 2**32)


def test_listing_is_in_the_benchmarks_order():
    listed = list(SPACE.enumerate())
    assert len(set(listed)) == len(listed) == SPACE.size == 15_625
    assert listed[0] == uniform("none")
    assert listed[1].ops == ("none",) * 5 + ("skip_connect",)
    assert listed[5].ops == ("none",) * 4 + ("skip_connect", "none")
    assert listed[-1] == uniform("avg_pool_3x3")


def test_samples_are_uniform_on_every_edge():
    rng = random.Random(0)
    drawn = [SPACE.sample(rng) for _ in range(4000)]
    for edge in range(6):
        counts = Counter(cell.ops[edge] for cell in drawn)
        assert all(abs(counts[op] / 4000 - 0.2) < 0.03 for op in OPS)


@frugal
@given(cells, seeds)
def test_mutation_changes_one_edge(cell, seed):
    other = SPACE.mutate(cell, random.Random(seed))
    assert sum(a != b for a, b in zip(cell.ops, other.ops, strict=True)) == 1
    assert other == SPACE.mutate(cell, random.Random(seed))


def test_mutation_chooses_a_node_first():
    rng, cell = random.Random(1), uniform("none")
    changed = Counter()
    for _ in range(6000):
        ops = SPACE.mutate(cell, rng).ops
        changed[next(edge for edge in range(6) if ops[edge] != "none")] += 1
    for edge, (_, target) in enumerate(EDGES):
        assert abs(changed[edge] / 6000 - 1 / 3 / target) < 0.03


@frugal
@given(cells, cells, seeds)
def test_a_child_has_each_edge_from_a_parent(first, second, seed):
    child = SPACE.crossover(first, second, random.Random(seed))
    assert all(op in pair for op, *pair in zip(child.ops, first.ops, second.ops, strict=True))


def test_settings():
    assert SPACE.settings() == {}
    space = get("nasbench201", channels=4, variant="reference")
    assert space.settings() == {"channels": 4, "variant": "reference"}
    for settings_, message in [
        ({"channels": 0}, "channels 0, expected a whole number of at least 1"),
        ({"cells": True}, "cells True"),
        ({"cells": "5"}, "cells '5'"),
        ({"variant": "refrence"}, "did you mean reference"),
        ({"identity": "skips"}, "did you mean skip"),
        ({"width": 3}, "width"),
    ]:
        with pytest.raises(InputError, match=message):
            get("nasbench201", **settings_)


def test_graph():
    (graph,) = SPACE.graph(SPACE.named["ResNet"])
    assert graph.nodes == ("input", "1", "2", "output")
    assert set(graph.edges) == {
        (0, 1, "nor_conv_3x3"),
        (1, 2, "nor_conv_3x3"),
        (0, 3, "skip_connect"),
        (2, 3, "skip_connect"),
    }
