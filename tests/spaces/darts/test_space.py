"""The space: the conformance suite, sampling and mutation with their published variants, identity, settings."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import torch

from foresee import spaces
from foresee.errors import InputError, UnknownNameError
from foresee.seeds import stream
from foresee.spaces.darts import DARTS, Architecture, Cell
from foresee.spaces.darts.cells import KINDS, OPS
from foresee.spaces.darts.named import NAMED
from foresee.task import Task
from foresee.testing import SpaceSuite


def twisted(architecture, rng):
    """The same architecture with the edges of each node swapped at random, and nodes 2 and 3 where that is possible."""
    cells = []
    for kind in KINDS:
        cell = architecture[kind]
        pairs = [rng.sample(pair, 2) for _, pair in cell.nodes]
        if all(source < 2 for _, source in pairs[1]):
            new = {2: 3, 3: 2}
            pairs[:2] = pairs[1::-1]
            pairs = [[(op, new.get(source, source)) for op, source in pair] for pair in pairs]
            cells.append(Cell(tuple(e for p in pairs for e in p), tuple(new.get(n, n) for n in cell.concat)))
        else:
            cells.append(Cell(tuple(e for p in pairs for e in p), cell.concat[::-1]))
    return Architecture(*cells)


class TestSuite(SpaceSuite):
    task = Task((3, 12, 12), 4)
    samples = 15
    counted = 1
    trained = 3

    def space(self):
        return DARTS(channels=4, layers=3)

    def equivalents(self, architecture):
        return [twisted(architecture, random.Random(seed)) for seed in range(3)]


@pytest.mark.slow
def test_many_samples_run():
    space, task = DARTS(channels=4, layers=3), Task((3, 8, 8), 3)
    for number in range(100):
        network = space.build(space.sample(stream(number)), task)
        network(torch.randn(2, 3, 8, 8)).square().sum().backward()
        assert all(bool(p.grad.isfinite().all()) for p in network.parameters())


def drawn(space, count=300):
    return [space.sample(stream(number)) for number in range(count)]


def test_samples_are_inside_and_uniform():
    found = drawn(DARTS())
    assert all(DARTS().contains(one) for one in found)
    edges = [(place, edge) for one in found for kind in KINDS for place, edge in enumerate(one[kind].edges)]
    ops = Counter(op for _, (op, _) in edges)
    expected = len(edges) / len(OPS)
    assert sum((ops[op] - expected) ** 2 / expected for op in OPS) < 22.5, "chi-square, 6 degrees, 0.1 %"
    inputs = Counter(source for place, (_, source) in edges if place >= 6)  # node 5 reads each of 5 nodes alike
    assert sorted(inputs) == [0, 1, 2, 3, 4]
    expected = sum(inputs.values()) / 5
    assert sum((count - expected) ** 2 / expected for count in inputs.values()) < 18.5, "4 degrees"


def test_hnas_never_samples_the_last_operation():
    found = drawn(DARTS(sampling="published_hnas"))
    assert all(DARTS().contains(one) for one in found)
    ops = Counter(op for one in found for kind in KINDS for op, _ in one[kind].edges)
    assert set(ops) == set(OPS) - {"dil_conv_5x5"}
    expected = sum(ops.values()) / 6
    assert sum((count - expected) ** 2 / expected for count in ops.values()) < 20.6, "5 degrees"
    firsts = [one.normal.edges[0][1] for one in found]
    assert 0.3 < sum(firsts) / len(firsts) < 0.7, "edges come in the order of their strength"


@pytest.mark.parametrize("name", ["darts", "darts_nasi"])
def test_mutation_changes_one_thing_and_stays_inside(name):
    space = spaces.get(name)
    changed = Counter()
    for number in range(200):
        rng = stream(number)
        one = space.sample(rng)
        other = space.mutate(one, rng)
        assert space.contains(other)
        pairs = [(a, b) for kind in KINDS for a, b in zip(one[kind].edges, other[kind].edges, strict=True) if a != b]
        assert len(pairs) == 1
        (op, source), (new_op, new_source) = pairs[0]
        assert (op == new_op) != (source == new_source)
        changed["op" if op != new_op else "input"] += 1
    assert min(changed.values()) > 40


def test_mutation_of_nes_may_change_nothing():
    space = DARTS(mutation="published_nes")
    outcomes = Counter()
    for number in range(300):
        rng = stream(number)
        one = space.sample(rng)
        other = space.mutate(one, rng)
        assert space.contains(other)
        edges = [(a, b) for k in KINDS for a, b in zip(one[k].edges, other[k].edges, strict=True) if a != b]
        assert len(edges) <= 1
        for (op, source), (new_op, new_source) in edges:
            used = {s for k in KINDS for _, s in one[k].edges}
            assert new_source in used
            assert op == new_op or source == new_source
        outcomes["same" if not edges else "op" if edges[0][0][0] != edges[0][1][0] else "input"] += 1
    assert outcomes["same"] > 100
    assert outcomes["op"] > 50
    assert outcomes["input"] > 30


def test_crossover_takes_nodes_from_both():
    space = DARTS()
    one, two = space.sample(stream(1)), space.sample(stream(2))
    child = space.crossover(one, two, stream(3))
    assert space.contains(child)
    origins = set()
    for kind in KINDS:
        for (_, pair), (_, first), (_, second) in zip(child[kind].nodes, one[kind].nodes, two[kind].nodes, strict=True):
            assert pair in (first, second)
            origins.add(pair == first)
    assert origins == {True, False}
    mixed = space.crossover(NAMED["NASNet_A"], NAMED["DARTS_V2"], stream(4))
    assert mixed.normal in (NAMED["NASNet_A"].normal, NAMED["DARTS_V2"].normal)


def test_sizes():
    assert DARTS().size == (180 * 7**8) ** 2
    assert spaces.get("darts_nasi").size == (180 * 42**4) ** 2
    assert not DARTS().enumerable


def test_identity_tells_normal_from_reduction():
    one = NAMED["DARTS_V2"]
    assert DARTS().canonical(one) != DARTS().canonical(Architecture(one.reduce, one.normal))
    assert len({DARTS().canonical(named) for named in NAMED.values()}) == len(NAMED)


def test_equal_identities_compute_the_same():
    """A relabelled cell of operations without weights, nodes joined in the same order: the same logits."""
    space, task = DARTS(channels=2, layers=3), Task((3, 8, 8), 3)
    most, mean = "max_pool_3x3", "avg_pool_3x3"
    one = Cell(((most, 0), (mean, 1), (mean, 1), (mean, 0), (most, 2), (mean, 3), (most, 1), (mean, 0)))
    two = Cell(((mean, 0), (mean, 1), (mean, 1), (most, 0), (mean, 2), (most, 3), (mean, 0), (most, 1)), (3, 2, 4, 5))
    first, second = Architecture(one, one), Architecture(two, two)
    assert first != second
    assert space.canonical(first) == space.canonical(second)
    a, b = space.build(first, task), space.build(second, task)
    b.load_state_dict(a.state_dict())
    x = torch.randn(2, 3, 8, 8)
    torch.testing.assert_close(a(x), b(x))


def test_graph():
    normal, reduction = DARTS().graph(NAMED["AmoebaNet_A"])
    assert normal.nodes == ("before last", "last", "2", "3", "4", "5", "6", "output")
    assert (5, 6, "sep_conv_3x3") in reduction.edges
    assert (3, 7, "") in reduction.edges
    assert len(normal.edges) == 10 + 3


def test_a_picture_says_how_wide_and_deep_a_cell_is():
    normal, reduction = DARTS().graph(NAMED["DARTS_V2"])
    assert normal.title == "normal cell: width 3.5, depth 3"
    assert reduction.title.startswith("reduction cell: width ")


def test_settings_travel():
    space = DARTS(channels=8, network="imagenet", auxiliary=True, drop_path=0.2, sampling="published_hnas")
    again = spaces.get("darts", **space.settings())
    assert again.settings() == space.settings()
    assert set(space.settings()) == {"channels", "network", "auxiliary", "drop_path", "sampling"}
    assert DARTS().settings() == {}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"channels": 0}, "channels 0"),
        ({"layers": 2.5}, "layers 2.5"),
        ({"network": "cifar10"}, "did you mean cifar"),
        ({"drop_path": 1.0}, "drop_path 1.0"),
        ({"sampling": "hnas"}, "published_hnas"),
        ({"mutation": "nes"}, "published_nes"),
        ({"width": 3}, "width"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(InputError, match=message):
        spaces.get("darts", **settings)


def test_nasi_has_no_published_sampling():
    with pytest.raises(UnknownNameError, match="uniform"):
        spaces.get("darts_nasi", sampling="published_hnas")
