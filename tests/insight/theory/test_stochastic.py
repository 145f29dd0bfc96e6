"""SiGeo's Theorem 1."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.errors import InputError
from foresee.insight.theory.stochastic import stochastic

RATES = [0.4 / (1 + i) ** 0.5 for i in range(12)]


def least_squares(scale: float = 1.0):
    torch.manual_seed(0)
    x, y = torch.randn(20, 3).double(), scale * torch.randn(20).double()
    network = nn.Linear(3, 1, bias=False)
    nn.init.constant_(network.weight, 3.0 * scale)
    return network, (x, y), torch.linalg.lstsq(x, y[:, None]).solution.flatten()


def test_the_bound_of_the_proof_holds_where_the_loss_is_convex():
    network, batch, best = least_squares()
    found = stochastic(network, batch, best, rates=RATES, repeats=6)
    assert found.step("as proved").holds
    assert found.applies
    assert found.constants["gap"] >= 0
    assert not found.step("Eq. 8").holds  # the mean gradient counts too


def test_the_printed_length_is_not_squared():
    """Far from the minimum a length is much less than its square: the printed bound fails where the proved one holds."""
    x, y = torch.eye(3).double(), torch.zeros(3).double()
    network = nn.Linear(3, 1, bias=False)
    nn.init.constant_(network.weight, 100.0)
    rates = [1e-4] * 3
    found = stochastic(network, (x, y), torch.zeros(3).double(), rates=rates, size=200, repeats=1)
    assert found.step("as proved").holds
    small = [1.0] * 2
    far = stochastic(network, (x, y), torch.zeros(3).double(), rates=small, size=2000, repeats=1)
    assert far.step("as proved").holds
    assert not far.step("as printed").holds


def test_a_loss_that_is_not_convex_is_said():
    """The product of two weights is to be 1: from (-0.9, -0.9) the way to (1, 1) leads uphill first."""
    network = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    for layer in network:
        nn.init.constant_(layer.weight, -0.9)
    batch = torch.ones(4, 1), torch.ones(4)
    found = stochastic(network, batch, torch.ones(2).double(), rates=[0.1] * 3, repeats=1)
    assert not found.applies


def test_what_is_refused():
    network, batch, best = least_squares()
    with pytest.raises(InputError, match="rates"):
        stochastic(network, batch, best, rates=[0.1, 0.2])
    with pytest.raises(InputError, match="2 numbers for 3"):
        stochastic(network, batch, best[:2], rates=[0.1])
