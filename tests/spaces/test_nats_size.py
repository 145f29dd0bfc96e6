"""The size space of NATS-Bench against its published counts, its table and the meta device."""

from __future__ import annotations

import csv
import gzip
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from foresee.errors import InputError
from foresee.spaces import get
from foresee.spaces.counting import measure
from foresee.spaces.nats_size import Architecture, NATSSize
from foresee.task import Task
from foresee.testing.spaces import SpaceSuite

CIFAR10, CIFAR100 = Task((3, 32, 32), 10), Task((3, 32, 32), 100)
SPACE = NATSSize()
widths = st.tuples(*[st.sampled_from(SPACE.widths)] * 5).map(Architecture)


class TestSuite(SpaceSuite):
    task = Task((3, 8, 8), 4)
    trained = 30

    def space(self):
        return NATSSize(step=1)


# -- published counts ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "params", "flops"),
    [
        ("64:64:64:64:64", 713_674, 274_399_882),
        ("8:8:8:8:8", 11_714, 4_481_114),
        ("8:16:32:48:64", 251_394, 26_780_298),
    ],
)
def test_published_counts(text, params, flops):
    one = SPACE.parse(text)
    assert SPACE.counts(one, CIFAR10).params == params
    assert SPACE.benchmark_flops(one, CIFAR10) == flops
    assert SPACE.counts(one, CIFAR100).params == params + 90 * (one.channels[-1] + 1)


def test_every_row_of_the_table(data_folder):
    path = data_folder / "nas" / "nats_sss_cifar10.csv.gz"
    if not path.is_file():
        pytest.skip(f"no nas/{path.name} under FORESEE_DATA")
    with gzip.open(path, "rt") as file:
        texts = [row["channels"] for row in csv.DictReader(file)]
    assert texts == [str(one) for one in SPACE.enumerate()]
    assert len(texts) == SPACE.size == 32_768


@settings(max_examples=10, deadline=None)
@given(widths, st.sampled_from([(1, 16, 16), (3, 32, 32), (5, 9, 9), (2, 13, 7)]), st.integers(1, 120))
def test_formulas_equal_the_network(one, inputs, outputs):
    task = Task(inputs, outputs)
    assert SPACE.counts(one, task) == measure(lambda: SPACE.build(one, task), task)


# -- text ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("8:8:8:8", "4 blocks, expected 5 joined by :"),
        ("8:8:20:8:8", "block 3: '20', expected one of 8, 16, 24"),
        ("8:8:8:8:08", "block 5: '08'"),
        ("8:8:8:8:-8", "block 5: '-8'"),
        ("8:8:8:x:8", "block 4: 'x'"),
        ("8:72:8:8:8", "block 2: '72'"),
    ],
)
def test_malformed_text_names_the_block(text, message):
    with pytest.raises(InputError, match=message):
        SPACE.parse(text)


def test_wrong_architectures_cannot_be_made():
    with pytest.raises(InputError, match="4 widths: expected 5"):
        Architecture((8,) * 4)
    with pytest.raises(InputError, match="8:8:0:8:8: every one must be at least 1"):
        Architecture((8, 8, 0, 8, 8))


# -- the set ------------------------------------------------------------------------------------------------------------
def test_mutations_change_one_width_and_the_published_one_may_not():
    one, rng = SPACE.parse("8:16:32:48:64"), random.Random(0)
    changed = [
        sum(a != b for a, b in zip(one.channels, SPACE.mutate(one, rng).channels, strict=True)) for _ in range(300)
    ]
    assert set(changed) == {1}
    published = NATSSize(sampling="published")
    same = sum(published.mutate(one, rng) == one for _ in range(4000))
    assert abs(same / 4000 - 1 / 8) < 0.03


@settings(max_examples=30, deadline=None)
@given(widths, widths, st.integers(0, 2**32))
def test_a_child_has_each_width_from_a_parent(first, second, seed):
    child = SPACE.crossover(first, second, random.Random(seed))
    assert all(w in pair for w, *pair in zip(child.channels, first.channels, second.channels, strict=True))


def test_settings():
    assert SPACE.settings() == {}
    assert get("nats_size", step=2, sampling="published").settings() == {"step": 2, "sampling": "published"}
    for wrong, message in [
        ({"step": 0}, "step 0"),
        ({"step": True}, "step True"),
        ({"sampling": "x"}, "sampling"),
    ]:
        with pytest.raises(InputError, match=message):
            get("nats_size", **wrong)


# -- networks -----------------------------------------------------------------------------------------------------------
def test_maps_and_the_kinds_of_skip():
    network = NATSSize(step=1).build(Architecture((2, 3, 3, 4, 6)), Task((1, 12, 10), 7))
    shapes = [tuple(m.shape[1:]) for m in network.stages(torch.randn(2, 1, 12, 10))]
    assert shapes == [(2, 12, 10), (2, 12, 10), (3, 6, 5), (3, 6, 5), (4, 3, 3), (6, 3, 3)]
    assert network.pre_gap(torch.randn(2, 1, 12, 10)).shape == (2, 6, 3, 3)
    skips = [type(network.cells[layer].edges[3]).__name__ for layer in (0, 2, 4)]
    assert skips == ["Identity", "Identity", "Sequential"]


def test_the_cell_by_hand():
    cell = NATSSize(step=1).build(Architecture((2, 3, 5, 4, 6)), CIFAR10).cells[2].eval()
    x, e = torch.randn(2, 3, 4, 4), cell.edges
    one = e[0](x)
    two = e[1](x) + e[2](one)
    torch.testing.assert_close(cell(x), e[3](x) + e[4](one) + e[5](two))
    kinds = [type(m).__name__ for m in e[3]]
    assert kinds == ["Conv2d", "BatchNorm2d"]


def test_tasks_that_are_no_images_are_refused():
    for use in (SPACE.build, SPACE.counts):
        with pytest.raises(InputError, match="space nats_size takes images: input shape 20"):
            use(SPACE.parse("8:8:8:8:8"), Task((20,), 2))
    (graph,) = SPACE.graph(SPACE.parse("8:16:32:48:64"))
    assert graph.nodes[1:] == ("cell, 8", "reduction, 16", "cell, 32", "reduction, 48", "cell, 64")
