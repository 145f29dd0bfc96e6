"""Layers: costs by module, evenness beside the default score's own parts, and which layers are named."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from foresee import score
from foresee.counting import count_macs, count_params
from foresee.insight.layers import LEAST, UNEVEN, Layer, Layers, layers_of
from foresee.spaces import get
from foresee.task import Task


@pytest.fixture
def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 5))


def test_costs_add_up_to_those_of_the_network(net: nn.Module) -> None:
    x = torch.randn(4, 3, 8, 8)
    found = layers_of(net, x)
    assert sum(one.params for one in found.rows) == count_params(net)
    assert sum(one.macs for one in found.rows) == count_macs(net, x)
    assert [one.name for one in found.seen] == ["0", "4"]  # a normalisation exchanges nothing


def test_parts_are_those_of_the_default_score(net: nn.Module) -> None:
    x = torch.randn(4, 3, 8, 8)
    parts, seen = score(net, x).parts, layers_of(net, x).seen
    for what in ("reads", "told"):
        assert sum(one.capacity * getattr(one, what) for one in seen) == pytest.approx(parts[what])


def test_a_layer_that_reaches_nothing_is_told_nothing() -> None:
    class Loose(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.dead = nn.Linear(6, 4), nn.Linear(6, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.used(x) + 0 * self.dead(x)

    found = layers_of(Loose(), torch.randn(8, 6))
    assert {one.name: one.told == 0 for one in found.seen} == {"used": False, "dead": True}
    assert [one.name for one in found.worst()] == ["dead"]


def test_the_bound_is_half_of_the_median_and_never_nothing() -> None:
    rows = [Layer(str(i), "Linear", 1, 1, 2.0, reads, 1.0) for i, reads in enumerate((0.9, 0.8, 0.1))]
    found = Layers(tuple(rows))
    assert found.bound("reads") == pytest.approx(UNEVEN * 0.8)
    assert [one.name for one in found.uneven("reads")] == ["2"]
    assert not found.uneven("told")
    flat = Layers(tuple(Layer(str(i), "Linear", 1, 1, 2.0, 0.001, 1.0) for i in range(3)))
    assert flat.bound("reads") == LEAST
    assert len(flat.uneven("reads")) == 3
    assert math.isclose(found.share_lost(rows[2]), (2 - 2 * math.sqrt(0.1)) / 6)


def test_nothing_seen_is_no_error() -> None:
    none = Layers((Layer("norm", "BatchNorm2d", 4, 0),))
    assert none.worst() == ()
    assert none.bound("reads") == LEAST
    assert none.share_lost(none.rows[0]) == 0


def test_a_network_of_a_space_and_back_from_plain_values() -> None:
    space = get("nasbench201", channels=4, cells=1)
    task = Task((3, 8, 8), 3)
    network = space.build(space.named["ResNet"], task)
    found = layers_of(network, torch.randn(4, 3, 8, 8))
    counts = space.counts(space.named["ResNet"], task)
    assert (sum(one.params for one in found.rows), sum(one.macs for one in found.rows)) == (counts.params, counts.macs)
    assert Layers.from_json(found.to_json()) == found
