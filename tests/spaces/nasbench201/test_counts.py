"""Formulas against the published counts, the benchmark's table, and the networks themselves."""

from __future__ import annotations

import csv
import gzip
import itertools
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from tests.spaces.nasbench201.drawn import SPACE, cells, uniform

from foresee.spaces.counting import measure
from foresee.spaces.nasbench201 import Architecture, NASBench201
from foresee.task import Task

CIFAR10, CIFAR100, IMAGENET16 = Task((3, 32, 32), 10), Task((3, 32, 32), 100), Task((3, 16, 16), 120)

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
@examples(8)
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
