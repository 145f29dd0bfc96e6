from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from tests.probes.counted import Counted
from torch import nn

import foresee as fs
from foresee.batch import Batch
from foresee.errors import UnsupportedError
from foresee.probes.draws import Draws
from foresee.probes.exchanges import Exchanges
from foresee.probes.looks import Declared
from foresee.probes.probe import Probe
from foresee.proxies import get
from foresee.proxies.kernels.nasi import squared_length
from foresee.spaces.one_shot import straight_through


def test_declared_looks_share_one_pass(small, batch):
    log: list = []
    looks = ["batch.gradients", "batch.patterns", "batch.jacobian", "batches.gradients", "sample.features"]
    probe = Probe(Counted(small(), log), [batch(6), batch(4, seed=1)], looks=looks)
    assert log == []
    patterns, gradients, jacobian = probe.batch.patterns, probe.batch.gradients, probe.batch.jacobian
    assert len(log) == 1
    assert patterns
    assert gradients
    assert jacobian.shape == (6, 2, 6, 6)
    assert [len(p.gradients) for p in probe.at_least(2)] == [len(gradients)] * 2
    assert len(log) == 2
    assert probe.sample.features is probe.sample.features
    assert [entry[0] for entry in log] == [6, 4, 1]


def test_looks_that_were_not_declared_cost_a_pass_and_agree(small, batch):
    log: list = []
    network = Counted(small(), log)
    alone = Probe(network, batch())
    together = Probe(network, batch(), looks=["batch.gradients", "batch.patterns"])
    for name, gradient in alone.batch.gradients.items():
        assert torch.equal(gradient, together.batch.gradients[name])
    for first, second in zip(alone.batch.patterns, together.batch.patterns, strict=True):
        assert torch.equal(first.positive, second.positive)
    assert len(log) == 3
    assert [entry[2] for entry in log] == [True, True, False]


def test_one_look_does_not_fail_for_the_sake_of_another(small, batch):
    log: list = []
    inputs, _ = batch()
    probe = Probe(Counted(small(), log), inputs, looks=["batch.gradients", "batch.patterns"])
    assert len(probe.batch.patterns) == 2
    for _ in range(3):
        with pytest.raises(UnsupportedError, match="no labels"):
            _ = probe.batch.gradients


def test_a_failure_is_remembered():
    runs = []

    class Broken(nn.Module):
        def forward(self, x):
            runs.append(1)
            raise KeyError("no such thing")

    probe = Probe(Broken(), torch.randn(2, 3))
    for _ in range(3):
        with pytest.raises(KeyError):
            _ = probe.batch.patterns
    assert len(runs) == 1


# -- settings and draws -------------------------------------------------------------------------------------------------
def test_a_look_is_its_name_and_its_settings(small, batch):
    log: list = []
    looks = [Declared.read("batch.exchanges", {"channels": 2}), "batch.gradients"]
    probe = Probe(Counted(small(), log), batch(), looks=looks)
    _ = probe.batch.gradients
    few = probe.batch.see(Exchanges(channels=2))
    assert probe.batch.see(Exchanges(2, 8)) is few
    assert len(log) == 1
    usual = probe.batch.see("exchanges")
    assert probe.batch.see(Exchanges()) is usual
    assert len(log) == 2
    assert not torch.equal(few.told, usual.told)


def test_a_look_that_is_drawn_is_remembered_for_each_draw(small, batch):
    log: list = []
    probe = Probe(Counted(small(), log), batch(), looks=["batch.exchanges", "batch.gradients"])
    seen = []
    for repeat in (0, 1, 0):
        probe.draws = Draws(0, repeat=repeat)
        _ = probe.batch.gradients
        assert not probe.draws.used
        seen.append(probe.batch.see("exchanges"))
        assert probe.draws.used
    assert seen[0] is seen[2]
    assert not torch.equal(seen[0].told, seen[1].told)
    assert torch.equal(seen[0].reads, seen[1].reads)
    assert [entry[0] for entry in log] == [6, 6]


