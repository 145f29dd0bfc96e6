"""NASI's Proposition 2, and the thesis' Lemma D.9 without the number of layers."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.errors import InputError
from foresee.insight.theory.data_agnostic import data_agnostic, distance
from foresee.insight.theory.papers_networks import tangent_network


def unit(samples: int, numbers: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return nn.functional.normalize(torch.randn(samples, numbers, generator=generator), dim=1)


@pytest.mark.parametrize("activation", [nn.ReLU, nn.Tanh])
def test_it_holds_for_activations_that_shrink(activation):
    network = tangent_network(6, width=128, activation=activation)
    found = data_agnostic(network, unit(6, 6), unit(6, 6, seed=1), layers=3)
    assert found.holds
    assert found.applies
    assert found.constants["Z"] == pytest.approx(2.0)


def test_the_lemma_of_the_thesis_is_too_tight_for_deep_networks():
    """A linear network has L |x|^2 / n0 a sample: of five layers 5 / 4 against a bound of 2 / 4."""
    network = tangent_network(4, width=400, layers=5, activation=nn.Identity)
    x = unit(8, 4)
    found = data_agnostic(network, x, torch.zeros_like(x), layers=5)
    assert found.constants["first trace"] == pytest.approx(5 / 4, rel=0.25)
    assert found.constants["second trace"] == 0
    assert [step.name for step in found.failing] == ["Thesis, Lemma D.9: difference <= Z / n0"]


def test_the_factor_of_other_activations():
    found = data_agnostic(tangent_network(4, width=32), unit(3, 4), unit(3, 4, seed=1), layers=3, lipschitz=0.5)
    assert found.constants["D"] == pytest.approx(1 + 0.25 + 0.0625)


def test_the_distance_of_two_samples():
    a = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert distance(a, a.flip(0)) == 0.0
    assert distance(a, a + 5) == pytest.approx(2.0)
    assert distance(a, a[:1]) == pytest.approx(1.0)


def test_what_cannot_be_compared():
    with pytest.raises(InputError, match="one network"):
        data_agnostic(tangent_network(4), unit(2, 4), unit(2, 5), layers=3)
    with pytest.raises(InputError, match="lipschitz"):
        data_agnostic(tangent_network(4), unit(2, 4), unit(2, 4), layers=3, lipschitz=0.0)
