"""NAS-Bench-201 against its published counts, its table, other people's networks and a slow semantic oracle."""

from __future__ import annotations

import csv
import gzip
import itertools
import pickle
import random
from collections import Counter, defaultdict
from contextlib import suppress

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from foresee.errors import InputError, UnknownNameError
from foresee.spaces import get
from foresee.spaces.counting import measure
from foresee.spaces.nasbench201 import EDGES, OPS, Architecture, NASBench201
from foresee.task import Task

CIFAR10, CIFAR100, IMAGENET16 = Task((3, 32, 32), 10), Task((3, 32, 32), 100), Task((3, 16, 16), 120)
SPACE = NASBench201()
frugal = settings(max_examples=50, deadline=None)
cells = st.tuples(*[st.sampled_from(OPS)] * 6).map(Architecture)
seeds = st.integers(0, 2**32)


def uniform(op: str) -> Architecture:
    return Architecture((op,) * 6)


# -- published counts ---------------------------------------------------------------------------------------------------
PUBLISHED = [
    (uniform("nor_conv_3x3"), 1_531_546, 220_119_690),
    (SPACE.named["NATS_SSS"], 1_288_506, 184_730_250),
    (SPACE.named["ResNet"], 559_386, 78_561_930),
    (uniform("nor_conv_1x1"), 241_306, 31_376_010),
    (uniform("skip_connect"), 73_306, 7_783_050),
]


@pytest.mark.parametrize(("cell", "params", "flops"), PUBLISHED, ids=lambda x: str(x))
def test_published_counts(cell, params, flops):
    assert SPACE.counts(cell, CIFAR10).params == params
    assert SPACE.benchmark_flops(cell, CIFAR10) == flops
    assert SPACE.counts(cell, CIFAR100).params == params + 5_850
    assert SPACE.counts(cell, IMAGENET16).params == params + 7_150


def test_published_flops_of_imagenet16():
    assert SPACE.benchmark_flops(uniform("nor_conv_3x3"), IMAGENET16) == 55_037_560


def test_params_of_cells_without_convolutions():
    for ops in itertools.product(("none", "skip_connect", "avg_pool_3x3"), repeat=6):
        assert SPACE.counts(Architecture(ops), CIFAR10).params == 73_306


def test_every_row_of_the_table(nasbench201_table):
    with gzip.open(nasbench201_table, "rt") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == SPACE.size
    classes = defaultdict(set)
    for row in rows:
        cell = SPACE.parse(row["arch_str"])
        counts = SPACE.counts(cell, CIFAR10)
        assert (counts.params, counts.macs) == (int(row["params_cifar10"]), int(row["macs_cifar10"]))
        classes[row["unique_id"]].add(SPACE.canonical(cell))
    assert all(len(identities) == 1 for identities in classes.values())
    assert len(set.union(*classes.values())) == len(classes) == 6_466


# -- formulas -----------------------------------------------------------------------------------------------------------
@settings(max_examples=8, deadline=None)
@given(
    cells,
    st.integers(1, 8),
    st.integers(1, 2),
    st.sampled_from(["benchmark", "reference"]),
    st.sampled_from([(1, 16, 16), (3, 32, 32), (3, 64, 64), (5, 9, 9), (2, 13, 7), (1, 5, 5)]),
    st.integers(1, 120),
)
def test_formulas_equal_the_network(cell, channels, count, variant, inputs, outputs):
    space, task = NASBench201(channels=channels, cells=count, variant=variant), Task(inputs, outputs)
    assert space.counts(cell, task) == measure(lambda: space.build(cell, task), task)


def test_formulas_equal_the_benchmark_network():
    cell = SPACE.named["ResNet"]
    assert SPACE.counts(cell, CIFAR10) == measure(lambda: SPACE.build(cell, CIFAR10), CIFAR10)


def test_flops_and_the_benchmarks_flops_are_two_things():
    cell = SPACE.named["ResNet"]
    assert SPACE.counts(cell, CIFAR10).flops == 2 * (SPACE.benchmark_flops(cell, CIFAR10) - 10)


# -- text ---------------------------------------------------------------------------------------------------------------
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


# -- the set ------------------------------------------------------------------------------------------------------------
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


# -- identity -----------------------------------------------------------------------------------------------------------
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


