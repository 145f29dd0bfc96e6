"""NASI's Proposition 1."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from foresee.insight.theory.papers_networks import tangent_network
from foresee.insight.theory.training_bound import training_bound


def batch(samples: int = 6):
    torch.manual_seed(0)
    return nn.functional.normalize(torch.randn(samples, 4), dim=1), torch.arange(samples) % 2


@pytest.mark.parametrize("width", [8, 64])
@pytest.mark.parametrize("activation", [nn.ReLU, nn.Tanh])
def test_every_step_holds(width, activation):
    found = training_bound(tangent_network(4, width=width, outputs=2, activation=activation), batch(), steps=20)
    assert found.holds
    assert found.applies
    assert found.constants["loss"] < found.constants["bound"]


def test_it_holds_on_a_network_that_is_no_papers():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.GELU(), nn.Linear(6, 2))
    assert training_bound(network, batch(), steps=5).holds


def test_the_closed_form_is_of_the_residual():
    """Eq. 4 has the labels themselves: equal to ours only from outputs of 0."""
    network = tangent_network(4, width=16, outputs=2)
    found = training_bound(network, batch(), steps=3).constants
    assert found["loss by Eq. 4"] != pytest.approx(found["loss by Eq. 4 from outputs of 0"], rel=1e-3)
    with torch.no_grad():
        network[-1].weight.zero_()
    found = training_bound(network, batch(), steps=3).constants
    assert found["loss by Eq. 4"] == pytest.approx(found["loss by Eq. 4 from outputs of 0"])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8), st.floats(0.0, 3.0))
def test_eq_24_and_25(shares, t):
    a = 1 - torch.tensor(shares, dtype=torch.float64)
    power = 2 * t if t < 0.5 else 1.0
    assert (a ** (2 * t)).sum() <= len(a) * a.mean() ** power + 1e-9
