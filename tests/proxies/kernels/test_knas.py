from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from foresee.errors import InputError
from foresee.proxies.kernels.knas import agreement
from foresee.scoring import score


@pytest.mark.checks("knas")
@pytest.mark.parametrize("norm", [True, False])
def test_against_plain_loops(small, batch, norm):
    network, (inputs, labels) = small(norm=norm), batch(12)
    rows = []
    for i in range(6):
        part = slice(2 * i, 2 * i + 2)
        loss = F.cross_entropy(network.train()(inputs[part]), labels[part])
        large = [p for p in network.parameters() if p.numel() >= 9][:3]
        found = torch.autograd.grad(loss, large)
        rows.append(torch.cat([g.flatten()[:9] for g in found]))
    expected = 0.0
    for column in torch.stack(rows).T:
        early, late = column[:3] - column[:3].mean(), column[3:] - column[3:].mean()
        expected += float(early @ late) / 36
    own = {"batches": 6, "entries": 9, "parameters": 3}
    assert score(network, (inputs, labels), "knas", settings=own).value == pytest.approx(expected, rel=1e-10)


def test_too_few_samples_or_entries(small, batch):
    found = score(small(), batch(12), "knas")
    assert found.status == "unsupported"
    assert "50 batches are needed" in found.reason
    tiny = score(nn.Linear(2, 2), (torch.randn(50, 2), torch.arange(50) % 2), "knas")
    assert "has 50 entries" in tiny.reason
    with pytest.raises(InputError, match="even"):
        score(small(), batch(12), "knas", settings={"batches": 5})


def test_labels_are_needed(small, batch):
    assert "no labels" in score(small(), batch(50)[0], "knas").reason


def test_agreement_broadcasts():
    gradients = torch.randn(3, 8, 5)
    assert torch.allclose(agreement(gradients), torch.stack([agreement(one) for one in gradients]))
    assert float(agreement(torch.ones(4, 2))) == 0.0