# -- networks -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("inputs", [(1, 16, 16), (3, 32, 32), (3, 64, 64), (4, 17, 9), (3, 5, 5)], ids=str)
def test_any_input_and_outputs(inputs):
    space, task = NASBench201(channels=2, cells=1), Task(inputs, 7)
    for cell in (uniform("nor_conv_3x3"), uniform("none"), space.named["ResNet"]):
        network = space.build(cell, task)
        x = torch.randn(2, *inputs)
        assert network(x).shape == (2, 7)
        maps = network.stages(x)
        assert len(maps) == 1 + 5
        assert network.pre_gap(x).shape == maps[-1].shape == (2, 8, -(-inputs[1] // 4), -(-inputs[2] // 4))


def test_tasks_that_are_no_images_are_refused():
    for use in (SPACE.build, SPACE.counts):
        with pytest.raises(InputError, match="space nasbench201 takes images: input shape 20"):
            use(uniform("none"), Task((20,), 2))


def test_networks_equal_those_of_others(golden_networks):
    rng = random.Random(3)
    space = NASBench201(channels=8, cells=1)
    chosen = [space.sample(rng) for _ in range(6)] + [uniform("none"), space.named["ResNet"]]
    for number, cell in enumerate(chosen):
        torch.manual_seed(number)
        theirs = golden_networks.NB201CellNet(str(cell), c=8, n=1).double()
        ours = space.build(cell, CIFAR10).double()
        with torch.no_grad():
            for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
                mine.copy_(other)
        x = torch.randn(3, 3, 16, 16, dtype=torch.float64)
        for mine, other in zip(ours.stages(x), theirs.stages(x), strict=True):
            assert torch.allclose(mine, other, atol=1e-10)
        assert torch.allclose(ours.pre_gap(x), theirs.pre_gap(x), atol=1e-10)
        outputs = ours(x), theirs(x)
        assert torch.allclose(*outputs, atol=1e-10)
        for out in outputs:
            out.square().sum().backward()
        for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            zero = torch.zeros_like(mine)
            assert torch.allclose(zero if mine.grad is None else mine.grad, zero if other.grad is None else other.grad)


def test_every_operation_is_a_module_and_none_costs_nothing():
    cell = Architecture(("none", "skip_connect", "none", "nor_conv_1x1", "avg_pool_3x3", "none"))
    network = NASBench201(channels=2, cells=1).build(cell, CIFAR10)
    kinds = [type(edge).__name__ for edge in network.cells[0].edges]
    assert kinds == ["Zero", "Identity", "Zero", "Sequential", "AvgPool2d", "Zero"]
    called = []
    for number, edge in enumerate(network.cells[0].edges):
        edge.register_forward_hook(lambda module, args, out, number=number: called.append(number))
    network(torch.randn(2, 3, 8, 8))
    assert called == [0, 1, 3, 4]  # node 1 has only a zero, which gives its value; the other zeros are not computed


def test_a_disconnected_cell_is_constant_and_keeps_its_input_in_the_graph():
    network = NASBench201(channels=2, cells=1).build(uniform("none"), CIFAR10).eval()
    x = torch.randn(2, 3, 8, 8, requires_grad=True)
    out = network(x)
    assert torch.allclose(out[0], out[1])
    out.sum().backward()
    assert not x.grad.any()


def test_the_reference_variant():
    space = NASBench201(channels=4, cells=1, variant="reference")
    cell = space.named["ResNet"]
    network = space.build(cell, CIFAR10)
    inside = [m for c in (network.cells[0], network.cells[4]) for m in c.modules()]
    norms = [m for m in inside if isinstance(m, torch.nn.BatchNorm2d)]
    convs = [m for m in inside if isinstance(m, torch.nn.Conv2d)]
    assert len(convs) == len(norms) == 2 * 6 * 2
    assert not any(norm.affine or norm.track_running_stats for norm in norms)
    assert all(conv.bias is not None for conv in convs)
    assert all(m.bias is None for m in network.cells[1].modules() if isinstance(m, torch.nn.Conv2d))
    counts = {space.counts(one, CIFAR10).params for one in map(space.sample, map(random.Random, range(20)))}
    assert counts == {sum(p.numel() for p in network.parameters())}  # the count of the supernet, whatever the cell


# -- the space itself ---------------------------------------------------------------------------------------------------
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
