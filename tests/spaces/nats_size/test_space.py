"""The size space of NATS-Bench: its list, texts, neighbours and settings."""

from __future__ import annotations

import csv
import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError
from foresee.spaces import get
from foresee.spaces.nats_size import Architecture, NATSSize
from foresee.task import Task
from foresee.testing.spaces import SpaceSuite

SPACE = NATSSize()
widths = st.tuples(*[st.sampled_from(SPACE.widths)] * 5).map(Architecture)


class TestSuite(SpaceSuite):
    task = Task((3, 8, 8), 4)
    trained = 30

    def space(self):
        return NATSSize(step=1)


def test_every_row_of_the_table(data_folder):
    path = data_folder / "nas" / "nats_sss_cifar10.csv.gz"
    if not path.is_file():
        pytest.skip(f"no nas/{path.name} under FORESEE_DATA")
    with gzip.open(path, "rt") as file:
        texts = [row["channels"] for row in csv.DictReader(file)]
    assert texts == [str(one) for one in SPACE.enumerate()]
    assert len(texts) == SPACE.size == 32_768


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


@examples(30)
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


def test_tasks_that_are_no_images_are_refused():
    for use in (SPACE.build, SPACE.counts):
        with pytest.raises(InputError, match="space nats_size takes images: input shape 20"):
            use(SPACE.parse("8:8:8:8:8"), Task((20,), 2))
    (graph,) = SPACE.graph(SPACE.parse("8:16:32:48:64"))
    assert graph.nodes[1:] == ("cell, 8", "reduction, 16", "cell, 32", "reduction, 48", "cell, 64")
