from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.errors import InputError, UnknownNameError
from foresee.proxies import get, proxies
from foresee.proxies.kernels.hnas import SCENARIOS, bound_constants, hnas_score
from foresee.scoring import score, scores

METRICS = ["m_grad", "m_snip", "m_grasp", "m_trace", "m_knas"]


def slow(network, inputs, labels) -> dict[str, float]:
    """Each definition with one backward run per sample, and a whole Hessian per sample."""
    parameters = list(network.parameters())
    theta = torch.cat([p.detach().flatten() for p in parameters])
    outputs = network.train()(inputs)
    gradients, curved, rows = [], [], []
    own = {id(p) for m in network.modules() if isinstance(m, nn.Conv2d | nn.Linear) for p in m.parameters()}
    for i in range(len(inputs)):
        loss = F.cross_entropy(outputs[i : i + 1], labels[i : i + 1])
        found = torch.autograd.grad(loss, parameters, create_graph=True)
        gradient = torch.cat([part.flatten() for part in found])
        hessian = torch.stack(
            [
                torch.cat(
                    [
                        h.flatten()
                        for h in torch.autograd.grad(entry, parameters, retain_graph=True, materialize_grads=True)
                    ]
                )
                for entry in gradient
            ]
        )
        gradients.append(gradient.detach())
        curved.append(hessian @ gradient.detach())
        chosen = [p for p in parameters if id(p) in own]
        found = torch.autograd.grad(outputs[i, labels[i]], chosen, retain_graph=True)
        rows.append(torch.cat([part.flatten() for part in found]))
    mean, kernel = torch.stack(gradients).mean(0), torch.stack(rows) @ torch.stack(rows).T
    return {
        "m_grad": float(mean.norm()),
        "m_snip": float((theta @ mean).abs()),
        "m_grasp": float((torch.stack(curved) @ theta).mean().abs()),
        "m_trace": float((kernel.trace() / len(kernel)).sqrt()),
        "m_knas": float(kernel.mean().abs().sqrt()),
        "ntk_cond:hnas": float(torch.linalg.cond(kernel)),
    }


def smooth(norm: bool, seed: int = 0) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        layer = nn.BatchNorm2d(2) if norm else nn.GroupNorm(1, 2)
        network = nn.Sequential(nn.Conv2d(2, 2, 3), layer, nn.GELU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(8, 5))
        for parameter in network.parameters():
            nn.init.normal_(parameter, std=0.5)
        return network.double()


@pytest.mark.checks("m_grad", "m_snip", "m_grasp", "m_trace", "m_knas")
@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_definitions(batch, norm, seed):
    network, given = smooth(norm, seed), batch(4, seed)
    found = scores(network, given, [*METRICS, "ntk_cond:hnas"])
    for name, value in slow(network, *given).items():
        assert found[name].value == pytest.approx(value, rel=1e-8), name


