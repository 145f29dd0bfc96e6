from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.scoring import score


@pytest.mark.checks("params", "macs", "flops", by="counts by hand")
def test_params_macs_and_flops(small):
    network = small()
    x = torch.randn(3, 2, 6, 6)
    assert score(network, x, "params").value == sum(p.numel() for p in network.parameters())
    macs = 36 * 3 * 2 * 9 + 4 * 4 * 3 * 9 + 16 * 5
    assert score(network, x, "macs").value == macs
    assert score(network, x, "flops").value == 2 * macs


@pytest.mark.checks("random", by="what it promises")
def test_random_differs_between_networks_and_is_the_same_for_one(small):
    x = torch.randn(3, 2, 6, 6)
    values = [score(small(seed), x, "random").value for seed in range(20)]
    assert len(set(values)) == 20
    assert all(0 <= value < 1 for value in values)
    assert score(small(3), x, "random").value == values[3]
    assert score(small(3), x, "random", seed=1).value != values[3]


def test_random_sees_structure_without_weights():
    x = torch.randn(1, 2)
    assert score(nn.Identity(), x, "random").value != score(nn.ReLU(), x, "random").value


def test_random_repeats_have_a_spread(small):
    assert score(small(), torch.randn(1, 2, 6, 6), "random", repeats=5).spread > 0


def test_lazy_layers_are_unsupported():
    found = score(nn.LazyLinear(3), torch.randn(1, 2), "params")
    assert found.status == "unsupported"
    assert "lazy" in found.reason
