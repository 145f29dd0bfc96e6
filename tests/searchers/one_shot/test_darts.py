"""DARTS: its steps by hand, and the second order against a double backward run through the step ahead."""

from __future__ import annotations

import copy

import pytest
import torch
from tests.searchers import two_edges
from tests.searchers.one_shot.rivals import SETTINGS, searcher
from torch.func import functional_call
from torch.nn import functional as F

from foresee.batch import Batch


def double(name, **said):
    """A searcher on the space that costs nothing, in double precision."""
    one = searcher(name, two_edges.NAME, said=said)
    one.network.double()
    one.training, one.validation = (
        lambda number, plain=plain: plain(number).to("cpu", torch.float64) for plain in (one.training, one.validation)
    )
    one.logits = {name: vector.double().detach().requires_grad_() for name, vector in one.logits.items()}
    with torch.no_grad():
        for place, vector in enumerate(one.logits.values()):
            vector += torch.linspace(-0.3, 0.4, len(vector), dtype=torch.float64) * (1 + place)
    return one


def loss(one, weights, batch):
    """The loss with these weights, as a function of them and of the logits."""
    one.network.mix(one.mixture())
    return F.cross_entropy(functional_call(one.network, weights, (batch.inputs,)), batch.labels)


def by_double_backward(one, xi):
    """Eq. 6: the loss L_val(w - xi grad L_train(w, alpha), alpha) and its gradient by alpha, without any difference."""
    weights = dict(one.network.named_parameters())
    slopes = torch.autograd.grad(loss(one, weights, one.training(0)), list(weights.values()), create_graph=True)
    ahead = {name: weight - xi * slope for (name, weight), slope in zip(weights.items(), slopes, strict=True)}
    found = loss(one, ahead, one.validation(0))
    return found.item(), torch.autograd.grad(found, list(one.logits.values()))


def distance(ours, theirs):
    return max((a - b).abs().max().item() for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("xi", [0.01, 0.3])
def test_the_second_order_is_the_gradient_through_the_step_ahead(xi, monkeypatch):
    """Exact where the difference is small; with the paper's, which meets kinks of ReLU, nearer than the first order."""
    one = double("darts_2nd", lr=xi, batch=32)
    there, exact = by_double_backward(one, xi)
    before = copy.deepcopy(one.network.state_dict())
    batches = one.training(0), one.validation(0)
    found, published = one.architecture_gradient(*batches)
    assert found == pytest.approx(there, rel=1e-9)
    monkeypatch.setattr("foresee.searchers.one_shot.darts.EPSILON", 1e-5)
    _, fine = one.architecture_gradient(*batches)
    _, first = double("darts_1st", lr=xi, batch=32).architecture_gradient(*batches)
    size, apart = max(slope.abs().max().item() for slope in exact), distance(first, exact)
    assert apart > 1e-3 * size  # the step ahead matters, or this would be a test of nothing
    assert distance(fine, exact) < 1e-6 * apart
    assert distance(published, exact) < apart
    for name, weight in one.network.named_parameters():  # put back, up to rounding
        torch.testing.assert_close(weight.detach(), before[name], rtol=0, atol=1e-12)
        assert weight.grad is None


def test_the_first_order_is_the_gradient_at_the_present_weights():
    one = double("darts_1st")
    there, found = one.architecture_gradient(one.training(0), one.validation(0))
    exact = loss(one, dict(one.network.named_parameters()), one.validation(0))
    assert there == pytest.approx(exact.item())
    for ours, theirs in zip(found, torch.autograd.grad(exact, list(one.logits.values())), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_batch_is_a_step_of_adam_and_one_of_sgd():
    """By hand, on copies, with torch's own optimisers as the paper sets them."""
    one, other = (searcher("darts_1st", two_edges.NAME, said={"clip": 0.5}) for _ in range(2))
    one.learn(0)
    logits, network = list(other.logits.values()), other.network
    adam = torch.optim.Adam(logits, 3e-4, betas=(0.5, 0.999), weight_decay=1e-3)
    sgd = torch.optim.SGD(network.parameters(), 0.025, momentum=0.9, weight_decay=3e-4)
    batch = other.halves.validation(0)
    F.cross_entropy(network.mix(other.mixture())(batch.inputs), batch.labels).backward()
    adam.step()
    network.zero_grad()
    batch = other.halves.training(0)
    F.cross_entropy(network.mix(other.fixed())(batch.inputs), batch.labels).backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
    sgd.step()
    for name in one.logits:
        assert torch.equal(one.logits[name], other.logits[name])
        assert bool((one.logits[name] != 0).all())
    for (name, ours), theirs in zip(one.network.named_parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, msg=name)


def test_the_rate_falls_along_a_cosine():
    one = searcher("darts_1st", two_edges.NAME, said={"epochs": 4})
    reference = torch.optim.SGD(one.network.parameters(), 0.025)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(reference, 4, eta_min=0.001)
    for epoch in range(4):
        assert one.rate(epoch) == pytest.approx(schedule.get_last_lr()[0])
        reference.step()
        schedule.step()


def test_it_finds_the_operation_that_the_data_asks_for():
    """Labels that only a 3x3 convolution can see: of pooling, 1x1 and 3x3 the logits come to prefer the last."""
    inputs = torch.randn(64, 1, 6, 6, generator=torch.Generator().manual_seed(0))
    checkers = (torch.arange(6)[:, None] + torch.arange(6)) % 2 * 2.0 - 1
    labels = torch.arange(64) % 2
    inputs += 2.0 * labels[:, None, None, None] * checkers
    one = searcher(
        "darts_1st", two_edges.NAME, inputs=(1, 6, 6), outputs=2,
        said={**SETTINGS["darts_1st"], "lr": 0.1, "arch_lr": 0.05},
    )  # fmt: skip
    one.training = one.validation = lambda number: Batch(inputs, labels)
    for number in range(30):
        one.learn(number)
    assert one.network.derive(one.fixed()).ops[0] == "conv3"
