from __future__ import annotations

import itertools
import random
from collections.abc import Iterable

import pytest
import torch

from foresee.errors import InputError, UnsupportedError
from foresee.seeds import stream
from foresee.spaces import get
from foresee.spaces.nasbench101 import Architecture, NASBench101
from foresee.spaces.nasbench101.cell import in_use
from foresee.task import Task
from foresee.testing.spaces import SpaceSuite


class TestSuite(SpaceSuite):
    task = Task((3, 8, 8), 10)

    def space(self) -> NASBench101:
        return NASBench101(channels=8, cells=1)

    def equivalents(self, architecture: Architecture) -> Iterable[Architecture]:
        """With every interior vertex moved that can change places with the next one, and with a useless one more."""
        ops, parents = architecture.ops, architecture.parents
        for v in range(1, len(ops)):
            if v not in parents[v]:
                swap = {v: v + 1, v + 1: v}
                moved = [tuple(sorted(swap.get(p, p) for p in read)) for read in parents]
                moved[v - 1], moved[v] = moved[v], moved[v - 1]
                yield Architecture((*ops[: v - 1], ops[v], ops[v - 1], *ops[v + 1 :]), tuple(moved))
        if len(ops) < 5:
            yield Architecture((*ops, "conv3x3"), (*parents[:-1], (0,), parents[-1]))

    def test_one_identity_one_network(self) -> None:
        for one in self.drawn(10):
            for same in self.equivalents(one):
                assert self.space().counts(same, self.task) == self.space().counts(one, self.task)


class TestPublished(SpaceSuite):
    task = Task((3, 8, 8), 10)

    def space(self) -> NASBench101:
        return NASBench101(channels=8, cells=1, sampling="published", variant="reference")

    def test_mutation_stays_inside_and_differs(self) -> None:
        """The published mutation may stay the same."""
        drawn = self.drawn(100)
        changed = [self.space().mutate(one, stream(0, number)) for number, one in enumerate(drawn)]
        same = sum(a == b for a, b in zip(drawn, changed, strict=True))
        assert 0 < same < 100
        assert all(self.space().parse(str(other)) == other for other in changed)


def test_names_and_settings():
    space = get("nasbench101", channels=16, stacks=2, cells=1, sampling="published", variant="reference")
    plain = {"channels": 16, "stacks": 2, "cells": 1, "sampling": "published", "variant": "reference"}
    assert space.settings() == plain
    assert NASBench101().settings() == {}
    assert space.size == 423_624
    for wrong in ({"channels": 3}, {"cells": 0}, {"stacks": 1.5}, {"variant": "x"}, {"sampling": "x"}):
        with pytest.raises(InputError):
            get("nasbench101", **wrong)


def test_mutations_change_the_identity_and_reach_every_size():
    space, rng = NASBench101(), random.Random(0)
    cell, sizes = Architecture.parse("output@0"), set()
    for _ in range(400):
        other = space.mutate(cell, rng)
        assert other.hash != cell.hash
        assert other == other.pruned
        cell = other
        sizes.add(len(cell.ops) + 2)
    assert sizes >= {3, 4, 5, 6, 7}


def test_samples_spread():
    """Uniform over cells: 84.8 % have seven vertices. Coins prune more of them away."""
    rng = random.Random(0)
    full = sum(len(NASBench101().sample(rng).ops) == 5 for _ in range(2000)) / 2000
    assert abs(full - 359_082 / 423_624) < 0.03
    published = NASBench101(sampling="published")
    cells = [published.sample(rng) for _ in range(500)]
    assert all(len(cell.ops) == 5 for cell in cells)
    assert sum(len(in_use(cell.parents)) == 7 for cell in cells) / 500 < 0.75


def test_crossover_of_equal_parents():
    space = NASBench101()
    for number in range(10):
        cell = space.sample(stream(number))
        assert space.crossover(cell, cell, stream(number, "child")) == cell


def test_listing_begins():
    first = list(itertools.islice(NASBench101().enumerate(), 100))
    assert str(first[0]) == "output@0"
    assert len({cell.hash for cell in first}) == 100


def test_no_one_shot_network():
    with pytest.raises(UnsupportedError, match="nasbench1shot1_s1"):
        NASBench101().one_shot(Task())


def test_graph():
    (graph,) = NASBench101().graph(Architecture.parse("conv3x3@0+conv3x3@1+output@0,2"))
    assert graph.nodes == ("input", "conv3x3", "conv3x3", "output")
    assert [edge[:2] for edge in graph.edges] == [(0, 1), (1, 2), (0, 3), (2, 3)]


def test_many_samples_run():
    space, task = NASBench101(channels=4, cells=1), Task((3, 8, 8), 10)
    x = torch.randn(2, 3, 8, 8)
    for number in range(30):
        network = space.build(space.sample(stream(number)), task)
        network(x).square().sum().backward()
        assert all(p.grad is not None for p in network.parameters())
