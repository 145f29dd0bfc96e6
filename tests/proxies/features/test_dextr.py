from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.errors import UnknownNameError, UnsupportedError
from foresee.probes.draws import Draws
from foresee.proxies import Probe, get
from foresee.proxies.features.dextr import half_harmonic_mean, output_curvature
from foresee.scoring import score

RANDOM = examples(15)


def slow_dextr(network, sample, plane, theta):
    """Equation 8, step by step: hooks and numpy for the layers, autograd twice for every output for the curve."""
    total, handles = 0.0, []

    def add(module, args, output):
        nonlocal total
        values = np.linalg.svd(output[0].detach().numpy().reshape(output.shape[1], -1), compute_uv=False)
        total += values[-1] / values[0] if values[0] > 0 else 0.0

    handles += [m.register_forward_hook(add) for m in network.modules() if not list(m.children())]
    network.train()(sample)
    for handle in handles:
        handle.remove()
    t = torch.tensor(theta, dtype=torch.float64, requires_grad=True)
    curve = math.sqrt(sample.numel()) * (plane[:, 0] * t.cos() + plane[:, 1] * t.sin())
    outputs = network(curve.view_as(sample)).flatten()
    v = torch.stack([torch.autograd.grad(y, t, create_graph=True)[0] for y in outputs])
    a = torch.stack([torch.autograd.grad(w, t, retain_graph=True)[0] for w in v])
    vv, aa, va = (v @ v).item(), (a @ a).item(), (v @ a).item()
    kappa = vv**-1.5 * math.sqrt(vv * aa - va**2)
    a, b = math.log(1 + total), math.log(1 + kappa)
    return a * b / (a + b)


@pytest.mark.checks("dextr")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans(), channels=st.integers(1, 4))
def test_the_formula(small, batch, seed, norm, channels):
    network, (x, _) = small(seed, norm=norm, channels=channels), batch(3, seed)
    draws = Draws(seed)
    plane, theta = draws.plane("plane.72", 72), 2 * math.pi * float(draws.uniform("angle"))
    expected = slow_dextr(network, x[:1], plane, theta)
    assert score(network, x, "dextr", seed=seed).value == pytest.approx(expected, rel=1e-9)


def test_parts_come_with_the_score(small, batch):
    found = score(small(), batch()[0], "dextr")
    a, b = (math.log1p(found.parts[name]) for name in ("independence", "curvature"))
    assert found.value == pytest.approx(a * b / (a + b))


def test_only_the_first_sample_counts(small, batch):
    x, _ = batch(5)
    assert score(small(), x, "dextr").value == score(small(), x[:1], "dextr").value


def test_float32_networks_are_looked_at_in_float64(small, batch):
    x, _ = batch(1, dtype=torch.float32)
    network = small(dtype=torch.float32)
    assert score(network, x, "dextr").value == score(network.double(), x.double(), "dextr").value


def test_draws_differ_by_seed_and_repeat_but_not_by_network(small, batch):
    x, _ = batch(1)
    assert score(small(), x, "dextr", seed=1).value != score(small(), x, "dextr", seed=2).value
    averaged = score(small(), x, "dextr", seed=1, repeats=4)
    assert averaged.spread > 0
    assert averaged.value != score(small(), x, "dextr", seed=1).value


def test_rank_deficient_maps_add_nothing():
    constant = nn.Sequential(nn.Conv2d(1, 2, 1), nn.Tanh(), nn.Flatten(), nn.Linear(18, 2)).double()
    with torch.no_grad():
        constant[0].weight[1], constant[0].bias[1] = constant[0].weight[0], constant[0].bias[0]
    x = torch.randn(1, 1, 3, 3, dtype=torch.float64)
    assert score(constant, x, "dextr").parts["independence"] == pytest.approx(2.0)  # the two vectors
    dead = nn.Sequential(nn.Conv2d(1, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(18, 2)).double()
    with torch.no_grad():
        dead[0].weight.zero_()
        dead[0].bias.fill_(-1)
    found = score(dead, x, "dextr")
    assert (found.status, found.value) == ("nan", None)
    assert "do not move" in found.reason


def test_networks_without_feature_maps_are_unsupported():
    found = score(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), torch.randn(1, 4), "dextr")
    assert found.status == "unsupported"
    assert "no feature maps" in found.reason


def test_inputs_that_have_no_circle():
    table = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 2))
    assert "one floating tensor" in score(table, torch.tensor([[1, 2]]), "dextr").reason
    with pytest.raises(UnsupportedError, match="single number"):
        output_curvature(Probe(nn.Linear(1, 2), torch.zeros(1, 1)))


def test_settings_are_checked(small, batch):
    with pytest.raises(UnknownNameError, match="radius"):
        get("dextr", {"radiuss": 1})
    with pytest.raises(UnknownNameError, match="reference_nb201"):
        get("dextr:reference_nb")


def test_half_harmonic_mean_broadcasts():
    first, second = torch.rand(3, 4) + 1, torch.rand(3, 4) + 1
    assert torch.allclose(half_harmonic_mean(first, second), 1 / (1 / first + 1 / second))
