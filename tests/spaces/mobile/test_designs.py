"""Published networks: their parameters to the last one, and their multiply-accumulates as the papers round them."""

from __future__ import annotations

import pytest
import torch

from foresee.spaces.mobile import DESIGNS, Mobile
from foresee.task import Task

IMAGENET = Task((3, 224, 224), 1000)
#: parameters of the public implementations; MACs in millions as the papers say
PUBLISHED = {
    ("mobilenet_v2", "MobileNetV2"): (3_504_872, 300),
    ("mobilenet_v3", "MobileNetV3_Large"): (5_483_032, 219),
    ("mobilenet_v3_small", "MobileNetV3_Small"): (2_542_856, 56),
    ("mnasnet", "MnasNet_A1"): (3_887_038, 312),
    ("mnasnet_b1", "MnasNet_B1"): (4_383_312, 315),
}


@pytest.mark.parametrize(("design", "name"), PUBLISHED)
def test_published_networks(design, name):
    space = Mobile(design=design)
    counts = space.counts(space.named[name], IMAGENET)
    params, millions = PUBLISHED[design, name]
    assert counts.params == params
    assert counts.macs / 1e6 == pytest.approx(millions, rel=0.02)


def test_every_named_network_is_built_as_it_is_counted():
    for design in DESIGNS:
        space = Mobile(design=design)
        assert space.named
        for one in space.named.values():
            with torch.device("meta"):
                network = space.build(one, IMAGENET)
            assert sum(p.numel() for p in network.parameters()) == space.counts(one, IMAGENET).params


def rounded(number, by=8):
    near = max(by, int(number / by + 0.5) * by)
    return near + by if near < 0.9 * number else near


@pytest.mark.parametrize(("name", "expansion", "kernel", "layers"), [("greatest", 6, 7, 4), ("smallest", 3, 3, 2)])
def test_once_for_all_by_arithmetic(name, expansion, kernel, layers):
    """The two ends of once-for-all, layer by layer: 1x1, depthwise and 1x1 weights, two numbers a channel for each norm."""
    total, inputs = 3 * 16 * 9 + 2 * 16, 16  # the stem
    total += 16 * 9 + 2 * 16 + 16 * 16 + 2 * 16  # the separable layer
    for width, gated in zip((24, 40, 80, 112, 160), (0, 1, 0, 1, 1), strict=True):
        for _ in range(layers):
            hidden = rounded(inputs * expansion)
            total += inputs * hidden + kernel * kernel * hidden + hidden * width + 2 * (2 * hidden + width)
            inner = rounded(hidden / 4)
            total += gated * (2 * hidden * inner + hidden + inner)
            inputs = width
    total += 160 * 960 + 2 * 960 + 960 * 1280 + 1280 * 1000 + 1000
    space = Mobile(design="ofa")
    assert space.counts(space.named[name], IMAGENET).params == total


def test_sizes():
    assert Mobile(design="ofa").size == (9**2 + 9**3 + 9**4) ** 5  # 2 x 10^19, as published
    assert Mobile().size == (2 * 2 * 4 * 2) ** 6
    assert Mobile(design="mobilenet_v2").size == (2 * 2 * 4) ** 6
