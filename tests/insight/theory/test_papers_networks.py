"""The networks that statements are about."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.insight.theory.papers_networks import Scaled, TwoLayers, tangent_network


def test_outputs_keep_their_size_whatever_the_width():
    x = nn.functional.normalize(torch.randn(200, 10, dtype=torch.float64), dim=1) * 10**0.5
    for width in (16, 1024):
        network = tangent_network(10, width=width, activation=nn.Identity, outputs=50)
        assert network(x).square().mean().item() == pytest.approx(1.0, rel=0.5)


def test_they_come_from_the_seed_alone():
    first, second, third = (tangent_network(4, width=8, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(first[0].weight, second[0].weight)
    assert not torch.equal(first[0].weight, third[0].weight)
    assert isinstance(first[-1], Scaled)
    assert [type(one) for one in first] == [Scaled, nn.ReLU, Scaled, nn.ReLU, Scaled]


def test_the_outer_signs_are_fixed():
    network = TwoLayers(3, 16)
    assert [name for name, _ in network.named_parameters()] == ["weight"]
    assert set(network.signs.tolist()) == {-1.0, 1.0}
