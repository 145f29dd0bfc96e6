"""SiGeo's Theorem 4: what its lemma says of the inverse Fisher information."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from foresee.errors import InputError, UnsupportedError
from foresee.insight.theory import fisher
from foresee.insight.theory.fisher import fisher_information, inverse_trace


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 50.0), min_size=1, max_size=6))
def test_what_holds_holds_always_and_the_lemma_does_not(eigenvalues):
    found = inverse_trace(torch.diag(torch.tensor(eigenvalues, dtype=torch.float64)))
    assert found.step("what holds").holds
    assert found.step("and:").holds
    if min(eigenvalues) >= 1:
        assert found.step("Lemma 7").holds  # above 1 it does


def test_the_lemma_fails_below_one():
    for scale in (0.01, 0.5, 0.99):
        found = inverse_trace(scale * torch.eye(4))
        assert [step.name for step in found.failing] == ["Lemma 7, as printed: Tr(F^-1)"]
    assert inverse_trace(torch.eye(4)).holds


def test_of_a_network():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2))
    batch = torch.randn(64, 2), torch.randint(2, (64,))
    matrix = fisher_information(network, batch)
    assert matrix.shape == (12, 12)
    assert torch.allclose(matrix, matrix.mT)
    found = inverse_trace(matrix + 1e-3 * torch.eye(12), torch.randn(5, 12))
    assert found.step("Eq. 18").holds
    assert not found.step("Lemma 7").holds  # as with most networks: eigenvalues are far below 1
    with pytest.raises(InputError, match="positive definite"):
        inverse_trace(fisher_information(network, (batch[0][:3], batch[1][:3])))


def test_what_is_refused(monkeypatch):
    with pytest.raises(InputError, match="square"):
        inverse_trace(torch.ones(2, 3))
    monkeypatch.setattr(fisher, "MOST", 3)
    with pytest.raises(UnsupportedError, match="at most 3"):
        fisher_information(nn.Linear(3, 1), (torch.randn(2, 3), torch.randn(2)))
