"""Which cells are one, against a slow semantic oracle."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from tests.properties import examples
from tests.spaces.nasbench201.drawn import SPACE, cells

from foresee.spaces.nasbench201 import EDGES, OPS, NASBench201

frugal = examples(50)


@pytest.mark.parametrize(("identity", "classes"), [("benchmark", 6_466), ("skip", 12_751), ("function", 4_930)])
def test_number_of_classes(identity, classes):
    space = NASBench201(identity=identity)
    assert len({space.canonical(cell) for cell in space.enumerate()}) == classes


def values(opaque_none: bool) -> np.ndarray:
    """What each cell computes at one point, slowly: operations are fixed random functions of R^3, node by node.

    They are not linear, so that a sum before an operation is not the sum after it; zero goes to zero, except that an
    opaque `none` is a function like the others. Equal cells give equal values, different ones almost surely not.
    """
    rng = np.random.default_rng(0)
    weights = {op: rng.standard_normal((3, 3)) for op in OPS}
    start = rng.standard_normal(3)

    def apply(op: str, x: np.ndarray) -> np.ndarray:
        if op == "skip_connect":
            return x
        if op == "none":
            return np.sin(weights[op] @ x + 1.0) if opaque_none else 0 * x
        return np.tanh(weights[op] @ x)

    results = []
    for cell in SPACE.enumerate():
        nodes = [start, np.zeros(3), np.zeros(3), np.zeros(3)]
        for (source, target), op in zip(EDGES, cell.ops, strict=True):
            nodes[target] = nodes[target] + apply(op, nodes[source])
        results.append(np.round(nodes[3], 9) + 0.0)
    return np.array(results)


def partition(labels) -> list[int]:
    seen: dict = {}
    return [seen.setdefault(label, len(seen)) for label in labels]


@pytest.fixture(scope="module")
def computed() -> dict[bool, list[int]]:
    return {opaque: partition(map(bytes, values(opaque))) for opaque in (False, True)}


def test_the_function_identity_is_exactly_the_function(computed):
    space = NASBench201(identity="function")
    assert partition(map(space.canonical, space.enumerate())) == computed[False]


@pytest.mark.parametrize(("identity", "opaque"), [("benchmark", False), ("skip", True)])
def test_equal_identities_compute_the_same(computed, identity, opaque):
    space = NASBench201(identity=identity)
    function = {}
    for cell, value in zip(space.enumerate(), computed[opaque], strict=True):
        assert function.setdefault(space.canonical(cell), value) == value


@frugal
@given(cells)
def test_identities_get_coarser(cell):
    """What `skip` calls equal, `benchmark` does; what `benchmark` calls equal, `function` does."""
    neighbours = [SPACE.mutate(cell, random.Random(seed)) for seed in range(30)]
    finest_first = [NASBench201(identity=name) for name in ("skip", "benchmark", "function")]
    for other in neighbours:
        equal = [space.canonical(cell) == space.canonical(other) for space in finest_first]
        assert equal == sorted(equal)
