"""NAS-Bench-Macro: its list, texts, classes, neighbours and settings."""

from __future__ import annotations

import csv
import gzip
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError
from foresee.spaces import get
from foresee.spaces.nasbench_macro import OPS, Architecture, NASBenchMacro
from foresee.task import Task
from foresee.testing.spaces import SpaceSuite

SPACE = NASBenchMacro()
CIFAR = Task((3, 32, 32), 10)
layers = st.tuples(*[st.sampled_from(OPS)] * 8).map(Architecture)


class TestSuite(SpaceSuite):
    task = Task((3, 16, 16), 4)
    samples = 20

    def space(self):
        return NASBenchMacro(channels=2, head=8)

    def equivalents(self, architecture):
        """Identities behind a stage's first layer may stand anywhere in it."""
        a, b, c, d, e, f, g, h = architecture.ops
        if "identity" in (d, e):
            d, e = e, d
        if "identity" in (g, h):
            g, h = h, g
        return [Architecture((a, b, c, d, e, f, g, h))]


@pytest.fixture(scope="module")
def rows(data_folder):
    path = data_folder / "nas" / "nb_macro.csv.gz"
    if not path.is_file():
        pytest.skip(f"no nas/{path.name} under FORESEE_DATA")
    with gzip.open(path, "rt") as file:
        return list(csv.DictReader(file))


def test_every_row_of_the_table_has_our_counts(rows):
    listed = {str(one) for one in SPACE.enumerate()}
    for row in rows:
        counts = SPACE.counts(SPACE.parse(row["arch"]), CIFAR)
        assert row["arch"] in listed
        assert (counts.params, counts.macs) == (int(row["params"]), int(row["flops"])), row["arch"]


def test_texts_of_one_class_are_one_network_of_the_table(rows):
    """The benchmark trained each class once and wrote its numbers beside every text."""
    numbers = {}
    for row in rows:
        identity = SPACE.canonical(SPACE.parse(row["arch"]))
        numbers.setdefault(identity, set()).add((row["acc1"], row["acc2"], row["acc3"]))
    assert len(numbers) < len(rows)
    assert set(map(len, numbers.values())) == {1}


def test_classes():
    """Behind a stage's first layer a pair of layers is one of seven: 9 x 21 x 21 in all."""
    classes = Counter(SPACE.canonical(one) for one in SPACE.enumerate())
    assert (sum(classes.values()), len(classes)) == (SPACE.size, 3 * 3 * 21 * 21) == (6561, 3969)
    assert all(SPACE.canonical(SPACE.parse(text)) == text for text in classes)
    assert SPACE.canonical(SPACE.parse("00100201")) == "00100210"
    assert SPACE.canonical(SPACE.parse("01012021")) == "01012021"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0000000", "7 digits, expected 8"),
        ("000000000", "9 digits, expected 8"),
        ("00030000", "layer 4: '3', expected 0, 1 or 2"),
        ("0000000٢", "layer 8: '٢'"),
        ("1.0e7", "layer 2: '.'"),
    ],
)
def test_malformed_text_names_the_layer(text, message):
    with pytest.raises(InputError, match=message):
        SPACE.parse(text)


def test_wrong_architectures_cannot_be_made():
    with pytest.raises(InputError, match="7 layers: expected 8"):
        Architecture(("e3k3",) * 7)
    with pytest.raises(InputError, match="operation of layer 2"):
        Architecture(("e3k3", "e3k5", *("e3k3",) * 6))


@examples(30)
@given(layers, layers, st.integers(0, 2**32))
def test_neighbours_and_children(first, second, seed):
    near, child = SPACE.mutate(first, random.Random(seed)), SPACE.crossover(first, second, random.Random(seed))
    assert sum(a != b for a, b in zip(first.ops, near.ops, strict=True)) == 1
    assert all(op in pair for op, *pair in zip(child.ops, first.ops, second.ops, strict=True))


def test_settings():
    assert get("nasbench-macro", channels=4).settings() == {"channels": 4}
    for wrong in ({"channels": 0}, {"head": 1.5}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} "):
            get("nasbench_macro", **wrong)


def test_tasks_that_are_no_images_are_refused():
    for use in (SPACE.build, SPACE.counts):
        with pytest.raises(InputError, match="space nasbench_macro takes images: input shape 20"):
            use(SPACE.parse("00000000"), Task((20,), 2))


def test_the_picture_leaves_out_what_does_nothing():
    (graph,) = SPACE.graph(SPACE.parse("01002000"))
    layers = ["1x1, 64 at 1/2", "e3k3, 64 at 1/2", "1x1, 128 at 1/4", "e6k5, 128 at 1/4", "1x1, 256 at 1/8"]
    assert graph.nodes == ("stem, 32", *layers)
    assert len(graph.edges) == 5
