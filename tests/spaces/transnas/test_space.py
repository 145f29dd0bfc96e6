"""The two TransNAS-Bench-101 spaces: published counts, listings, sampling and mutation."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError, UnsupportedError
from foresee.spaces import get
from foresee.spaces.counting import measure
from foresee.spaces.transnas import MacroArchitecture, MicroArchitecture, TransNASMacro, TransNASMicro
from foresee.spaces.transnas.text import all_modules, trouble
from foresee.task import Task
from foresee.testing.spaces import SpaceSuite

MICRO, MACRO = TransNASMicro(), TransNASMacro()
SCENE = Task((3, 256, 256), 47)


class TestMicro(SpaceSuite):
    task = Task((3, 32, 32), 4)
    trained = 30
    counted = 3

    def space(self):
        return TransNASMicro(channels=2)

    def equivalents(self, architecture):
        """What a `none` into node 1 leaves unread may be anything."""
        if architecture.ops[0] == "none":
            for op in ("skip_connect", "nor_conv_3x3"):
                ops = list(architecture.ops)
                ops[2] = ops[4] = op
                yield MicroArchitecture(tuple(ops))


class TestMacro(SpaceSuite):
    task = Task((3, 32, 32), 4)
    trained = 30
    counted = 3

    def space(self):
        return TransNASMacro(channels=2)


class TestJigsaw(SpaceSuite):
    task = Task((3, 24, 24), 4)
    samples = trained = 5
    counted = 2

    def space(self):
        return TransNASMicro(channels=2, head="jigsaw")


# -- published counts ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("64-41414-3_33_333", 41_411_616),
        ("64-41414-1_02_333", 22_520_608),
        ("64-41414-1_11_111", 540_960),
        ("64-41414-0_00_000", 19_488),
        ("64-1234-basic", 3_400_224),
        ("64-2311-basic", 2_334_240),
    ],
)
def test_published_counts(text, params):
    space = MACRO if text.endswith("basic") else MICRO
    one = space.parse(text)
    assert space.backbone_counts(one, SCENE).params == params
    width = 128 if text == "64-2311-basic" else 256 if space is MACRO else 512
    assert space.counts(one, SCENE).params == params + width * 47 + 47


def test_published_macs():
    assert round(MICRO.backbone_counts(MICRO.parse("64-41414-3_33_333"), SCENE).macs / 1e9, 4) == 8.4699


def test_formulas_equal_the_benchmarks_networks():
    for space, text in ((MICRO, "64-41414-1_02_333"), (MACRO, "64-1234-basic")):
        one = space.parse(text)
        assert space.counts(one, SCENE) == measure(lambda one=one, space=space: space.build(one, SCENE), SCENE)


# -- the sets -----------------------------------------------------------------------------------------------------------
def test_listings():
    assert MICRO.size == len(list(MICRO.enumerate())) == 4096
    assert MACRO.size == len(list(MACRO.enumerate())) == 3256
    assert str(next(iter(MICRO.enumerate()))) == "64-41414-0_00_000"


def test_macro_samples_are_uniform():
    rng = random.Random(0)
    lengths = Counter(len(MACRO.sample(rng).modules) for _ in range(4000))
    expected = Counter(map(len, all_modules()))
    for length in (4, 5, 6):
        assert abs(lengths[length] / 4000 - expected[length] / 3256) < 0.03


@examples(40)
@given(st.integers(0, 2**32))
def test_mutations_change_one_choice(seed):
    rng = random.Random(seed)
    one = MICRO.sample(rng)
    assert sum(a != b for a, b in zip(one.ops, MICRO.mutate(one, rng).ops, strict=True)) == 1
    old = MACRO.sample(rng).modules
    new = MACRO.mutate(MacroArchitecture(old), rng).modules
    assert trouble(new) is None
    if len(new) == len(old):
        assert sum(a != b for a, b in zip(old, new, strict=True)) == 1
    else:
        long, short = sorted((old, new), key=len, reverse=True)
        assert short in {long[:place] + long[place + 1 :] for place in range(len(long))}


def test_every_skeleton_has_a_neighbour():
    rng = random.Random(0)
    for one in MACRO.enumerate():
        assert MACRO.mutate(one, rng) != one


@examples(40)
@given(st.integers(0, 2**32))
def test_children(seed):
    rng = random.Random(seed)
    first, second = MICRO.sample(rng), MICRO.sample(rng)
    child = MICRO.crossover(first, second, rng)
    assert all(op in pair for op, *pair in zip(child.ops, first.ops, second.ops, strict=True))
    left, right = MACRO.sample(rng), MACRO.sample(rng)
    made = MACRO.crossover(left, right, rng).modules
    begins = {
        (a[:cut] + b[cut:])
        for a, b in ((left.modules, right.modules), (right.modules, left.modules))
        for cut in range(7)
    }
    assert made in begins


# -- the spaces themselves ------------------------------------------------------------------------------------------------
def test_settings():
    assert MICRO.settings() == MACRO.settings() == {}
    assert get("transnas_macro", channels=4, head="dense").settings() == {"channels": 4, "head": "dense"}
    for wrong, message in [
        ({"channels": 0}, "channels 0"),
        ({"head": "clas"}, "did you mean class"),
        ({"wide": 3}, "wide"),
    ]:
        with pytest.raises(InputError, match=message):
            get("transnas_micro", **wrong)


def test_pictures():
    (cell,) = MICRO.graph(MICRO.parse("64-41414-1_02_003"))
    assert set(cell.edges) == {(0, 1, "skip_connect"), (1, 2, "nor_conv_1x1"), (2, 3, "nor_conv_3x3")}
    (chain,) = MACRO.graph(MACRO.parse("64-1234-basic"))
    assert chain.nodes == (
        "stem",
        "64 channels, 1/4",
        "128 channels, 1/4",
        "128 channels, 1/8",
        "256 channels, 1/16",
    )


def test_the_macro_space_shares_no_weights():
    with pytest.raises(UnsupportedError, match="transnas_macro has no one-shot network"):
        MACRO.one_shot(SCENE)
