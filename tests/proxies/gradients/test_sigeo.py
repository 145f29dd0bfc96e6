from __future__ import annotations

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.errors import InputError
from foresee.probes.steps import frozen
from foresee.proxies import Probe
from foresee.proxies.gradients.sigeo_statistics import carriers
from foresee.scoring import score, scores

RANDOM = examples(8)
VARIANTS = ("sigeo", "sigeo:literal", "sigeo:sgd", "sigeo:released_cv", "sigeo:released_ctr")
PARTS = ("fisher_rao", "mean_abs_gradient", "current_loss")
SPREAD = "gradient_spread"


def slow_parts(network, batches, lr, every_module=False):
    """Equation 7 term by term: (first, first neuron-wise, Fisher-Rao norm, mean absolute gradient, last loss)."""
    network, rows = copy.deepcopy(network).train(), []
    for x, y in batches:
        loss = F.cross_entropy(network(x), y)
        names, parameters = zip(*network.named_parameters(), strict=True)
        rows.append(dict(zip(names, torch.autograd.grad(loss, parameters), strict=True)))
        with torch.no_grad():
            for name, parameter in zip(names, parameters, strict=True):
                parameter -= lr * rows[-1][name]
    layers = [[f"{n}.weight"] for n, m in network.named_modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    if every_module:
        own = {n: [p for p, _ in m.named_parameters(n, recurse=False)] for n, m in network.named_modules()}
        layers = list(own.values())
    sums = []
    for names in filter(None, layers):
        inside = 0.0
        for name in names:
            for entry in zip(*(row[name].flatten().tolist() for row in rows), strict=True):
                mean = sum(entry) / len(entry)
                deviation = math.sqrt(sum((g - mean) ** 2 for g in entry) / len(entry))
                inside += sum(map(abs, entry)) / len(entry) / deviation if deviation > 0 else 0.0
        sums.append(inside)
    theta = dict(network.named_parameters())
    squares = [sum((theta[name] * row[name]).sum().item() for name in theta) ** 2 for row in rows]
    absolute = sum(float(row[name].abs().sum()) for row in rows for name in theta) / len(rows)
    return sum(map(math.log, sums)), math.log(sum(sums)), sum(squares) / len(rows), absolute, loss.item()


@pytest.mark.checks("sigeo")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans(), lr=st.sampled_from([0.0, 0.1]), neuron_wise=st.booleans())
def test_the_formula(small, batch, seed, norm, lr, neuron_wise):
    network, batches = small(seed, norm=norm), [batch(4, seed + i) for i in range(4)]
    first, alternative, fisher_rao, _, loss = slow_parts(network, batches, lr)
    expected = 2.0 * (alternative if neuron_wise else first) + 50 * math.log(fisher_rao) - 3 * loss
    chosen = {"lambda1": 2.0, "lambda2": 50.0, "lambda3": 3.0, "neuron_wise": neuron_wise}
    found = score(network, batches, "sigeo:sgd" if lr else "sigeo", settings=chosen)
    assert found.value == pytest.approx(expected, rel=1e-6)


@pytest.mark.checks("fisher_rao", "mean_abs_gradient", "current_loss")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans())
def test_the_parts(small, batch, seed, norm):
    network, batches = small(seed, norm=norm), [batch(4, seed + i) for i in range(4)]
    found = scores(network, batches, PARTS)
    assert [found[name].value for name in PARTS] == pytest.approx(slow_parts(network, batches, 0.0)[2:], rel=1e-9)
    assert found["current_loss"].direction == "lower"


@RANDOM
@given(seed=st.integers(0, 10**6), lr=st.sampled_from([0.0, 0.1]), neuron_wise=st.booleans())
def test_the_literal_reading_takes_biases_too(small, batch, seed, lr, neuron_wise):
    # Without BatchNorm: before it, the gradient of a bias is rounding, whose ratio to its deviation is anything.
    network, batches = small(seed, norm=False), [batch(4, seed + i) for i in range(4)]
    first, alternative, fisher_rao, _, _ = slow_parts(network, batches, lr, every_module=True)
    steps = {"optimizer": "sgd"} if lr else {}
    found = score(network, batches, "sigeo:literal", settings={"neuron_wise": neuron_wise, **steps})
    assert found.value == pytest.approx((alternative if neuron_wise else first) + math.log(fisher_rao), rel=1e-6)
    assert found.value != score(network, batches, "sigeo", settings={"neuron_wise": neuron_wise, **steps}).value


def test_the_literal_reading_takes_norms_and_lone_parameters_too(batch):
    class Shifted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(nn.Conv2d(2, 3, 3, bias=False), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten())
            self.last, self.shift = nn.Linear(48, 5, bias=False), nn.Parameter(torch.ones(5))

        def forward(self, x):
            return self.last(self.layers(x)) + self.shift

    torch.manual_seed(0)
    network, batches = Shifted().double(), [batch(4, i) for i in range(4)]
    settings = {"lambda2": 0.0}
    whole = score(network, batches, "sigeo:literal", settings=settings).value
    assert whole == pytest.approx(slow_parts(network, batches, 0.0, every_module=True)[0], rel=1e-9)
    for parameter in (network.shift, *network.layers[1].parameters()):
        parameter.requires_grad_(False)
    same = score(network, batches, "sigeo:literal", settings=settings).value
    assert same == score(network, batches, "sigeo", settings=settings).value, "each module has its one weight left"


