"""The spaces of super-blocks: the conformance suite, the table of reference counts, mutation, sampling."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch import nn

from foresee.errors import InputError, UnknownNameError
from foresee.seeds import generator, stream
from foresee.spaces import get
from foresee.spaces.plainnet import Architecture, MobileNet, ResNet
from foresee.spaces.plainnet.network import SqueezeExcite
from foresee.spaces.plainnet.space import widths
from foresee.task import Task
from foresee.testing.spaces import SpaceSuite

IMAGENET, CIFAR = Task((3, 224, 224), 1000), Task((3, 32, 32), 100)
SMALL_MOBILE = (
    "SuperConvK3BNRELU(3,8,1,1)SuperResIDWE2K3(8,8,2,8,1)SuperResIDWE1K3(8,8,1,8,1)SuperConvK1BNRELU(8,16,1,1)"
)
SMALL_RESNET = "SuperConvK3BNRELU(3,8,1,1)SuperResK3K3(8,8,2,8,1)SuperResK1K3K1(8,8,1,8,1)SuperConvK1BNRELU(8,16,1,1)"


class Small(SpaceSuite):
    task = Task((3, 8, 8), 4)
    samples = 12
    counted = 2
    trained = 3


class Unnamed(Small):
    """Without the published networks, which are large."""

    samples = 6

    def drawn(self, count):
        return super().drawn(count)[:count]


class TestMobileNet(Small):
    def space(self):
        return MobileNet(initial=SMALL_MOBILE)


class TestMobileNetOtherwise(Unnamed):
    """Images of another shape, squeeze-and-excitation, no bridges."""

    task = Task((1, 9, 6), 3)

    def space(self):
        return MobileNet(initial=SMALL_MOBILE, squeeze_excite=True, residual=False, max_layers=10, walk=3)


class TestResNet(Small):
    def space(self):
        return ResNet(initial=SMALL_RESNET)


class TestResNetWithoutBridges(Unnamed):
    task = Task((2, 7, 7), 1)

    def space(self):
        return ResNet(initial=SMALL_RESNET, residual=False, walk=3)


@pytest.mark.parametrize(
    ("space", "task", "name", "params", "squeezed", "size", "flops", "layers"),
    [
        (ResNet(), CIFAR, "initial", 102_572, None, 101_721, 6.551, 6),
        (ResNet(), CIFAR, "ZenNet_CIFAR_1M", 1_040_844, None, 1_031_185, 155.22, 18),
        (MobileNet(), IMAGENET, "initial", 2_824_264, None, 2_813_889, 162.40, 6),
        (MobileNet(), IMAGENET, "ZiCo_450M", 5_741_264, 7_526_376, 5_716_393, 438.39, 14),
        (MobileNet(), IMAGENET, "ZiCo_600M", 9_703_144, 19_194_448, 9_653_777, 590.29, 14),
        (MobileNet(), IMAGENET, "ZiCo_1G", 15_314_624, 28_781_452, 15_247_625, 979.22, 16),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_reference_table(space, task, name, params, squeezed, size, flops, layers):
    one = space.named[name]
    assert space.counts(one, task).params == params
    assert space.benchmark_size(one, task) == size
    assert space.benchmark_flops(one, task) / 1e6 == pytest.approx(flops, abs=0.005 if flops > 10 else 0.0005)
    assert one.layers == layers
    with torch.device("meta"):
        assert sum(p.numel() for p in space.build(one, task).parameters()) == params
        if squeezed:
            full = MobileNet(squeeze_excite=True)
            assert full.counts(one, task).params == squeezed
            assert sum(p.numel() for p in full.build(one, task).parameters()) == squeezed


def test_benchmark_counters_do_not_depend_on_the_form():
    one = MobileNet().named["ZiCo_450M"]
    for space in (MobileNet(residual=False), MobileNet(squeeze_excite=True)):
        assert space.benchmark_size(one, IMAGENET) == 5_716_393
        assert space.benchmark_flops(one, IMAGENET) == MobileNet().benchmark_flops(one, IMAGENET)


def test_named():
    mobile, resnet = MobileNet(), ResNet()
    assert set(mobile.named) == {"initial", "ZiCo_450M", "ZiCo_600M", "ZiCo_1G"}
    assert {name for name, one in mobile.named.items() if not mobile.contains(one)} == {"ZiCo_1G"}
    assert MobileNet(max_layers=16).contains(mobile.named["ZiCo_1G"])
    assert all(map(resnet.contains, resnet.named.values()))
    with pytest.raises(UnknownNameError, match="type of block 1 'SuperResK3K3'"):
        mobile.parse(str(resnet.start))


def test_widths():
    assert widths(32, None) == (16, 24, 32, 40, 48, 64, 80)
    assert widths(8, None) == (8, 16)
    assert widths(2000, 2048)[-1] == 2048
    assert widths(2000, None)[-1] == 5000
    assert all(len(widths(width, 2048)) > 1 for width in range(8, 2049, 8))


@pytest.mark.parametrize("space", [MobileNet(), ResNet(), MobileNet(sampling="published")], ids=["m", "r", "p"])
def test_walks_stay_inside(space):
    for number in range(40):
        one = space.start
        for step in range(12):
            two = space.mutate(one, stream(number, step))
            assert space.contains(two)
            assert two != one or space.sampling == "published"
            strides = [block.stride for block in two.blocks if block.stride > 1]
            assert strides == [block.stride for block in space.start.blocks if block.stride > 1]
            one = two


def test_a_mutation_changes_one_block():
    space = ResNet()
    for number in range(100):
        one = space.named["ZenNet_CIFAR_1M"]
        two = space.mutate(one, stream(number))
        if len(two.blocks) > len(one.blocks):  # split
            parts = [block for block in two.blocks if block not in one.blocks]
            assert {part.layers for part in parts} & {3}
            continue
        changed = [
            place
            for place, (a, b) in enumerate(zip(one.blocks, two.blocks, strict=True))
            if (a.kind, a.outputs, a.bottleneck, a.layers) != (b.kind, b.outputs, b.bottleneck, b.layers)
        ]
        assert len(changed) == 1
        a, b = one.blocks[changed[0]], two.blocks[changed[0]]
        assert b.outputs in widths(a.outputs, 2048)
        assert abs(a.layers - b.layers) <= 2
        if a.bottleneck == 0:
            assert (a.kind, a.layers) == (b.kind, b.layers)


def test_blocks_are_split():
    space = MobileNet(max_layers=40)
    one, seen = space.named["ZiCo_450M"], set()
    for number in range(300):
        two = space.mutate(one, stream(number))
        if len(two.blocks) > len(one.blocks):
            place = next(n for n, (a, b) in enumerate(zip(one.blocks, two.blocks, strict=False)) if a != b)
            first, second = two.blocks[place : place + 2]
            assert (first.layers, second.stride, first.kind) == (3, 1, second.kind)
            assert (second.inputs, second.outputs) == (first.outputs, first.outputs)
            seen.add(second.layers)
    assert seen == {3, 4}


def kinds_drawn(space, count):
    """Types of the blocks that single mutations of the initial network draw anew."""
    found = Counter()
    for number in range(count):
        two = space.mutate(space.start, stream(number))
        for a, b in zip(space.start.blocks, two.blocks, strict=True):
            same = (a.outputs, a.bottleneck, a.layers) == (b.outputs, b.bottleneck, b.layers)
            if a.bottleneck and not same:  # whatever type it then has was drawn
                found[b.kind] += 1
    return found


@pytest.mark.parametrize(
    ("space", "weights"),
    [
        (MobileNet(), [1] * 12),
        (MobileNet(sampling="published"), range(12, 0, -1)),
        (ResNet(), [1] * 6),
        (ResNet(sampling="published"), [3, 2, 1, 3, 2, 1]),
    ],
    ids=["mobilenet", "mobilenet-published", "resnet", "resnet-published"],
)
def test_types_are_uniform_by_default_and_biased_as_published(space, weights):
    """Within five standard errors, of which the biased and the uniform chances are many more apart."""
    found = kinds_drawn(space, 5000)
    total = sum(found.values())
    assert set(found) == set(space.kinds)
    for kind, weight in zip(space.kinds, weights, strict=True):
        chance = weight / sum(weights)
        assert found[kind] / total == pytest.approx(chance, abs=5 * (chance * (1 - chance) / total) ** 0.5)


def test_published_mutations_may_change_nothing():
    space = MobileNet(sampling="published")
    same = sum(space.mutate(space.start, stream(number)) == space.start for number in range(300))
    assert 20 < same < 120  # the last convolution is drawn one time in six and stays


def test_the_last_convolution():
    fixed, free = MobileNet(), ResNet()
    assert {fixed.sample(stream(n)).blocks[-1].outputs for n in range(30)} == {2048}
    assert len({free.sample(stream(n)).blocks[-1].outputs for n in range(30)}) > 3


def test_too_deep_parents_do_not_grow():
    space = MobileNet()
    one = space.named["ZiCo_1G"]
    assert all(space.mutate(one, stream(number)).layers <= 16 for number in range(50))


def test_residual_links_are_removed_with_their_convolutions():
    one = ResNet().start
    with_links, without = (ResNet(residual=flag).build(one, CIFAR) for flag in (True, False))
    names = {name for name, _ in with_links.named_parameters()}
    left = {name for name, _ in without.named_parameters()}
    assert names - left == {name for name in names if ".bridge." in name}
    unit = without.blocks[1][0]
    x = torch.randn(2, 8, 6, 6)
    torch.testing.assert_close(unit(x), torch.relu(unit.main(x)))
    unit = with_links.blocks[1][0]
    torch.testing.assert_close(unit(x), torch.relu(unit.main(x) + unit.bridge(x)))


def test_network_details():
    network = MobileNet(squeeze_excite=True).build(MobileNet().parse(SMALL_MOBILE), Task((3, 8, 8), 2))
    assert {module.eps for module in network.modules() if isinstance(module, nn.BatchNorm2d)} == {1e-3}
    unit = network.blocks[1][0]
    order = [type(module).__name__ for module in unit.main]
    assert order == [
        *("Conv2d", "BatchNorm2d", "ReLU", "Conv2d", "BatchNorm2d", "ReLU", "SqueezeExcite"),
        *("Conv2d", "BatchNorm2d"),
    ]
    biased = {name for name, m in network.named_modules() if isinstance(m, nn.Conv2d) and m.bias is not None}
    assert biased == {name for name, m in network.named_modules() if isinstance(m, nn.Conv2d) and ".bridge." in name}
    gate, x = SqueezeExcite(8), torch.randn(3, 8, 4, 4)
    assert gate.gate[1].out_channels == 2
    ratio = gate(x) / x
    torch.testing.assert_close(ratio, ratio[:, :, :1, :1].expand_as(ratio))
    assert bool(((ratio > 0) & (ratio < 1)).all())


def test_stages_and_last_map():
    network = ResNet().build(ResNet().start, Task((3, 16, 16), 2)).eval()
    x = torch.randn(2, 3, 16, 16)
    shapes = [tuple(stage.shape[1:]) for stage in network.stages(x)]
    assert shapes == [(8, 16, 16), (16, 16, 16), (32, 8, 8), (64, 4, 4), (64, 2, 2), (128, 2, 2)]
    torch.testing.assert_close(network.classifier(network.pre_gap(x).mean((2, 3))), network(x))


def test_settings_travel():
    space = MobileNet(initial=SMALL_MOBILE, max_layers=9, walk=2, sampling="published", residual=False)
    plain = space.settings()
    assert plain == {
        "initial": SMALL_MOBILE,
        "max_layers": 9,
        "walk": 2,
        "sampling": "published",
        "residual": False,
    }
    assert get("mobilenet", **plain).settings() == plain
    assert get("resnet").settings() == {}
    assert get("mobilenet", walk=0).sample(stream(0)) == MobileNet().start


def test_wrong_settings_and_tasks():
    for wrong, message in (
        ({"max_layers": 5}, "has 6 layers, max_layers is 5"),
        ({"walk": -1}, "walk -1"),
        ({"initial": "SuperRes"}, "block 0"),
        ({"initial": SMALL_MOBILE.rpartition("SuperConv")[0]}, "expected SuperConvK3BNRELU first"),
    ):
        with pytest.raises(InputError, match=message):
            MobileNet(**wrong)
    with pytest.raises(UnknownNameError, match="published"):
        ResNet(sampling="publish")
    with pytest.raises(InputError, match="squeeze_excite"):
        get("resnet", squeeze_excite=True)
    with pytest.raises(InputError, match="images"):
        ResNet().counts(ResNet().start, Task((8,), 2))
    single = Architecture(MobileNet().start.blocks[:1])
    assert not MobileNet().contains(single)
    with pytest.raises(InputError, match="no block that can change"):
        MobileNet().mutate(single, stream(0))


@pytest.mark.slow
def test_many_samples_build_and_run():
    task = Task((3, 8, 8), 3)
    inputs = torch.randn(2, 3, 8, 8, generator=generator(0, "inputs"))
    for space in (MobileNet(initial=SMALL_MOBILE), ResNet(initial=SMALL_RESNET)):
        for number in range(20):
            network = space.build(space.sample(stream(number)), task)
            network(inputs).square().sum().backward()
            assert all(bool(p.grad.isfinite().all()) for p in network.parameters())
