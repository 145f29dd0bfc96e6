"""Theorem 7.1: its inequalities hold on every network, with the constants of the proof."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee import score
from foresee.errors import UnsupportedError
from foresee.insight.flat import Flat
from foresee.insight.theory.connections import connections
from foresee.spaces.find import get
from foresee.task import Task

CELL = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|none~1|nor_conv_1x1~2|"


def small(activation: type[nn.Module] = nn.Tanh) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 5), activation(), nn.Linear(5, 2)).double()


def batch(samples: int = 4):
    torch.manual_seed(1)
    return torch.randn(samples, 3).double(), torch.arange(samples) % 2


def test_metrics_are_those_of_the_proxies():
    network = small()
    found = connections(network, batch())
    for name, proxy in (("M_Grad", "m_grad"), ("M_SNIP", "m_snip"), ("M_GraSP", "m_grasp")):
        assert found.step(name).measured == pytest.approx(score(network, batch(), proxy).value, rel=1e-6), name
    trace = score(network, batch(), "m_trace", settings={"outputs": "all", "parameters": "all"}).value
    assert found.constants["m_trace"] == pytest.approx(trace, rel=1e-6)


@pytest.mark.parametrize("loss", ["cross_entropy", "mse"])
@pytest.mark.parametrize("activation", [nn.Tanh, nn.ReLU, nn.Identity])
def test_they_hold_for_losses_and_activations(loss, activation):
    inputs, labels = batch()
    given = labels if loss == "cross_entropy" else nn.functional.one_hot(labels, 2).double()
    assert connections(small(activation), (inputs, given), loss=loss).holds


def test_they_hold_on_a_cell_of_a_benchmark_with_batch_norm():
    space = get("nasbench201", channels=2, cells=1)
    torch.manual_seed(0)
    network = space.build(space.parse(CELL), Task((3, 8, 8), 3))
    found = connections(network, (torch.randn(3, 3, 8, 8), torch.tensor([0, 1, 2])))
    assert found.holds
    assert found.constants["parameters"] == sum(one.numel() for one in network.parameters())


def test_the_bound_on_standard_normal_weights_is_a_condition():
    network = small()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn_like(parameter))
    assert connections(network, batch()).applies
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(10)
    found = connections(network, batch())
    assert found.holds
    assert not found.applies


def test_the_norm_of_a_hessian_is_bounded_as_in_d_8():
    """|H_i| <= gamma |grad f|^2 + beta |Hessian of f|: with one output and half the squared error, gamma is 1."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double()
    flat = Flat(network, (torch.randn(3, 2).double(), torch.tensor([0.0, 1.0, 0.5]).double()))
    rows, goal = flat.jacobian(), flat.targets
    for i in range(3):
        of_output = torch.autograd.functional.hessian(lambda w, i=i: flat.outputs(w)[i, 0], flat.weights)
        off = float(flat.outputs(flat.weights)[i, 0] - goal[i, 0])
        of_loss = torch.autograd.functional.hessian(
            lambda w, i=i: (flat.outputs(w)[i, 0] - goal[i, 0]) ** 2 / 2, flat.weights
        )
        bound = float(rows[i].square().sum()) + abs(off) * float(torch.linalg.matrix_norm(of_output, ord=2))
        assert float(torch.linalg.matrix_norm(of_loss, ord=2)) <= bound * (1 + 1e-9)


def test_labels_are_needed():
    with pytest.raises(UnsupportedError, match="no labels"):
        connections(small(), torch.randn(3, 3))