def test_weights_by_setting(small, batch):
    network, batches = small(), [batch(4, i) for i in range(4)]
    found = scores(network, batches, ["sigeo", "sigeo:vision", "sigeo:ctr"])
    parts = found["sigeo:vision"].parts
    first, second, loss = (parts[name] for name in ("steadiness", "fisher_rao", "loss"))
    assert found["sigeo"].value == pytest.approx(first + second)
    assert found["sigeo:vision"].value == pytest.approx(first + 50 * second - loss)
    assert found["sigeo:ctr"].value == pytest.approx(first + second - loss)


@pytest.mark.checks("gradient_spread")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans())
def test_the_spread(small, batch, seed, norm):
    network, batches = small(seed, norm=norm), [batch(4, seed + i) for i in range(4)]
    rows = []
    for x, y in batches:
        gradients = torch.autograd.grad(F.cross_entropy(network(x), y), list(network.parameters()))
        rows.append(torch.cat([gradient.flatten() for gradient in gradients]).tolist())
    expected = 0.0
    for entry in zip(*rows, strict=True):
        mean = sum(entry) / 4
        expected += math.sqrt(sum((g - mean) ** 2 for g in entry) / 4)
    found = score(network, batches, SPREAD)
    assert found.value == pytest.approx(expected, rel=1e-9)
    assert found.direction == "lower"
    assert score(network, [batches[0]] * 4, SPREAD).value == pytest.approx(0, abs=1e-12)


def test_without_its_own_terms_it_is_zico(small, batch):
    batches = [batch(4, i) for i in range(4)]
    found = scores(small(), batches, ["zico", "sigeo"], settings={"sigeo": {"lambda2": 0.0}})
    assert found["sigeo"].value == found["zico"].value
    assert list(found["sigeo"].parts) == ["steadiness"]


def test_who_carries_the_norm(batch):
    torch.manual_seed(0)
    layers = [nn.Conv2d(2, 3, 3, bias=False), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 5)]
    network, batches = nn.Sequential(*layers).double(), [batch(4, i) for i in range(4)]
    shares = carriers(frozen(Probe(network, batches), 4))
    assert sum(shares.values()) == pytest.approx(1.0)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert shares["0.weight"] < 1e-3 < shares["4.weight"]
    parts = score(network, batches, "fisher_rao").parts
    assert parts["share.Conv2d"] == pytest.approx(shares["0.weight"])
    assert parts["share.Linear"] == pytest.approx(shares["4.weight"] + shares["4.bias"])
    assert sum(parts.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "variant", ["sigeo", "sigeo:literal", "sigeo:sgd", "sigeo:released_cv", "sigeo:released_ctr", *PARTS]
)
def test_sample_order_repetition_and_state(small, batch, variant):
    # Without BatchNorm: before it, the gradient of a bias is rounding, and one of the released codes reads it.
    network, batches = small(norm=False).eval(), [batch(4, i) for i in range(4)]
    before = copy.deepcopy(network.state_dict())
    value = score(network, batches, variant).value
    assert score(network, batches, variant).value == value
    assert score(network, [(x.flip(0), y.flip(0)) for x, y in batches], variant).value == pytest.approx(value, rel=1e-6)
    assert all(torch.equal(now, before[name]) for name, now in network.state_dict().items())
    assert all(parameter.grad is None for parameter in network.parameters())
    assert not network.training


@pytest.mark.parametrize("proxy", ["sigeo", "sigeo:released_ctr", *PARTS, SPREAD])
def test_what_it_does_not_apply_to(small, batch, proxy):
    assert "no labels" in score(small(), batch(8)[0], proxy).reason
    assert "cannot be split" in score(small(), batch(3), proxy).reason
    assert score(small().requires_grad_(False), batch(8), proxy).status == (
        "ok" if proxy == "current_loss" else "unsupported"
    )


def test_failures_have_reasons(small, batch):
    same = score(small(), [batch(4)] * 4, "sigeo")
    assert (same.status, "the same" in same.reason) == ("nan", True)
    zero = nn.Sequential(nn.Flatten(), nn.Linear(72, 5).double())
    for parameter in zero.parameters():
        nn.init.zeros_(parameter)
    flat = score(zero, [batch(4, i) for i in range(4)], "sigeo")
    assert (flat.status, "0 in every batch" in flat.reason) == ("nan", True)
    assert score(zero, [batch(4, i) for i in range(4)], "sigeo", settings={"lambda2": 0.0}).ok
    with pytest.raises(InputError, match="released_cv"):
        score(small(), batch(8), "sigeo", settings={"form": "own"})
    with pytest.raises(InputError, match="lambdas"):
        score(small(), batch(8), "sigeo", settings={"lambda1": 0, "lambda2": 0})
