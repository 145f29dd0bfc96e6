from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from foresee.errors import InputError, UnsupportedError
from foresee.probes.probe import Probe


def test_gradients_and_jacobian_are_those_of_backward(small, batch):
    network, (x, y) = small(norm=False), batch()
    x.requires_grad_()
    F.cross_entropy(network(x), y).backward()
    expected = {name: p.grad.clone() for name, p in network.named_parameters()}
    x.grad = None
    network(x).sum().backward()
    network.zero_grad()
    probe = Probe(network, (x.detach(), y), looks=("batch.gradients", "batch.jacobian"))
    assert torch.allclose(probe.batch.jacobian, x.grad)
    assert probe.batch.gradients.keys() == expected.keys()
    for name, gradient in probe.batch.gradients.items():
        assert torch.allclose(gradient, expected[name])
    assert float(probe.batch.loss) == pytest.approx(F.cross_entropy(network(x), y).item())
    assert torch.allclose(probe.batch.outputs, network(x))


def test_networks_without_anything_to_differentiate(batch):
    probe = Probe(nn.Sequential(nn.Flatten(), nn.ReLU()), batch(2))
    assert probe.batch.gradients == {}
    assert probe.batch.jacobian.shape == (2, 2, 6, 6)

    class Detached(nn.Linear):
        def forward(self, x):
            return super().forward(x.flatten(1)).detach()

    probe = Probe(Detached(72, 5).double(), batch(2))
    with pytest.raises(UnsupportedError, match="differentiable"):
        _ = probe.batch.gradients
    with pytest.raises(UnsupportedError, match="differentiable"):
        _ = probe.batch.jacobian


def test_frozen_and_unused_parameters_have_no_gradient(batch):
    network = nn.ModuleDict({"used": nn.Linear(72, 5), "frozen": nn.Linear(5, 5), "unused": nn.Linear(5, 5)}).double()
    network["frozen"].requires_grad_(False)
    network.forward = lambda x: network["frozen"](network["used"](x.flatten(1)))
    assert sorted(Probe(network, batch()).batch.gradients) == ["used.bias", "used.weight"]


def test_a_loss_must_be_one_number(small, batch):
    with pytest.raises(InputError, match="one number"):
        _ = Probe(small(), batch(), loss=lambda outputs, labels: outputs).batch.loss
