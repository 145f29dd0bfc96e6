from __future__ import annotations

import copy
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.proxies.gradients.synflow import saliency
from foresee.scoring import score

RANDOM = examples(15)


def slow_synflow(network, shape, norm=False):
    positive = copy.deepcopy(network).double().train()
    for name, module in list(positive.named_children()):
        if isinstance(module, nn.BatchNorm2d) and not norm:
            setattr(positive, name, nn.Identity())
    for tensor in (*positive.parameters(), *positive.buffers()):
        tensor.data = tensor.data.abs()
    positive(torch.ones(1, *shape, dtype=torch.float64)).sum().backward()
    layers = [m for m in positive.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    return sum((m.weight * m.weight.grad).abs().sum().item() for m in layers)


@pytest.mark.checks("synflow", "synflow_bn")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans(), wide=st.booleans())
def test_the_formula(small, batch, seed, norm, wide):
    network = small(seed, norm=norm, dtype=torch.float64 if wide else torch.float32)
    found = score(network, batch(2, seed)[0], "synflow").value
    assert found == pytest.approx(slow_synflow(network, (2, 6, 6)), rel=1e-10)
    found = score(network, batch(2, seed)[0], "synflow_bn").value
    assert found == pytest.approx(slow_synflow(network, (2, 6, 6), norm=True), rel=1e-9)


def test_batchnorm_with_one_value_per_channel_has_no_statistics():
    network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    assert score(network, torch.zeros(2, 3), "synflow").ok
    assert "more than one value" in score(network, torch.zeros(2, 3), "synflow_bn").reason


def test_a_chain_of_linear_layers_passes_on_the_product():
    network = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    nn.init.constant_(network[0].weight, -3.0)
    nn.init.constant_(network[1].weight, 2.0)
    assert score(network, torch.zeros(1, 1), "synflow").value == 12.0  # |w dR/dw| = 6 for both
    assert score(network, torch.zeros(1, 1), "synflow:naslib").value == pytest.approx(math.log(12))


def test_the_data_does_not_matter_and_the_network_is_as_found(small, batch):
    network = small(dtype=torch.float32)
    before = copy.deepcopy(network.state_dict())
    first, second = (score(network, batch(2, seed)[0], "synflow").value for seed in (1, 2))
    assert first == second
    assert "forward" not in vars(network[1])
    for name, value in network.state_dict().items():
        assert value.dtype == before[name].dtype
        assert torch.equal(value, before[name])


def test_values_beyond_float32():
    network = nn.Sequential(*(nn.Linear(100, 100) for _ in range(12)))
    for layer in network:
        nn.init.constant_(layer.weight, 50.0)
    assert score(network, torch.zeros(1, 100), "synflow").value > 1e40


def test_whole_number_inputs_are_unsupported():
    found = score(nn.Sequential(nn.Embedding(3, 2), nn.Linear(2, 2)), torch.tensor([[1, 2]]), "synflow")
    assert found.status == "unsupported"


def test_saliency_broadcasts():
    weights, gradients = torch.randn(2, 3, 5), torch.randn(2, 3, 5)
    assert torch.allclose(saliency(weights, gradients).float(), (weights * gradients).abs().sum(-1))
