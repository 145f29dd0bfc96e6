"""A network as a function of one vector."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.errors import InputError, UnsupportedError
from foresee.insight import flat as module
from foresee.insight.flat import Flat, product_with_hessian
from foresee.probes.kernel import ntk
from foresee.probes.probe import Probe


def net(norm: bool = False) -> nn.Module:
    torch.manual_seed(0)
    middle = nn.BatchNorm1d(6) if norm else nn.Identity()
    return nn.Sequential(nn.Linear(3, 6), middle, nn.Tanh(), nn.Linear(6, 2)).double()


def batch(samples: int = 4):
    torch.manual_seed(1)
    return torch.randn(samples, 3).double(), torch.arange(samples) % 2


@pytest.mark.parametrize("norm", [False, True])
def test_the_kernel_is_the_probes_own(norm):
    network = net(norm)
    expected = ntk(Probe(network, batch()), outputs="all", parameters="all").matrix
    assert torch.allclose(Flat(network, batch()).kernel(), expected)


def test_outputs_are_the_networks_and_it_is_left_as_it_is():
    network = net(norm=True)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    flat = Flat(network, batch())
    found = flat.outputs(flat.weights)
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    assert torch.allclose(found, network.train()(batch()[0]))
    assert flat.size == sum(one.numel() for one in network.parameters())


def test_frozen_parameters_are_no_part_of_the_vector():
    network = net()
    network[0].requires_grad_(False)
    assert Flat(network, batch()).size == 14
    with pytest.raises(UnsupportedError, match="no trainable"):
        Flat(network.requires_grad_(False), batch())


def test_targets_of_classes_and_of_numbers():
    assert torch.equal(Flat(net(), batch(2)).targets, torch.eye(2).double())
    numbers = torch.randn(3, 2)
    assert torch.allclose(Flat(net(), (torch.randn(3, 3), numbers)).targets, numbers.double())
    with pytest.raises(UnsupportedError, match="no labels"):
        _ = Flat(net(), torch.randn(3, 3)).targets
    with pytest.raises(InputError, match="do not fit"):
        _ = Flat(net(), (torch.randn(3, 3), torch.randn(3))).targets


def test_a_jacobian_that_has_no_room_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(module, "MEMORY", 100)
    with pytest.raises(UnsupportedError, match="fewer samples"):
        Flat(net(), batch()).jacobian()


def test_descent_is_what_plain_steps_do():
    network = net()
    flat = Flat(network, batch())
    for _ in range(3):
        loss = (network(batch()[0]) - flat.targets).square().sum() / 2
        gradients = torch.autograd.grad(loss, list(network.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(network.parameters(), gradients, strict=True):
                parameter -= 0.05 * gradient
    *_, (weights, outputs) = flat.descent(0.05, 3)
    assert torch.allclose(weights, torch.cat([one.detach().flatten() for one in network.parameters()]))
    assert torch.allclose(outputs, network(batch()[0]))


def test_products_with_the_hessian():
    matrix = torch.tensor([[2.0, 1.0], [1.0, 5.0]], dtype=torch.float64)
    point, along = torch.randn(2, dtype=torch.float64), torch.randn(2, dtype=torch.float64)
    found = product_with_hessian(lambda w: w @ matrix @ w / 2, point, along)
    assert torch.allclose(found, matrix @ along)
