from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.probes.derivatives import product
from foresee.scoring import score, scores

RANDOM = examples(15)


@pytest.mark.checks("plain", "l2_norm")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans())
def test_the_formulas(small, batch, seed, norm):
    network, (x, y) = small(seed, norm=norm), batch(5, seed)
    F.cross_entropy(network(x), y).backward()
    layers = [m.weight for m in network.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    plain = sum(w * g for p in layers for w, g in zip(p.flatten().tolist(), p.grad.flatten().tolist(), strict=True))
    lengths = sum(sum(w * w for w in p.flatten().tolist()) ** 0.5 for p in layers)
    network.zero_grad()
    found = scores(network, (x, y), ["plain", "l2_norm"])
    assert found["plain"].value == pytest.approx(plain, rel=1e-9, abs=1e-12)
    assert found["l2_norm"].value == pytest.approx(lengths, rel=1e-12)


def test_the_order_of_samples_does_not_matter(small, batch):
    x, y = batch()
    forward = score(small(), (x, y), "plain").value
    assert score(small(), (x.flip(0), y.flip(0)), "plain").value == pytest.approx(forward, rel=1e-9)


def test_a_convolution_before_batchnorm_carries_nothing(batch):
    torch.manual_seed(0)
    layers = [nn.Conv2d(2, 3, 3, bias=False), nn.BatchNorm2d(3, eps=1e-12), nn.Flatten(), nn.Linear(48, 5)]
    network = nn.Sequential(*layers).double()
    whole = score(network, batch(), "plain").value
    network[0].weight.requires_grad_(False)
    assert score(network, batch(), "plain").value == pytest.approx(whole, rel=1e-6)


def test_needs(small, batch):
    x, y = batch()
    assert "no labels" in score(small(), x, "plain").reason
    assert score(small(), x, "l2_norm").value == score(small(), (x, y), "l2_norm").value
    assert score(nn.ReLU(), x, "l2_norm").status == "unsupported"


def test_product_broadcasts():
    first, second = torch.randn(2, 3, 5), torch.randn(2, 3, 5)
    assert torch.allclose(product(first, second).float(), (first * second).sum(-1), atol=1e-6)
