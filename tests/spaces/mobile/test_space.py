"""The space of mobile networks: suites in both forms, texts outside it, neighbours, settings, pictures."""

from __future__ import annotations

import itertools
import random

import pytest

from foresee.errors import InputError
from foresee.spaces import get
from foresee.spaces.mobile import Mobile
from foresee.task import Task
from foresee.testing.spaces import SpaceSuite

FRAME = {"widths": (4, 8), "strides": (1, 2), "stem": 4, "first": 4, "head": 8}
TASK = Task((3, 8, 8), 4)


class TestByStage(SpaceSuite):
    task = TASK
    samples, counted, trained = 15, 3, 3

    def space(self):
        return Mobile(**FRAME, layers=(1, 2))


class TestByLayer(SpaceSuite):
    task = TASK
    samples, counted, trained = 15, 3, 3

    def space(self):
        return Mobile(
            **{**FRAME, "first": 0}, design="mobilenet_v3", layers=(1, 2), expansions=(1, 3), squeeze="free", features=6
        )


def test_the_default_design_is_mnasnets():
    space = Mobile()
    one = space.named["MnasNet_A1"]
    assert str(one) == "e6k3x2:e3k5sx3:e6k3x4:e6k3sx2:e6k5sx3:e6k3"
    assert space.assemble(space.picks(one)) == one
    assert not space.enumerable
    with pytest.raises(InputError, match="too many to list"):
        space.enumerate()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("e6k3", "1 stages, expected 2"),
        ("e6k3:e4k3", "stage 2: expansion 4, expected one of 3, 6"),
        ("e6k3:e6k7", "stage 2: kernel 7, expected one of 3, 5"),
        ("e6k3x9:e6k3", "stage 1: 9 layers, expected one of 1, 2, 3, 4"),
        ("e6k3+e3k3:e6k3", "stage 1: layers that differ"),
    ],
)
def test_texts_outside_the_space_name_the_stage(text, message):
    with pytest.raises(InputError, match=message):
        Mobile(**FRAME).parse(text)


def test_gates_that_are_not_free():
    space = Mobile(**FRAME, squeeze=["yes", "no"])
    assert str(space.parse("e6k3s:e3k3")) == "e6k3s:e3k3"
    with pytest.raises(InputError, match="stage 1: e6k3, and this stage has squeeze-and-excitation: write an s"):
        space.parse("e6k3:e3k3")
    with pytest.raises(InputError, match="stage 2: e3k3s, and this stage has none: leave out the s"):
        space.parse("e6k3s:e3k3s")


@pytest.mark.parametrize("each", ["stage", "layer"])
def test_a_neighbour_differs_in_one_decision_that_matters(each):
    space, rng = Mobile(**FRAME, each=each, layers=(1, 3)), random.Random(0)
    for _ in range(50):
        one = space.sample(rng)
        pairs = list(zip(space.picks(one), space.picks(space.mutate(one, rng)), strict=True))
        assert sum(a is not None and b is not None and a != b for a, b in pairs) == 1


def test_a_child_has_everything_from_a_parent():
    space, rng = Mobile(**FRAME, each="layer", layers=(1, 3)), random.Random(0)
    for _ in range(50):
        first, second = space.sample(rng), space.sample(rng)
        child = space.crossover(first, second, rng)
        for stage, layers in enumerate(child.stages):
            parents = [parent.stages[stage] for parent in (first, second)]
            assert len(layers) in map(len, parents)
            for number, layer in enumerate(layers):
                for field in ("expansion", "kernel", "squeeze"):
                    known = [getattr(p[number], field) for p in parents if number < len(p)]
                    assert getattr(layer, field) in known


def test_the_list_by_layer():
    space = Mobile(**FRAME, each="layer", layers=(1, 2), kernels=(3,), squeeze="no")
    assert [str(one) for one in itertools.islice(space.enumerate(), 4)] == [
        "e3k3:e3k3",
        "e3k3:e6k3",
        "e3k3:e3k3x2",
        "e3k3:e3k3+e6k3",
    ]
    assert len(list(space.enumerate())) == space.size == (2 + 4) ** 2


def test_settings():
    asked = {"design": "mobilenet_v2", "widths": [8, 16], "kernels": [3], "stem_stride": 1}
    assert get("mobile", **asked).settings() == asked
    form = get("mobile", **asked).form
    assert (form.strides, form.squeeze, form.stem_stride, form.activation) == ((2, 2), ("no", "no"), 1, "relu6")
    assert get("mobile", widths=[8] * 8).form.strides == (2, 2, 2, 1, 2, 1, 1, 1)
    assert get("mobile", **asked).named == {}
    assert not get("mobile", kernels=[7]).named
    assert Mobile(expansions=[6, 3]).form.expansions == (3.0, 6.0)
    single = Mobile(**FRAME, expansions=[3], kernels=[3], layers=[1], squeeze="no")
    with pytest.raises(InputError, match="nothing can be mutated"):
        single.mutate(single.parse("e3k3:e3k3"), random.Random(0))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"design": "mobilenet"}, "unknown design of space mobile 'mobilenet': did you mean mobilenet_v"),
        ({"widths": []}, r"widths \[\], expected a list"),
        ({"widths": [8, 0]}, "widths 0, expected a whole number"),
        ({"widths": "8"}, "widths '8', expected a list"),
        ({"strides": [1, 2]}, "2 strides for 6 widths, expected one for each"),
        ({"strides": [3] * 6}, "strides 3"),
        ({"expansions": [0.5]}, r"expansions \[0.5\], expected numbers from 1 to 100"),
        ({"expansions": [3, 3]}, "expected each once"),
        ({"kernels": [4]}, r"kernels \[4\], expected odd numbers"),
        ({"layers": [0]}, "layers 0"),
        ({"squeeze": "maybe"}, "unknown squeeze of space mobile 'maybe'"),
        ({"squeeze": ["no"]}, "1 squeeze for 6 widths"),
        ({"each": "block"}, "unknown each of space mobile"),
        ({"activation": "tanh"}, "unknown activation"),
        ({"stem": 0}, "stem 0"),
        ({"stem_stride": 3}, "stem_stride 3"),
        ({"features": -1}, "features -1"),
    ],
)
def test_settings_that_do_not_fit(wrong, message):
    with pytest.raises(InputError, match=message):
        get("mobile", **wrong)


def test_the_picture_and_tasks_that_are_no_images():
    space = Mobile(**FRAME)
    (graph,) = space.graph(space.parse("e6k3x2:e3k5s"))
    assert graph.nodes == ("stem, 4 at 1/2", "e1k3, 4 at 1/2", "e6k3x2, 4 at 1/2", "e3k5s, 8 at 1/4")
    assert graph.kinds == ("", "e1k3", "e6k3", "e3k5s")
    for use in (space.build, space.counts):
        with pytest.raises(InputError, match="space mobile takes images: input shape 20"):
            use(space.parse("e6k3:e3k5"), Task((20,), 2))
