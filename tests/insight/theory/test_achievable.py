"""SiGeo's Theorem 2."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.errors import InputError
from foresee.insight.flat import Flat
from foresee.insight.theory.achievable import achievable


def least_squares():
    torch.manual_seed(0)
    x, y = torch.randn(12, 3).double(), torch.randn(12).double()
    return nn.Linear(3, 1, bias=False), (x, y), torch.linalg.lstsq(x, y[:, None]).solution.flatten()


@pytest.mark.parametrize("steps", [1, 10])
def test_the_expansion_is_exact_for_a_quadratic_loss(steps):
    network, batch, best = least_squares()
    found = achievable(network, batch, best, rate=0.1, steps=steps)
    for name in ("expansion", "Hoelder", "bound with H"):
        assert found.step(name).holds, name
    assert found.applies


def test_the_fisher_information_is_not_the_hessian():
    """Labels that can be met exactly have gradients of 0 at the minimum: F is 0 there, and the Hessian is not."""
    x = torch.eye(3).double()
    y = torch.tensor([1.0, -2.0, 0.5]).double()
    found = achievable(nn.Linear(3, 1, bias=False), (x, y), y, rate=0.2)
    assert found.constants["FR norm"] == pytest.approx(0, abs=1e-20)
    assert found.failing[0].name.startswith("F for H")


def test_near_a_minimum_of_a_curved_network_the_expansion_nearly_holds():
    """Labels are the network's own outputs, so its weights are a minimum; it starts a little beside them."""
    torch.manual_seed(0)
    network, x = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double(), torch.randn(8, 2).double()
    batch = x, network(x).detach().flatten()
    minimum = Flat(network, batch).weights
    with torch.no_grad():
        torch.nn.utils.vector_to_parameters(minimum + 1e-3 * torch.randn_like(minimum), network.parameters())
    found = achievable(network, batch, minimum, rate=0.01, steps=3)
    step = found.step("expansion")
    assert found.applies
    assert step.measured == pytest.approx(step.bound, rel=0.05)


def test_what_is_refused():
    network, batch, best = least_squares()
    with pytest.raises(InputError, match="rate"):
        achievable(network, batch, best, rate=0.0)
    with pytest.raises(InputError, match="numbers for 3"):
        achievable(network, batch, best[:1], rate=0.1)
