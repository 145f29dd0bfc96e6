"""The AutoFormer spaces: the conformance suite, reference counts, sampling, mutation, crossover."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from foresee.errors import InputError, UnknownNameError
from foresee.seeds import generator, stream
from foresee.spaces import get
from foresee.spaces.autoformer import Architecture, AutoFormerBase, AutoFormerSmall, AutoFormerTiny
from foresee.spaces.autoformer.named import BASE, SMALL, TINY
from foresee.spaces.counting import measure
from foresee.task import Task
from foresee.testing.spaces import SpaceSuite

IMAGENET = Task((3, 224, 224), 1000)
SMALLEST = {"patch": 4, "head_dim": 4, "reach": 3}


class TestReducedTiny(SpaceSuite):
    task = Task((3, 8, 12), 5)

    def space(self):
        return AutoFormerTiny(embed=(8, 12, 16), heads=(1, 2), depth=(1, 2, 3), **SMALLEST)


class TestReducedSmall(TestReducedTiny):
    samples = 12
    counted = 2
    trained = 3

    def space(self):
        return AutoFormerSmall(embed=(6, 9), **SMALLEST)


class TestReducedBase(TestReducedTiny):
    """Clipped distances, since the grid is larger than the reach; another shape."""

    task = Task((1, 20, 4), 1)
    samples = 12
    counted = 2
    trained = 3

    def space(self):
        return AutoFormerBase(embed=(8, 16), heads=(1, 2, 3), drop_path=0.1, mutation="single", **SMALLEST)


@pytest.mark.parametrize(
    ("space", "architecture", "params", "complexity"),
    [
        (AutoFormerTiny(), TINY["AutoFormer_T"], 5_867_944, 1.3440),
        (AutoFormerSmall(), SMALL["AutoFormer_S"], 22_891_432, 4.8921),
        (AutoFormerBase(), BASE["AutoFormer_B"], 53_691_688, 11.2369),
    ],
    ids=["T", "S", "B"],
)
def test_published_counts(space, architecture, params, complexity):
    assert space.counts(architecture, IMAGENET).params == params
    assert round(space.benchmark_complexity(architecture) / 1e9, 4) == complexity
    with torch.device("meta"):
        assert sum(p.numel() for p in space.build(architecture, IMAGENET).parameters()) == params


@pytest.mark.parametrize(
    ("space", "smallest", "largest", "supernet"),
    [
        (AutoFormerTiny(), 5_366_056, 10_517_272, 11_669_224),
        (AutoFormerSmall(), 13_057_320, 34_790_440, 34_790_440),
        (AutoFormerBase(), 41_687_896, 76_882_264, 80_160_360),
    ],
    ids=["T", "S", "B"],
)
def test_ends_of_the_spaces_and_supernets(space, smallest, largest, supernet):
    for end, params in ((min, smallest), (max, largest)):
        depth = end(space.options["depth"])
        mlp, heads = end(space.options["mlp"]), end(space.options["heads"])
        one = Architecture(end(space.options["embed"]), (mlp,) * depth, (heads,) * depth)
        assert space.contains(one)
        assert space.counts(one, IMAGENET).params == params
    with torch.device("meta"):
        assert sum(p.numel() for p in space.one_shot(IMAGENET).parameters()) == supernet


@pytest.mark.parametrize(
    ("space", "size"),
    [(AutoFormerTiny(), 1.057e9), (AutoFormerSmall(), 7.71e13), (AutoFormerBase(), 1.01e13)],
    ids=["T", "S", "B"],
)
def test_sizes(space, size):
    assert space.size == pytest.approx(size, rel=2e-3)


def test_macs_at_full_size_agree_with_the_network():
    space, one = AutoFormerTiny(), TINY["AZ_NAS_T"]
    assert measure(lambda: space.build(one, IMAGENET), IMAGENET) == space.counts(one, IMAGENET)


def test_named():
    space = AutoFormerTiny()
    assert set(space.named) == {"AutoFormer_T", "AZ_NAS_T", "TF_TAS_T"}
    assert {name for name, one in space.named.items() if not space.contains(one)} == {"AutoFormer_T"}
    assert AutoFormerSmall().contains(SMALL["AutoFormer_S"])
    assert AutoFormerBase().contains(BASE["AutoFormer_B"])
    assert AutoFormerTiny(embed=(8,)).named == {}


def test_heads_of_the_base_space():
    wider = AutoFormerBase(heads=(8, 9, 10))
    assert wider.settings() == {"heads": [8, 9, 10]}
    assert wider.size > AutoFormerBase().size
    assert wider.named == AutoFormerBase().named
    assert {heads for n in range(20) for heads in wider.sample(stream(n)).heads} == {8, 9, 10}
    assert {heads for n in range(20) for heads in AutoFormerBase().sample(stream(n)).heads} == {9, 10}


def test_samples_are_uniform_over_the_choices():
    space = AutoFormerTiny()
    drawn = [space.sample(stream(number)) for number in range(600)]
    for values in ([one.embed for one in drawn], [one.depth for one in drawn]):
        assert all(150 < count < 250 for count in Counter(values).values())
    for values in ([one.mlp[3] for one in drawn], [one.heads[5] for one in drawn]):
        assert all(240 < count < 360 for count in Counter(values).values())
    assert all(map(space.contains, drawn))


def changes(one, two):
    """How many choices differ."""
    layers = zip(one.mlp + one.heads, two.mlp + two.heads, strict=True) if one.depth == two.depth else ()
    return (one.embed != two.embed) + (one.depth != two.depth) + sum(a != b for a, b in layers)


def test_single_mutation_changes_one_choice():
    space, kinds = AutoFormerSmall(), Counter()
    for number in range(300):
        one = space.sample(stream(number))
        two = space.mutate(one, stream(number, "mutate"))
        assert space.contains(two)
        assert changes(one, two) == 1
        if one.depth != two.depth:
            shared = min(one.depth, two.depth)
            assert (one.mlp[:shared], one.heads[:shared]) == (two.mlp[:shared], two.heads[:shared])
        kinds[one.depth != two.depth, one.embed != two.embed, one.mlp != two.mlp] += 1
    assert len(kinds) >= 4


def test_published_mutation():
    space, one = AutoFormerTiny(mutation="published"), TINY["AZ_NAS_T"]
    drawn = [space.mutate(one, stream(number)) for number in range(1000)]
    # a new value equals the old one with chance 1 / options
    assert sum(two.depth != one.depth for two in drawn) / 1000 == pytest.approx(0.4 * 2 / 3, abs=0.05)
    assert sum(two.embed != one.embed for two in drawn) / 1000 == pytest.approx(0.4 * 2 / 3, abs=0.05)
    assert sum(two.mlp[4] != one.mlp[4] for two in drawn) / 1000 == pytest.approx(0.2 / 2, abs=0.04)
    assert sum(two.heads[4] != one.heads[4] for two in drawn) / 1000 == pytest.approx(0.2 / 2, abs=0.04)
    assert all(map(space.contains, drawn))


def test_crossover_takes_each_number_from_a_parent():
    space, seen = AutoFormerTiny(), set()
    for number in range(60):
        one, two = space.sample(stream(number)), space.sample(stream(number, "other"))
        child = space.crossover(one, two, stream(number, "child"))
        assert child.embed in (one.embed, two.embed)
        assert child.depth in (one.depth, two.depth)
        for layer in range(child.depth):
            parents = [parent for parent in (one, two) if layer < parent.depth]
            assert child.mlp[layer] in [parent.mlp[layer] for parent in parents]
            assert child.heads[layer] in [parent.heads[layer] for parent in parents]
        seen.add(child not in (one, two))
    assert True in seen


def test_settings_travel():
    space = AutoFormerTiny(embed=[12, 8], mlp=[2], depth=(1, 2), patch=4, drop_path=0.1, mutation="published")
    assert space.settings() == {
        "embed": [8, 12],
        "mlp": [2.0],
        "depth": [1, 2],
        "patch": 4,
        "drop_path": 0.1,
        "mutation": "published",
    }
    assert get("autoformer_tiny", **space.settings()).settings() == space.settings()
    assert AutoFormerBase().settings() == {}


def test_wrong_settings_and_tasks():
    for wrong, message in (
        ({"patch": 0}, "patch 0"),
        ({"embed": ()}, "embed"),
        ({"embed": (8, 8)}, "different whole numbers"),
        ({"heads": (1.5,)}, "heads"),
        ({"mlp": (-1.0,)}, "numbers above 0"),
        ({"drop_path": 1.0}, "drop_path"),
    ):
        with pytest.raises(InputError, match=message):
            AutoFormerTiny(**wrong)
    with pytest.raises(UnknownNameError, match="published"):
        AutoFormerTiny(mutation="publishd")
    space = AutoFormerTiny(embed=(8,), mlp=(2.0,), heads=(1,), depth=(1,))
    with pytest.raises(InputError, match="nothing can be mutated"):
        space.mutate(space.sample(stream(0)), stream(0))
    for task, message in ((Task((3, 30, 32), 2), "30x32 pixels: not a multiple"), (Task((12,), 2), "images")):
        for use in (space.build, space.counts):
            with pytest.raises(InputError, match=message):
                use(space.sample(stream(0)), task)


@pytest.mark.slow
def test_many_samples_build_and_run():
    """At reduced width, with the published depths, ratios and heads."""
    task = Task((3, 8, 8), 3)
    inputs = torch.randn(2, 3, 8, 8, generator=generator(0, "inputs"))
    for space in (
        kind(embed=(8, 12), patch=4, head_dim=4) for kind in (AutoFormerTiny, AutoFormerSmall, AutoFormerBase)
    ):
        for number in range(10):
            network = space.build(space.sample(stream(number)), task)
            network(inputs).square().sum().backward()
            assert all(bool(p.grad.isfinite().all()) for p in network.parameters())
