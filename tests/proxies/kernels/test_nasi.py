from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.proxies.kernels.nasi import constrained, squared_length
from foresee.scoring import score, scores

GAMMA = math.sqrt(2)  # no gradient of cross-entropy by its logits is longer


def slow(network, inputs, labels) -> tuple[float, float]:
    """||mean gradient||^2 and the sum of ||gradient||^2, one backward run per sample."""
    outputs = network.train()(inputs)
    gradients = []
    for i in range(len(inputs)):
        loss = F.cross_entropy(outputs[i : i + 1], labels[i : i + 1])
        found = torch.autograd.grad(loss, list(network.parameters()), retain_graph=True)
        gradients.append(torch.cat([part.flatten() for part in found]))
    rows = torch.stack(gradients)
    return float(rows.mean(0).square().sum()), float(rows.square().sum())


@pytest.mark.checks("nasi", "nasi_sum")
@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_against_one_backward_run_per_sample(small, batch, norm, seed):
    network, (inputs, labels) = small(seed, norm=norm), batch(6, seed)
    mean, total = slow(network, inputs, labels)
    found = scores(network, (inputs, labels), ["nasi", "nasi_sum"])
    assert found["nasi"].value == pytest.approx(mean, rel=1e-10)
    assert found["nasi_sum"].value == pytest.approx(total, rel=1e-10)


@examples(15)
@given(
    seed=st.integers(0, 999), norm=st.sampled_from([nn.BatchNorm1d, nn.LayerNorm, nn.Identity]), width=st.integers(1, 6)
)
def test_equation_11_is_a_chain_of_bounds(seed, norm, width):
    """||Theta||_tr >= gamma^-2 sum ||grad L_x||^2 >= b gamma^-2 ||mean of grad L_x||^2."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = nn.Sequential(nn.Linear(3, width), norm(width), nn.ReLU(), nn.Linear(width, 4)).double()
        batch = torch.randn(5, 3, dtype=torch.float64), torch.randint(4, (5,))
    own = {"nasi_sum": {"gamma": GAMMA}, "nasi": {"gamma": GAMMA, "m": 5}}
    found = {name: one.value for name, one in scores(network, batch, ["ntk_trace", *own], settings=own).items()}
    assert found["ntk_trace"] * (1 + 1e-9) >= found["nasi_sum"] >= found["nasi"] * (1 - 1e-9)


def test_the_constraint():
    values = torch.tensor([[1.0, 5.0], [2.0, 9.0]])
    assert constrained(values, 2.0, 4.0).tolist() == [[1.0, 3.0], [2.0, -1.0]]
    assert constrained(values, torch.tensor([[0.0], [1.0]]), torch.tensor([1.0, 4.0])).tolist() == [
        [1.0, 5.0],
        [1.0, 4.0],
    ]


def test_the_constraint_as_a_setting(small, batch):
    network, given = small(), batch(6)
    free = score(network, given, "nasi").value
    assert score(network, given, "nasi", settings={"nu": 2 * free}).value == free
    held = score(network, given, "nasi", settings={"nu": free / 2, "mu": 3.0})
    assert held.value == pytest.approx(free - 3 * free / 2, rel=1e-12)
    assert held.parts["squared_gradient_norm"] == free
    scaled = score(network, given, "nasi", settings={"m": 100, "gamma": 2.0}).value
    assert scaled == pytest.approx(25 * free, rel=1e-12)
    halved = score(network, given, "nasi_sum", settings={"gamma": 2.0}).value
    assert halved == pytest.approx(score(network, given, "nasi_sum").value / 4, rel=1e-12)


def test_labels_are_needed(small, batch):
    found = scores(small(), batch(4)[0], ["nasi", "nasi_sum"])
    assert {one.status for one in found.values()} == {"unsupported"}
    assert all("no labels" in one.reason for one in found.values())


@pytest.mark.parametrize("labels", [torch.rand(6, 5), (torch.rand(6, 5) > 0.5).double()])
def test_other_losses(small, batch, labels):
    found = scores(small(), (batch(6)[0], labels), ["nasi", "nasi_sum"])
    assert found["nasi_sum"].value >= 6 * found["nasi"].value > 0


def test_squared_length_broadcasts():
    parts = [torch.rand(2, 3), torch.rand(2, 4)]
    assert torch.allclose(squared_length(parts), torch.cat(parts, 1).double().square().sum(1))


def test_no_trainable_parameter_is_a_reason(small, batch):
    found = scores(small().requires_grad_(False), batch(4), ["nasi", "nasi_sum"])
    assert {one.status for one in found.values()} == {"unsupported"}
