from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from foresee.errors import UnknownNameError
from foresee.probes.steps import clipped, frozen, stepped
from foresee.proxies import Probe
from foresee.scoring import score


def trained(network, batches, optimizer, clip):
    """The same by torch's own optimizers, on a copy: gradients as used, losses, parameters at the end."""
    network = copy.deepcopy(network)
    made = optimizer(network.parameters())
    gradients, losses = [], []
    for x, y in batches:
        made.zero_grad()
        loss = F.cross_entropy(network.train()(x), y)
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(network.parameters(), clip)
        gradients.append({name: p.grad.clone() for name, p in network.named_parameters()})
        losses.append(loss.item())
        made.step()
    return gradients, losses, dict(network.named_parameters())


@pytest.mark.parametrize("clip", [None, 0.3, 100.0])
@pytest.mark.parametrize(
    ("name", "optimizer"),
    [
        ("sgd", lambda parameters: torch.optim.SGD(parameters, lr=0.2)),
        ("adagrad", lambda parameters: torch.optim.Adagrad(parameters, lr=0.2)),
    ],
)
def test_steps_are_those_of_torch(small, batch, name, optimizer, clip):
    # Without BatchNorm: the gradient of a bias before it is rounding, which Adagrad blows up to whole steps.
    network, batches = small(norm=False), [batch(4, seed) for seed in range(4)]
    gradients, losses, theta = trained(network, batches, optimizer, clip)
    trail = stepped(Probe(network, batches), 4, optimizer=name, lr=0.2, clip=clip)
    assert [float(loss) for loss in trail.losses] == pytest.approx(losses, rel=1e-9)
    for ours, theirs in zip(trail.gradients, gradients, strict=True):
        assert all(torch.allclose(ours[key], theirs[key], rtol=1e-7, atol=1e-10) for key in theirs)
    assert all(torch.allclose(trail.theta[key], theta[key], rtol=1e-7, atol=1e-10) for key in theta)


def test_the_network_stays(small, batch):
    network, batches = small().eval(), [batch(4, seed) for seed in range(4)]
    before, tensors = copy.deepcopy(network.state_dict()), list(network.parameters())
    pending = network(batches[0][0]).sum()  # a graph of the caller's over the same parameters
    trail = stepped(Probe(network, batches), 4, optimizer="sgd", lr=1.0)
    assert not torch.equal(trail.theta["0.weight"], before["0.weight"])
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert all(now is then for now, then in zip(network.parameters(), tensors, strict=True))
    assert not network.training
    pending.backward()


def test_recurrent_layers_see_the_steps():
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.last = nn.GRU(3, 4, batch_first=True), nn.Linear(4, 2)

        def forward(self, x):
            return self.last(self.inner(x)[0][:, -1])

    torch.manual_seed(0)
    network = Recurrent().double()
    batches = [(torch.randn(4, 5, 3, dtype=torch.float64), torch.arange(4) % 2) for _ in range(4)]
    _, losses, theta = trained(network, batches, lambda p: torch.optim.SGD(p, lr=1.0), None)
    trail = stepped(Probe(network, batches), 4, optimizer="sgd", lr=1.0)
    assert [float(loss) for loss in trail.losses] == pytest.approx(losses, rel=1e-9)
    assert torch.allclose(trail.theta["inner.weight_hh_l0"], theta["inner.weight_hh_l0"])


def test_frozen_shares_one_run_per_batch(small, batch):
    network, batches, runs = small(), [batch(4, seed) for seed in range(4)], []
    network.register_forward_hook(lambda *_: runs.append(1))
    probe = Probe(network, batches, looks=("batches.gradients", "batches.loss"))
    trail = frozen(probe, 4)
    assert len(runs) == 4
    assert frozen(probe, 4).gradients[0] is trail.gradients[0]
    assert trail.rows("0.weight").shape == (4, 54)
    assert trail.layers == ["0.weight", "3.weight", "6.weight"]


def test_a_single_batch_is_split(small, batch):
    x, y = batch(9)
    split = [(x[i : i + 2], y[i : i + 2]) for i in range(0, 8, 2)]
    for make in (frozen, lambda probe, count: stepped(probe, count, optimizer="sgd", lr=0.1)):
        first, second = make(Probe(small(), (x, y)), 4), make(Probe(small(), split), 4)
        assert [float(loss) for loss in first.losses] == [float(loss) for loss in second.losses]


def test_clipping():
    gradients = {"a": torch.tensor([3.0]), "b": torch.tensor([[4.0]])}
    assert clipped(gradients, 10.0)["b"].item() == 4.0
    assert clipped(gradients, 1.0)["a"].item() == pytest.approx(0.6, rel=1e-5)


def test_mistakes_are_named(small, batch):
    with pytest.raises(UnknownNameError, match="adagrad"):
        score(small(), batch(8), "sigeo", settings={"optimizer": "adagrat"})
    assert "no labels" in score(small(), batch(8)[0], "sigeo:sgd").reason


def test_rates_rise_and_only_some_learn(small, batch):
    network, batches = small(norm=False), [batch(4, seed) for seed in range(4)]
    names = [name for name, _ in network.named_parameters()][-2:]
    trail = stepped(Probe(network, batches), 4, optimizer="adagrad", lr=0.5, clip=0.1, eps=0.01, rising=2, only=names)
    slow = copy.deepcopy(network).requires_grad_(False).train()
    learning = {name: one.requires_grad_(True) for name, one in slow.named_parameters() if name in names}
    made = torch.optim.Adagrad(learning.values(), eps=0.01)
    for (x, y), lr in zip(batches, (1e-8, 1e-8, (0.5 + 1e-8) / 2, 0.5), strict=True):
        made.param_groups[0]["lr"] = lr
        made.zero_grad()
        F.cross_entropy(slow(x), y).backward()
        nn.utils.clip_grad_norm_(slow.parameters(), 0.1)
        made.step()
    assert trail.reached == names
    assert all(torch.allclose(trail.theta[name], one, rtol=1e-7, atol=1e-10) for name, one in learning.items())
    only = frozen(Probe(network, batches), 4).only(names)
    assert only.reached == names == list(only.theta)
