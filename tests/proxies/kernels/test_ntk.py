from __future__ import annotations

import math

import pytest
import torch
from tests.golden.networks import NETWORKS
from tests.golden.values import VALUES, load
from torch import nn

from foresee.proxies import get
from foresee.proxies.base import proxies
from foresee.proxies.kernels.ntk import trace_norm
from foresee.scoring import score, scores


@pytest.mark.parametrize("name", NETWORKS)
def test_float32_networks_have_the_condition_number_of_float64(name):
    golden = load(name, torch.float32)
    for samples in (8, 16):
        exact = VALUES[name][f"te_ntk_cond_b{samples}"]["float64"]
        assert golden.compute("ntk_cond", golden.inputs[:samples]) == pytest.approx(exact, rel=1e-5)


def slow_rows(network, inputs, outputs, keep) -> torch.Tensor:
    chosen = [p for n, p in network.named_parameters() if keep(n)]
    rows = []
    for i in range(len(inputs)):
        for target in outputs(network.train()(inputs), i):
            found = torch.autograd.grad(target, chosen, allow_unused=True, retain_graph=True)
            rows.append(torch.cat([g.flatten() for g in found]))
    return torch.stack(rows)


def slow_condition(rows) -> float:
    values = torch.linalg.svdvals(rows).square()
    return float(values[0] / values[-1])


@pytest.mark.checks("ntk_cond", "ntk_trace")
@pytest.mark.parametrize("norm", [True, False])
def test_the_three_kernels(small, batch, norm):
    network, (inputs, labels) = small(norm=norm), batch(5)
    weights = slow_rows(network, inputs, lambda y, i: [y[i].sum()], lambda n: "weight" in n)
    layers = slow_rows(network, inputs, lambda y, i: [y[i, labels[i]]], lambda n: not n.startswith("1."))
    everything = slow_rows(network, inputs, lambda y, i: list(y[i]), lambda n: True)
    names = ["ntk_cond", "ntk_cond:tenas", "ntk_cond:hnas", "ntk_cond:full", "ntk_trace"]
    found = scores(network, (inputs, labels), names)
    assert found["ntk_cond"].value == pytest.approx(slow_condition(weights), rel=1e-7)
    assert found["ntk_cond:tenas"].value == found["ntk_cond"].value
    assert found["ntk_cond:hnas"].value == pytest.approx(slow_condition(layers), rel=1e-7)
    assert found["ntk_cond:full"].value == pytest.approx(slow_condition(everything), rel=1e-5)
    assert found["ntk_trace"].value == pytest.approx(float(everything.square().sum()), rel=1e-10)
    mean = score(network, inputs, "ntk_trace", settings={"normalise": True})
    assert mean.value == pytest.approx(found["ntk_trace"].value / 25, rel=1e-12)
    parts = found["ntk_cond"].parts
    assert found["ntk_cond"].value == pytest.approx(parts["lambda_max"] / parts["lambda_min"])


def test_less_is_better_for_the_condition_number():
    assert proxies["ntk_cond"].direction == "lower"
    assert proxies["ntk_trace"].direction == "higher"


def test_order_of_samples_and_asking_again(small, batch):
    network, (inputs, labels) = small(), batch(5)
    order = torch.tensor([4, 2, 0, 1, 3])
    for name in ("ntk_cond", "ntk_cond:hnas", "ntk_trace"):
        value = score(network, (inputs, labels), name).value
        assert score(network, (inputs, labels), name).value == value
        assert score(network, (inputs[order], labels[order]), name).value == pytest.approx(value, rel=1e-8)


def test_same_samples_make_the_kernel_singular(small, batch):
    network, (inputs, labels) = small(), batch(4)
    twice = torch.cat([inputs, inputs[:1]]), torch.cat([labels, labels[:1]])
    for name in ("ntk_cond", "ntk_cond:hnas"):
        for given in (network, small(dtype=torch.float32)):
            found = score(given, twice, name)
            assert found.status == "rank_deficient"
            assert "5x5 kernel" in found.reason
    thin = score(nn.Linear(2, 1), torch.randn(6, 2), "ntk_cond")
    assert thin.status == "rank_deficient"


def test_infinite_gradients_are_a_status(small, batch):
    network = small()
    with torch.no_grad():
        network[-1].weight.fill_(float("inf"))
    assert score(network, batch(3), "ntk_cond").status == "nan"
    assert score(network, batch(3), "ntk_trace").status == "nan"


def test_the_class_of_a_sample_needs_labels(small, batch):
    found = score(small(), batch(4)[0], "ntk_cond:hnas")
    assert found.status == "unsupported"
    assert "no labels" in found.reason
    assert score(small(), batch(4)[0], "ntk_cond").ok


def test_estimates(small, batch):
    network, inputs = small(), batch(5)[0]
    exact = score(network, inputs, "ntk_trace").value
    found = score(network, inputs, "ntk_trace", settings={"method": "stochastic", "probes": 300}, repeats=2)
    assert abs(found.value - exact) < 5 * found.parts["deviation"]
    assert found.spread > 0
    settings = {"method": "stochastic", "probes": 4, "normalise": True}
    assert 0 < score(network, inputs, "ntk_trace", settings=settings).value < exact
    condition = score(network, inputs, "ntk_cond").value
    rough = score(network, inputs, "ntk_cond", settings={"method": "stochastic", "buckets": 50_000}).value
    assert rough == pytest.approx(condition, rel=0.5)


def test_initialisation_is_a_setting(small, batch):
    network, given = small(), batch(4)
    values = {
        scheme: score(network, given, "ntk_trace", initialise=scheme).value for scheme in ("default", "he", "normal")
    }
    assert len(set(values.values())) == 3


def test_the_trace_norm_broadcasts():
    norms = torch.rand(2, 3, 4)
    assert torch.allclose(trace_norm(norms), norms.double().reshape(2, -1).sum(1))


def test_a_single_sample_has_condition_one():
    assert math.isclose(score(nn.Linear(3, 2), torch.randn(1, 3), "ntk_cond").value, 1.0)


def test_settings_are_checked(small, batch):
    with pytest.raises(ValueError, match="unknown method of a kernel"):
        score(small(), batch(3), get("ntk_cond", {"method": "guess"}))
