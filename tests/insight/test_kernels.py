"""Spectra of kernels, and the loss that they foretell against real gradient descent."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from foresee import score
from foresee.errors import InputError
from foresee.insight.kernels import KernelSpectrum, LossCurve, kernel_spectrum, loss_curve, predicted_losses
from foresee.insight.theory.papers_networks import tangent_network


def unit(samples: int, numbers: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return nn.functional.normalize(torch.randn(samples, numbers, generator=generator, dtype=torch.float64), dim=1)


def test_the_spectrum_has_the_numbers_of_the_proxies():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4))
    batch = torch.randn(5, 1, 6, 6), torch.tensor([0, 1, 2, 3, 0])
    found = kernel_spectrum(network, batch)
    assert found.m_trace == pytest.approx(score(network, batch, "m_trace").value, rel=1e-6)
    assert found.condition == pytest.approx(score(network, batch, "ntk_cond:hnas").value, rel=1e-4)
    assert found.trace == pytest.approx(sum(found.eigenvalues))
    assert 1 <= found.effective <= 5
    assert KernelSpectrum.from_json(found.to_json()) == found


def test_a_kernel_that_cannot_be_inverted_has_no_condition_number():
    same = torch.ones(3, 2)
    found = kernel_spectrum(nn.Linear(2, 1), same, outputs="sum")
    assert found.condition is None
    assert found.effective == pytest.approx(1.0)


def test_predicted_losses_are_those_of_the_recursion():
    torch.manual_seed(0)
    root = torch.randn(4, 6, dtype=torch.float64)
    kernel, residual = root @ root.mT, torch.randn(4, dtype=torch.float64)
    rate, off, expected = 0.05, residual, []
    for _ in range(5):
        expected.append(float(off.square().sum()) / 2)
        off = off - rate * kernel @ off
    assert predicted_losses(kernel, residual, rate, 4, 2).tolist() == pytest.approx(expected)


def test_a_linear_network_learns_exactly_as_foretold():
    x = unit(5, 7)
    found = loss_curve(nn.Linear(7, 2), (x, torch.tensor([0, 1, 1, 0, 1])), steps=20)
    assert found.measured == pytest.approx(found.predicted)
    assert found.drift == pytest.approx(0, abs=1e-12)
    assert LossCurve.from_json(found.to_json()) == found


def test_the_wider_the_network_the_nearer_the_curve():
    """Eq. 4 of NASI is of infinite width: what it foretells comes nearer as the width grows, and the kernel drifts less."""
    x, y = unit(6, 4), torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0, 0.0]).double()
    curves = [loss_curve(tangent_network(4, width=width), (x, y), steps=30) for width in (16, 64, 512)]
    assert curves[0].deviation > curves[2].deviation
    assert curves[0].drift > curves[1].drift > curves[2].drift
    assert curves[2].deviation < 0.1
    assert np.corrcoef(curves[2].measured, curves[2].predicted)[0, 1] > 0.999


def test_the_loss_falls_at_the_largest_rate_allowed():
    x, y = unit(6, 4), torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    found = loss_curve(tangent_network(4, width=256), (x, y), steps=20)
    assert all(later <= earlier for earlier, later in zip(found.predicted, found.predicted[1:], strict=False))
    assert found.measured[-1] < found.measured[0]


def test_what_cannot_be_trained_is_said():
    x, y = unit(2, 3), torch.tensor([0.0, 1.0])
    with pytest.raises(InputError, match="steps"):
        loss_curve(nn.Linear(3, 1), (x, y), steps=0)
    with pytest.raises(InputError, match="positive"):
        loss_curve(nn.Linear(3, 1), (x, y), rate=-1.0)
    with pytest.raises(InputError, match="kernel is zero"):
        loss_curve(nn.Linear(3, 1, bias=False), (0 * x, y))