def test_what_failed_is_let_go_before_the_next_try(small, batch):
    """Too little memory for the company: what its run had in hand is gone when the look is tried alone."""
    alive, seen = SimpleNamespace(count=0), []

    class Held:
        def __init__(self):
            alive.count += 1

        def __del__(self):
            alive.count -= 1

    class Heavy(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = small()

        def forward(self, x):
            held = Held()
            seen.append(alive.count)
            if x.requires_grad:
                raise torch.OutOfMemoryError("CUDA out of memory")
            del held
            return self.inner(x)

    assert Probe(Heavy(), batch(), looks=["batch.features", "batch.jacobian"]).batch.features
    assert seen == [1, 1]


# -- sample by sample ---------------------------------------------------------------------------------------------------
def slow_gradients(network, x, value):
    """One backward run for each sample, in the run of the whole batch; `value(outputs, i)` is what is differentiated."""
    outputs = network.train()(x)
    names = dict(network.named_parameters())
    rows = [torch.autograd.grad(value(outputs, i), list(names.values()), retain_graph=True) for i in range(len(x))]
    return {name: torch.stack(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def agree(found, expected):
    assert found.keys() == expected.keys()
    for name, gradient in found.items():
        assert torch.allclose(gradient, expected[name], rtol=1e-9, atol=1e-12), name


@pytest.mark.parametrize("norm", [True, False])
def test_gradients_sample_by_sample_are_those_of_a_loop(small, batch, norm):
    network, (x, y) = small(norm=norm), batch()
    probe = Probe(network, (x, y), seed=4)
    agree(
        probe.batch.sample_gradients,
        slow_gradients(network, x, lambda f, i: F.cross_entropy(f[i : i + 1], y[i : i + 1])),
    )
    projection = Draws(4).normal("projection.6x5", 6, 5)
    agree(probe.batch.sample_projections, slow_gradients(network, x, lambda f, i: (f[i] * projection[i]).sum()))
    for name, mean in probe.batch.gradients.items():
        assert torch.allclose(probe.batch.sample_gradients[name].mean(0), mean)


def test_every_pass_has_its_own_samples(small, batch):
    network, first, second = small(), batch(4), batch(6, seed=1)
    probe = Probe(network, [first, second])
    for one, (x, y) in zip(probe.batches, (first, second), strict=True):
        agree(
            one.sample_gradients,
            slow_gradients(network, x, lambda f, i, y=y: F.cross_entropy(f[i : i + 1], y[i : i + 1])),
        )
    x, y = second
    half = Probe(network, second).at_least(2)[1]
    expected = slow_gradients(network, x[3:], lambda f, i: F.cross_entropy(f[i : i + 1], y[3 + i : 4 + i]))
    agree(half.sample_gradients, expected)


def test_a_batch_is_judged_by_the_loss_of_all_batches():
    """Labels of the second batch look like yes and no; those of the first do not."""
    network = nn.Linear(3, 1).double()
    x = torch.randn(2, 4, 3, dtype=torch.float64)
    labels = torch.tensor([[0.5, 2.0, 3.0, 1.0], [0.0, 1.0, 1.0, 0.0]], dtype=torch.float64)
    probe = Probe(network, [Batch(x[0], labels[0]), Batch(x[1], labels[1])])
    expected = slow_gradients(network, x[1], lambda f, i: F.mse_loss(f[i, 0], labels[1, i]))
    agree(probe.batches[1].sample_gradients, expected)


def test_samples_are_drawn_anew_for_each_repeat(small, batch):
    probe, found = Probe(small(), batch(), seed=1), []
    for repeat in (0, 1, 0):
        probe.draws = Draws(1, repeat=repeat)
        found.append(probe.at_least(2)[1].sample_projections["0.weight"])
        assert probe.draws.used
    assert torch.equal(found[0], found[2])
    assert not torch.equal(found[0], found[1])


# -- differentiable -----------------------------------------------------------------------------------------------------
@pytest.fixture
def one_shot():
    """A one-shot network with a single cell, in float64, and a batch for it."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        made = fs.spaces.get("nasbench201", channels=2, cells=1).one_shot(fs.Task((3, 8, 8), 4)).double()
        batch = torch.randn(5, 3, 8, 8, dtype=torch.float64), torch.arange(5) % 4
    return made, batch


def mixture(one_shot, seed=0):
    draws = torch.Generator().manual_seed(seed)
    return {
        choice.name: torch.rand(len(choice.options), generator=draws, dtype=torch.float64).softmax(0).requires_grad_()
        for choice in one_shot.choices
    }


def nasi(probe):
    return get("nasi")(probe)


def trace(probe):
    return squared_length(part.flatten() for part in probe.batch.gradients.values()) + probe.batch.loss


def steady(probe):
    return probe.batch.see(Exchanges(columns=2)).change.log() + probe.batch.see("exchanges").told.sum()


FORMULAS = {
    "nasi": nasi,
    "gradients and loss": trace,
    "jacobian": lambda probe: probe.batch.jacobian.square().sum(),
    "outputs": lambda probe: probe.batch.outputs.square().sum(),
    "features": lambda probe: sum(feature.map.square().mean() for feature in probe.batch.features),
    "sample": lambda probe: sum(feature.map.square().mean() for feature in probe.sample.features),
    "snip": lambda probe: get("snip")(probe),
    "fisher": lambda probe: get("fisher")(probe),
    "exchanges": steady,
    "foresee": lambda probe: get("foresee")(probe),
}


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_differentiated_by_what_the_network_was_mixed_with(one_shot, formula):
    """Against central differences of the relaxed objective."""
    network, batch = one_shot
    weights = mixture(network)

    def value(given):
        return FORMULAS[formula](Probe(network.mix(given), batch, create_graph=True))

    names = list(weights)[:2]
    found = torch.autograd.grad(value(weights), [weights[name] for name in names])
    step = 1e-6
    for name, gradient in zip(names, found, strict=True):
        for option in (1, 3):
            sides = []
            for sign in (1, -1):
                moved = {key: vector.detach().clone() for key, vector in weights.items()}
                moved[name][option] += sign * step
                sides.append(float(value(moved).detach()))
            expected = (sides[0] - sides[1]) / (2 * step)
            assert float(gradient[option]) == pytest.approx(expected, rel=1e-4, abs=1e-7)


def test_straight_through_weights_have_a_gradient(one_shot):
    network, batch = one_shot
    logits = {name: vector.detach().requires_grad_() for name, vector in mixture(network).items()}
    value = nasi(Probe(network.mix(straight_through(logits)), batch, create_graph=True))
    found = torch.autograd.grad(value, list(logits.values()), allow_unused=True)
    assert any(gradient is not None and bool(gradient.any()) for gradient in found)


def test_differentiable_looks_have_the_same_values_and_share_their_pass(small, batch):
    log: list = []
    looks = ["batch.gradients", "batch.jacobian", "batch.exchanges", "batch.channels", "batch.features"]
    plain = Probe(small(), batch(), looks=looks).batch
    graph = Probe(Counted(small(), log), batch(), looks=looks, create_graph=True).batch
    assert torch.equal(plain.jacobian, graph.jacobian)
    assert torch.equal(plain.loss, graph.loss)
    for name, gradient in plain.gradients.items():
        assert torch.equal(gradient, graph.gradients[f"inner.{name}"])
        assert graph.gradients[f"inner.{name}"].requires_grad
    assert torch.equal(plain.see("exchanges").told, graph.see("exchanges").told)
    assert len(log) == 2  # the loss was not declared
    assert graph.outputs.requires_grad
    assert not plain.outputs.requires_grad


def test_the_network_is_left_as_found_and_the_graph_stays_good(one_shot):
    """Buffers that the network writes and reads are put back; the graph remembers what they were during the pass."""

    class Moving(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 2).double()
            self.register_buffer("scale", torch.ones(2, dtype=torch.float64))

        def forward(self, x):
            self.scale.mul_(0.5)
            return (self.inner(x) * self.scale) ** 2

    network, x = Moving(), torch.randn(4, 3, dtype=torch.float64)
    frozen = network.inner.bias.requires_grad_(False)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    network.eval()
    probe = Probe(network, (x, torch.arange(4) % 2), create_graph=True)
    value = probe.batch.gradients["inner.weight"].square().sum()
    (found,) = torch.autograd.grad(value, network.inner.weight)

    weight = before["inner.weight"].requires_grad_()
    loss = F.cross_entropy((F.linear(x, weight, before["inner.bias"]) * 0.5) ** 2, torch.arange(4) % 2)
    (gradient,) = torch.autograd.grad(loss, weight, create_graph=True)
    (expected,) = torch.autograd.grad(gradient.square().sum(), weight)
    assert torch.allclose(found, expected)
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())
    assert not network.training
    assert not frozen.requires_grad
    assert all(parameter.grad is None for parameter in network.parameters())
    assert not any(module._forward_hooks for module in network.modules())


def test_what_cannot_be_differentiated_says_so(small, batch):
    probe = Probe(small(), batch(), create_graph=True)
    with pytest.raises(UnsupportedError, match="gone when it is differentiated"):
        get("snip", {"initialise": "he"})(probe)
    with pytest.raises(UnsupportedError, match="converted weights"):
        get("synflow")(probe)
    with pytest.raises(UnsupportedError, match="without a graph"):
        _ = probe.batch.sample_gradients

    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, gradient):
            return gradient * 2

    class Dead(nn.Linear):
        def forward(self, x):
            return Once.apply(super().forward(x.flatten(1)))

    with pytest.raises(UnsupportedError, match="once only"):
        _ = Probe(Dead(72, 5).double(), batch(), create_graph=True).batch.gradients
