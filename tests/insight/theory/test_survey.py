"""All statements at once."""

from __future__ import annotations

import json

import pytest
import torch
from torch import nn

from foresee.insight import flat
from foresee.insight.theory.survey import Survey, on_own_networks, survey

#: what the papers print and does not hold, on their own networks
PRINTED_WRONG = {
    "Thesis, Theorem 7.2 and Corollary 7.2": {"D.36 (Jensen), as printed"},
    "SiGeo, Theorem 1": {"Eq. 8: E|g|^2 <= the variance, as printed"},
    "SiGeo, Theorem 2": {
        "F for H: theta^T H theta <= theta^T F theta",
        "bound as printed, with F: the loss at the minimum",
    },
    "SiGeo, Theorem 4": {"Lemma 7, as printed: Tr(F^-1)"},
    "Dextr, Lemma 1": {"Lemma 1: share of layers with sigma_max >= 1"},
    "Dextr, Theorems 3 and 4": {
        "Lemma 1 for H: lambda_max >= 1",
        "Section 3.3.2: lambda_max(H) = sigma_max(X)^2",
        "Theorem 4: 1 / lambda_min <= lambda_max / lambda_min",
    },
}


@pytest.mark.parametrize("seed", [0, 1])
def test_on_the_papers_networks_only_what_is_printed_wrong_fails(seed):
    found = on_own_networks(seed)
    assert len({one.name for one in found}) == 11
    for one in found:
        failing = {step.name for step in one.failing}
        assert failing <= PRINTED_WRONG.get(one.name, set()), one
    assert "D.36 (Jensen), as printed" in {step.name for one in found for step in one.failing}


def test_on_a_network_of_ones_own():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4))
    found = survey(network, (torch.randn(6, 1, 6, 6), torch.arange(6) % 4))
    assert [one.name for one in found.statements] == ["Thesis, Theorem 7.1", "NASI, Proposition 1", "Dextr, Lemma 1"]
    assert found.statements[0].holds
    assert not found.reasons
    assert Survey.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert "M_Grad <= beta M_Trace" in str(found)


def test_what_cannot_be_measured_says_why(monkeypatch):
    monkeypatch.setattr(flat, "MEMORY", 10)
    network = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
    found = survey(network, torch.randn(2, 1, 2, 2))
    assert "no labels" in found.reasons["Thesis, Theorem 7.1"]
    assert [one.name for one in found.statements] == ["Dextr, Lemma 1"]
    assert "not measured" in str(found)
