from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import pytest
import torch

from foresee.errors import InputError, UnsupportedError
from foresee.seeds import stream
from foresee.spaces import get
from foresee.spaces.nasbench1shot1 import NASBench1Shot1, NASBench1Shot1S1, NASBench1Shot1S2, NASBench1Shot1S3
from foresee.spaces.nasbench101 import Architecture, NASBench101
from foresee.task import Task
from foresee.testing.spaces import SpaceSuite

SMALL: dict[str, Any] = {"channels": 8, "cells": 1}
CIFAR = Task((3, 32, 32), 10)


class TestS1(SpaceSuite):
    task = Task((3, 8, 8), 10)
    counted = trained = 2

    def space(self) -> NASBench1Shot1:
        return NASBench1Shot1S1(**SMALL)


class TestS2Listed(TestS1):
    def space(self) -> NASBench1Shot1:
        return NASBench1Shot1S2(**SMALL, loose_ends="listed")


class TestS3Trimmed(TestS1):
    def space(self) -> NASBench1Shot1:
        return NASBench1Shot1S3(**SMALL, loose_ends="trimmed", sampling="published")


@pytest.mark.parametrize(("name", "size"), [("s1", 14_580), ("s2", 29_160), ("s3", 1_312_200)])
def test_by_name(name: str, size: int):
    space = get(f"nasbench1shot1_{name}")
    assert space.size == size
    assert space.settings() == {}
    first = list(itertools.islice(space.enumerate(), 500))
    assert len(set(first)) == 500
    assert all(space.parse(str(cell)) == cell for cell in first[::50])


def test_settings():
    space = get("nasbench1shot1-s2", loose_ends="trimmed", channels=16)
    assert space.settings() == {"loose_ends": "trimmed", "channels": 16}
    assert space.size == 12_474
    for wrong in ({"loose_ends": "cut"}, {"channels": 0}, {"nodes": 3}):
        with pytest.raises(InputError):
            get("nasbench1shot1_s1", **wrong)


@pytest.mark.parametrize("kind", [NASBench1Shot1S1, NASBench1Shot1S2, NASBench1Shot1S3])
def test_the_benchmarks_network(kind: type[NASBench1Shot1]):
    """A cell is the NAS-Bench-101 cell it is asked for as: same identity, counts and network."""
    space, other = kind(), NASBench101()
    for number in range(20):
        cell = space.sample(stream(number))
        asked = space.nasbench101(cell)
        matrix, ops = asked.spec()
        assert len(matrix) == len(ops) == 7
        assert space.canonical(cell) == other.canonical(asked) == asked.hash
        assert space.counts(cell, CIFAR) == other.counts(asked, CIFAR)
        assert space.from_matrix(matrix, ops) == cell
    with torch.device("meta"):
        names = [[n for n, _ in s.build(cell, CIFAR).named_parameters()] for s in (space, other)]
    assert names[0] == names[1]


def test_the_vertex_that_fills_up_is_unconnected():
    space = NASBench1Shot1S1()
    cell = space.sample(stream(0))
    matrix, ops = space.nasbench101(cell).spec()
    assert ops[5] == "conv1x1-bn-relu"
    assert not any(matrix[5])
    assert not any(row[5] for row in matrix)
    matrix[5][6] = 1
    with pytest.raises(InputError, match="vertex 5 must be unconnected"):
        space.from_matrix(matrix, ops)


def test_measured_cells(read_table):
    """Every measured cell of the second space is a listed one, once; accuracies are those of NAS-Bench-101."""
    space = NASBench1Shot1S2(loose_ends="listed")
    rows = read_table("nb1shot1")
    cells = [space.from_matrix(row["adj7x7"], row["ops"]) for row in rows]
    assert len(set(cells)) == len(cells) > 1700
    for row, cell in zip(rows, cells, strict=True):
        assert space.nasbench101(cell) == Architecture.from_matrix(row["adj7x7"], row["ops"])
    assert len({cell.parents for cell in cells}) == 65
    known = {row["hash"]: row for row in read_table("nb101")}
    met = 0
    for row, cell in zip(rows, cells, strict=True):
        if cell.hash in known:
            met += 1
            repeats = [float(row[f"val_acc{n}"]) for n in (1, 2, 3)]
            assert float(known[cell.hash]["val_acc_108"]) in repeats
    assert met > 20


def test_published_sampling_is_recursive_from_the_output():
    """What the output reads is uniform, and so is what each of those reads; not so when cells are uniform."""
    published, uniform = (
        NASBench1Shot1S1(loose_ends="trimmed", sampling=sampling) for sampling in ("published", "uniform")
    )
    rng = random.Random(0)
    outputs = Counter(published.sample(rng).parents[-1] for _ in range(4000))
    assert len(outputs) == 10
    assert all(abs(count - 400) < 80 for count in outputs.values())
    assert Counter(uniform.sample(rng).parents[-1] for _ in range(4000))[0, 1] < 50
    kept = NASBench1Shot1S1()
    assert all(kept.parse(str(kept.sample(rng))) for _ in range(20))


def test_mutation_changes_one_choice():
    space, rng = NASBench1Shot1S3(), random.Random(0)
    cell, kinds = space.sample(rng), Counter()
    for _ in range(300):
        other = space.mutate(cell, rng)
        ops = sum(a != b for a, b in zip(cell.ops, other.ops, strict=True))
        inputs = sum(a != b for a, b in zip(cell.parents, other.parents, strict=True))
        assert ops + inputs == 1
        kinds["op" if ops else "inputs"] += 1
        cell = other
    assert abs(kinds["op"] - 150) < 45  # five operations, five choices of inputs


def test_trimmed_mutations_change_what_is_in_use():
    space, rng = NASBench1Shot1S2(loose_ends="trimmed"), random.Random(0)
    cell = space.sample(rng)
    for _ in range(100):
        other = space.mutate(cell, rng)
        assert other != cell
        assert space.parse(str(other)) == other
        cell = other


def test_the_list_has_no_one_shot_network():
    with pytest.raises(UnsupportedError, match="kept"):
        NASBench1Shot1S1(loose_ends="listed").one_shot(CIFAR)