def test_a_coupling_that_nobody_announced(batch):
    class Centred(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.head = nn.Linear(72, 2), nn.Linear(2, 5)

        def forward(self, signal):
            hidden = self.inner(signal.flatten(1)).tanh()
            return self.head(hidden - hidden.mean(0))

    network, given = Centred().double(), batch(3)
    found = scores(network, given, [*METRICS, "ntk_cond:hnas"])
    for name, value in slow(network, *given).items():
        assert found[name].value == pytest.approx(value, rel=1e-8), name


def test_sample_order_and_asking_again(batch):
    network, (inputs, labels) = smooth(True), batch(5)
    order = torch.tensor([4, 2, 0, 1, 3])
    first, again = (scores(network, (inputs, labels), METRICS) for _ in range(2))
    mixed = scores(network, (inputs[order], labels[order]), METRICS)
    for name in METRICS:
        assert first[name].value == again[name].value
        assert first[name].value == pytest.approx(mixed[name].value, rel=1e-9)


def test_the_network_is_left_as_found(batch):
    network = smooth(True).eval()
    before = {key: value.clone() for key, value in network.state_dict().items()}
    scores(network, batch(4), [*METRICS, "hnas"])
    assert all(torch.equal(value, before[key]) for key, value in network.state_dict().items())
    assert not any(module.training or module._forward_hooks for module in network.modules())


@examples(15)
@given(seed=st.integers(0, 999))
def test_knas_is_below_the_trace(seed):
    """D.12, for every kernel."""
    network = smooth(bool(seed % 2), seed)
    source = torch.Generator().manual_seed(seed)
    given = torch.randn(4, 2, 6, 6, generator=source, dtype=torch.float64), torch.randint(5, (4,), generator=source)
    for outputs in ("label", "sum"):
        own = {name: {"outputs": outputs, "parameters": "all"} for name in ("m_knas", "m_trace")}
        found = scores(network, given, list(own), settings=own)
        assert found["m_knas"].value <= found["m_trace"].value * (1 + 1e-12)


def test_theorem_7_1_with_all_outputs(batch):
    """M_Grad <= beta M_Trace: exactly so, with all outputs and parameters, and cross-entropy's beta."""
    for seed in range(5):
        own = {"m_trace": {"outputs": "all", "parameters": "all"}}
        found = scores(smooth(True, seed), batch(5, seed), ["m_grad", "m_trace"], settings=own)
        assert found["m_grad"].value <= 2**0.5 * found["m_trace"].value


def test_what_does_not_apply(batch):
    found = scores(smooth(True), batch(4)[0], [*METRICS, "hnas"])
    assert {one.status for one in found.values()} == {"unsupported"}
    assert all("no labels" in one.reason for one in found.values())


# -- scores ---------------------------------------------------------------------------------------------------------------
def test_the_four_scenarios():
    metric, kappa = torch.tensor([0.5, 2.0]), torch.tensor([10.0, 30.0])
    expected = {
        "realizable": [2.0, 0.5],
        "realizable_trade_off": [2.0 + 0.1 * 0.75**2, 0.5 + 0.1 * 9.0],
        "realizable_kappa": [20.0, 15.0],
        "non_realizable": [20.0 + 0.1 * 0.75**2, 15.0 + 0.1 * 9.0],
    }
    assert set(expected) == set(SCENARIOS)
    for scenario, values in expected.items():
        assert hnas_score(metric, kappa, 0.1, 1.0, scenario=scenario).tolist() == pytest.approx(values)


def test_scores_broadcast_over_settings():
    metric, kappa = torch.rand(7) + 0.5, torch.rand(7) + 1
    mu, nu = torch.rand(3, 1), torch.rand(3, 1)
    table = hnas_score(metric, kappa, mu, nu)
    assert table.shape == (3, 7)
    assert torch.allclose(table[1], hnas_score(metric, kappa, float(mu[1]), float(nu[1])))


@given(
    m=st.integers(1, 100),
    eta=st.floats(0.01, 2),
    c=st.floats(0.1, 3),
    t=st.sampled_from([1, 2, 5]),
    metric=st.floats(0.1, 5),
)
def test_equation_7_6_is_7_7(m, eta, c, t, metric):
    mu, nu = bound_constants(m, eta, c=c, t=t)
    bound = m / 2 * (1 - eta / (m * c) * metric**2) ** (2 * t) + 7 / metric
    assert float(hnas_score(metric, 7.0, mu, nu, power=2 * t)) == pytest.approx(bound, rel=1e-6)


@pytest.mark.checks("hnas")
def test_the_proxy(batch):
    network, given = smooth(True), batch(4)
    parts = slow(network, *given)
    M, kappa = parts["m_trace"], parts["ntk_cond:hnas"]
    own = {"mu": 0.3, "nu": 2.0}
    found = score(network, given, "hnas", settings=own)
    assert found.value == pytest.approx(kappa / M + 0.3 * (M**2 - 2) ** 2, rel=1e-8)
    assert (found.parts["metric"], found.parts["kappa"]) == pytest.approx((M, kappa))
    released = score(network, given, "hnas:released", settings=own)
    assert released.value == pytest.approx(kappa / (M + 1e-6) + 0.3 * abs(M**2 - 2), rel=1e-8)
    bare = score(network, given, "hnas", settings={"scenario": "realizable", "metric": "m_grad"})
    assert bare.value == pytest.approx(1 / parts["m_grad"])
    assert proxies["hnas"].direction == "lower"


def test_metric_and_kappa_apart(batch):
    network, (inputs, labels) = smooth(True), batch(5)
    M = score(network, (inputs, labels), "m_grad").value
    kappa = score(network, (inputs[:3], labels[:3]), "ntk_cond:hnas").value
    found = score(network, (inputs, labels), "hnas", settings={"metric": "m_grad", "kappa_batch": 3})
    assert found.value == pytest.approx(kappa / M, rel=1e-10)
    given = score(network, (inputs, labels), "hnas", settings={"metric": "m_grad", "kappa": 42.0})
    assert given.value == pytest.approx(42 / M, rel=1e-10)
    drawn = score(network, (inputs, labels), "ntk_cond:hnas", initialise="lecun").value
    apart = score(network, (inputs, labels), "hnas", settings={"metric": "m_grad", "kappa_initialise": "lecun"})
    assert apart.value == pytest.approx(drawn / M, rel=1e-10)
    few = score(network, (inputs, labels), "hnas", settings={"metric_batch": 9})
    assert (few.status, few.reason) == ("unsupported", "9 samples are needed, and the batch at hand has 5")
    with pytest.raises(InputError, match="at least 1"):
        score(network, (inputs, labels), "hnas", settings={"metric_batch": 0})


def test_failures_have_reasons(batch):
    network, (inputs, labels) = smooth(True), batch(3)
    twice = torch.cat([inputs, inputs]), torch.cat([labels, labels])
    assert score(network, twice, "hnas").status == "rank_deficient"
    assert score(network, twice, "hnas", settings={"scenario": "realizable"}).ok
    with pytest.raises(UnknownNameError, match="scenario"):
        score(network, (inputs, labels), "hnas", settings={"scenario": "dreamt"})
    with pytest.raises(UnknownNameError, match="scenario"):
        hnas_score(1.0, scenario="dreamt")
    with pytest.raises(InputError, match="positive"):
        bound_constants(0, 0.1)


def test_a_metric_of_zero_has_no_bound(batch):
    network = nn.Sequential(nn.Flatten(), nn.Linear(72, 5, bias=False)).double()
    nn.init.zeros_(network[1].weight)
    found = score(network, batch(4), get("hnas", {"metric": "m_snip", "scenario": "realizable"}))
    assert found.status == "nan"
    assert "m_snip is 0" in found.reason


def test_no_trainable_parameter_is_a_reason(small, batch):
    found = scores(small().requires_grad_(False), batch(4), [*METRICS, "hnas"])
    assert {one.status for one in found.values()} == {"unsupported"}
