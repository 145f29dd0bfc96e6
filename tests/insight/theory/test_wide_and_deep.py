"""Theorem 7.4: kernels of wide and deep linear networks."""

from __future__ import annotations

import pytest
import torch

from foresee.errors import InputError
from foresee.insight.flat import Flat
from foresee.insight.theory.papers_networks import Deep, Wide
from foresee.insight.theory.wide_and_deep import deep_kernel, wide_and_deep, wide_kernel


def orthonormal(width: int, samples: int) -> torch.Tensor:
    torch.manual_seed(0)
    return torch.linalg.qr(torch.randn(width, samples, dtype=torch.float64)).Q


@pytest.mark.parametrize(("width", "layers", "samples"), [(3, 1, 2), (4, 3, 4), (5, 2, 1)])
def test_the_closed_forms_are_the_kernels_of_the_networks(width, layers, samples):
    x = orthonormal(width, samples)
    weights = torch.randn(layers, width, width, dtype=torch.float64)
    batch = x.mT.contiguous(), torch.zeros(samples)
    assert torch.allclose(Flat(Wide(weights), batch).kernel(), wide_kernel(x, layers))
    assert torch.allclose(Flat(Deep(weights), batch).kernel(), deep_kernel(weights, x))


@pytest.mark.parametrize(("width", "layers"), [(2, 2), (3, 3), (5, 2)])
def test_the_theorem(width, layers):
    found = wide_and_deep(width, layers, 2, draws=4000, seed=1)
    assert found.holds
    assert found.applies
    assert found.constants["wide: condition number"] == pytest.approx(1.0)
    assert found.constants["deep: median condition number"] > 1.2
    # M_Trace of the deep one is larger by the root of n^(L - 1)
    expected = width ** ((layers - 1) / 2)
    assert found.constants["deep: M_Trace over wide: M_Trace"] == pytest.approx(expected, rel=0.2)


def test_one_layer_is_wide_and_deep_at_once():
    x = orthonormal(4, 3)
    weights = torch.randn(7, 1, 4, 4, dtype=torch.float64)
    assert torch.allclose(deep_kernel(weights, x), wide_kernel(x, 1).expand(7, 3, 3))


def test_samples_of_mean_zero_cannot_be_orthonormal():
    """What the theorem asks for besides: their products with the vector of ones would be 0 and 1 at once."""
    x = orthonormal(4, 3)
    centred = x - x.mean(1, keepdim=True)
    assert not torch.allclose(centred.mT @ centred, torch.eye(3).double(), atol=0.1)
    assert torch.linalg.eigvalsh(centred.mT @ centred)[0] == pytest.approx(0, abs=1e-12)


def test_more_samples_than_numbers_are_refused():
    with pytest.raises(InputError, match="orthonormal"):
        wide_and_deep(2, 2, 3)
