"""Dextr's Theorems 3 and 4 on the network that they start from."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.errors import InputError
from foresee.insight.flat import Flat
from foresee.insight.theory.feature_bounds import feature_bounds, limit_gram
from foresee.insight.theory.papers_networks import TwoLayers


def data(samples: int = 4, numbers: int = 6):
    torch.manual_seed(0)
    x = nn.functional.normalize(torch.randn(samples, numbers), dim=1)
    return x, torch.tensor([1.0, -1.0] * samples)[:samples]


def test_the_limit_is_that_of_wide_networks():
    x, y = data()
    found = Flat(TwoLayers(6, 20000), (x, y)).kernel()
    assert torch.allclose(found, limit_gram(x), atol=0.02)


def test_a_wide_network_converges_as_theorem_1_says():
    found = feature_bounds(*data(), width=1500, time=2.0)
    assert found.applies
    assert found.step("Theorem 1").holds
    assert found.step("Theorem 4: y^T").holds
    assert found.constants["error left"] < 1


def test_short_samples_have_no_eigenvalue_of_one():
    """Lemma 1 is taken over to H, which does not have it: of samples of length 1/2 the largest eigenvalue is below 1."""
    x, y = data()
    found = feature_bounds(x / 2, y, width=500, time=1.0)
    assert not found.step("Lemma 1").holds
    assert not found.step("Theorem 4: 1 /").holds
    assert not found.step("Section 3.3.2").holds


def test_the_test_loss_is_a_number_beside_the_bound():
    x, y = data(6)
    found = feature_bounds(x[:4], y[:4], width=300, time=1.0, test=(x[4:], y[4:]))
    assert found.constants["test loss"] >= 0
    assert "hides constants" in found.notes[0]


def test_what_is_refused():
    x, y = data()
    with pytest.raises(InputError, match="expected"):
        feature_bounds(x, y[:2])
    with pytest.raises(InputError, match="parallel"):
        feature_bounds(torch.cat([x[:1], x[:1]]), y[:2])
