from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.scoring import score, scores

RANDOM = examples(15)


@pytest.mark.checks("snip", "grad_norm")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans())
def test_the_formulas(small, batch, seed, norm):
    network, (x, y) = small(seed, norm=norm), batch(5, seed)
    F.cross_entropy(network(x), y).backward()
    layers = [m.weight for m in network.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    snip = sum(abs(w * g) for p in layers for w, g in zip(p.flatten().tolist(), p.grad.flatten().tolist(), strict=True))
    norm_sum = sum(sum(g * g for g in p.grad.flatten().tolist()) ** 0.5 for p in layers)
    network.zero_grad()
    found = scores(network, (x, y), ["snip", "grad_norm"])
    assert found["snip"].value == pytest.approx(snip, rel=1e-9)
    assert found["grad_norm"].value == pytest.approx(norm_sum, rel=1e-9)


@pytest.mark.parametrize("proxy", ["snip", "grad_norm"])
def test_the_order_of_samples_does_not_matter(small, batch, proxy):
    x, y = batch()
    forward = score(small(), (x, y), proxy).value
    assert score(small(), (x.flip(0), y.flip(0)), proxy).value == pytest.approx(forward, rel=1e-9)


@pytest.mark.parametrize("proxy", ["snip", "grad_norm", "zico"])
def test_no_labels_is_unsupported(small, batch, proxy):
    found = score(small(), batch()[0], proxy)
    assert found.status == "unsupported"
    assert "no labels" in found.reason


def test_frozen_layers_count_nothing(small, batch):
    network = small()
    whole = score(network, batch(), "snip").value
    network[0].requires_grad_(False)
    assert score(network, batch(), "snip").value < whole
    network.requires_grad_(False)
    assert score(network, batch(), "snip").status == "unsupported"


@pytest.mark.parametrize(
    ("outputs", "labels", "loss"),
    [
        (1, torch.tensor([0.0, 1.0, 1.0, 0.0]), F.binary_cross_entropy_with_logits),
        (3, torch.tensor([[0.0, 1, 1]] * 4), F.binary_cross_entropy_with_logits),
        (1, torch.tensor([0.3, -1.0, 2.0, 4.0]), F.mse_loss),
    ],
)
def test_other_losses(outputs, labels, loss):
    network, x = nn.Linear(6, outputs), torch.randn(4, 6)
    (gradient,) = torch.autograd.grad(loss(network(x), labels.view(4, -1)), [network.weight])
    assert score(network, (x, labels), "grad_norm").value == pytest.approx(float(gradient.norm()), rel=1e-5)


def test_the_loss_can_be_given(small, batch):
    network, (x, y) = small(norm=False), batch()
    own = score(network, (x, y), "snip", loss=lambda outputs, labels: 2 * F.cross_entropy(outputs, labels)).value
    assert own == pytest.approx(2 * score(network, (x, y), "snip").value)
