from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from foresee.batch import Batch
from foresee.errors import InputError, UnsupportedError
from foresee.probes.probe import Probe, out_of_memory


class Counted(nn.Module):
    """Counts its runs outside of itself, where nothing is put back."""

    def __init__(self, inner, log):
        super().__init__()
        self.inner = inner
        self.log = lambda: log

    def forward(self, x):
        self.log().append((len(x), x.dtype, torch.is_grad_enabled()))
        return self.inner(x)


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


def test_the_sample_is_seen_in_float64_and_the_batch_in_the_own_type(small, batch):
    log: list = []
    probe = Probe(Counted(small(dtype=torch.float32), log), batch(dtype=torch.float32))
    assert probe.sample.features[0].map.dtype == torch.float64
    assert probe.batch.outputs.dtype == torch.float32
    assert [entry[:2] for entry in log] == [(1, torch.float64), (6, torch.float32)]


def test_a_network_that_insists_on_its_type_is_seen_in_it():
    class Stubborn(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(2, 3, 2)

        def forward(self, x):
            return self.conv(x.float())

    features = Probe(Stubborn(), torch.randn(1, 2, 5)).sample.features
    assert features[0].map.dtype == torch.float32


def test_batches_are_moved_to_the_type_of_the_network(small, batch):
    inputs, labels = batch(dtype=torch.float32)
    assert Probe(small(dtype=torch.float64), (inputs, labels)).batch.outputs.dtype == torch.float64


@pytest.mark.parametrize("given_count", [2, 3])
def test_enough_batches_are_used_as_they_are(small, batch, given_count):
    probe = Probe(small(), [batch(2, seed=i) for i in range(given_count)])
    assert probe.at_least(2) is probe.batches
    assert len(probe.batches) == given_count


def test_a_single_batch_is_halved_and_an_odd_sample_left_out(small, batch):
    x, y = batch(5)
    halves = Probe(small(), (x, y)).at_least(2)
    assert [len(half) for half in halves] == [2, 2]
    assert torch.equal(torch.cat([half.inputs[0] for half in halves]), x[:4])
    with pytest.raises(UnsupportedError, match="cannot be split"):
        Probe(small(), (x[:1], y[:1])).at_least(2)


def test_a_contact_leaves_the_network_as_found(small, batch):
    network = small().eval()
    before = copy.deepcopy(network.state_dict())
    probe = Probe(network, batch())
    for look in ("gradients", "jacobian", "patterns", "features", "outputs", "loss"):
        probe.batch.see(look)
    _ = probe.sample.features
    assert not any(module.training for module in network.modules())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
    assert all(p.grad is None for p in network.parameters())
    for name, value in network.state_dict().items():
        assert torch.equal(value, before[name])


def test_batch_statistics_are_used_whatever_the_mode(small, batch):
    network = small()
    network[1].running_mean += 5
    trained = Probe(network.train(), batch()).batch.outputs
    assert torch.equal(trained, Probe(network.eval(), batch()).batch.outputs)
    assert not torch.allclose(trained, network.eval()(batch()[0]))


def test_a_batch_of_one_that_leaves_one_value_per_channel_is_unsupported():
    probe = Probe(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), torch.randn(4, 3))
    assert probe.batch.outputs.shape == (4, 4)
    with pytest.raises(UnsupportedError, match="more than one value per channel"):
        _ = probe.sample.features


def test_weights_are_trainable_shared_once_and_not_parametrised():
    network = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3), nn.BatchNorm1d(3))
    network[1].weight = network[0].weight
    network[2].weight.requires_grad_(False)
    assert list(Probe(network, torch.zeros(2, 3)).weights) == ["0.weight"]
    nn.utils.parametrizations.weight_norm(network[0])
    with pytest.raises(UnsupportedError, match="parametris"):
        _ = Probe(network, torch.zeros(2, 3)).weights
    with pytest.raises(UnsupportedError, match="no trainable weights"):
        _ = Probe(nn.ReLU(), torch.zeros(2, 3)).weights


def test_frozen_and_unused_parameters_have_no_gradient(batch):
    network = nn.ModuleDict({"used": nn.Linear(72, 5), "frozen": nn.Linear(5, 5), "unused": nn.Linear(5, 5)}).double()
    network["frozen"].requires_grad_(False)
    network.forward = lambda x: network["frozen"](network["used"](x.flatten(1)))
    assert sorted(Probe(network, batch()).batch.gradients) == ["used.bias", "used.weight"]


def test_networks_without_anything_to_differentiate(batch):
    probe = Probe(nn.Sequential(nn.Flatten(), nn.ReLU()), batch(2))
    assert probe.batch.gradients == {}
    assert probe.batch.jacobian.shape == (2, 2, 6, 6)

    class Detached(nn.Linear):
        def forward(self, x):
            return super().forward(x.flatten(1)).detach()

    probe = Probe(Detached(72, 5).double(), batch(2))
    with pytest.raises(UnsupportedError, match="differentiable"):
        _ = probe.batch.gradients
    with pytest.raises(UnsupportedError, match="differentiable"):
        _ = probe.batch.jacobian


def test_inside_no_grad_and_inference_mode(small, batch):
    network, data = small(), batch()
    expected = Probe(network, data).batch.gradients
    with torch.no_grad():
        assert torch.equal(Probe(network, data).batch.gradients["0.weight"], expected["0.weight"])
    with torch.inference_mode():
        own = Batch(data[0] * 1, data[1])  # inference tensors
        assert torch.equal(Probe(network, own).batch.gradients["0.weight"], expected["0.weight"])


def test_several_inputs_are_passed_as_arguments():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.head = nn.Embedding(5, 3), nn.Linear(3, 1)

        def forward(self, dense, sparse):
            return self.head(dense + self.table(sparse))

    data = Batch((torch.randn(4, 3), torch.randint(5, (4,))), torch.tensor([0.0, 1, 1, 0]))
    probe = Probe(Two(), data)
    assert probe.batch.jacobian.shape == (4, 3)
    assert "table.weight" in probe.batch.gradients
    assert probe.macs == 3
    with pytest.raises(UnsupportedError, match="one floating tensor"):
        _ = probe.input_shape


def test_a_loss_must_be_one_number(small, batch):
    with pytest.raises(InputError, match="one number"):
        _ = Probe(small(), batch(), loss=lambda outputs, labels: outputs).batch.loss


def test_taylor_along_a_line_agrees_with_differences(small):
    network = small(norm=False)
    network[2] = nn.Tanh()
    point, velocity = torch.randn(2, 1, 2, 6, 6, dtype=torch.float64)
    value, first, second = Probe(network, point).taylor(point, velocity, torch.zeros_like(point))
    with torch.no_grad():
        h = 1e-4
        low, mid, high = (network(point + t * velocity) for t in (-h, 0, h))
    assert torch.allclose(value, mid)
    assert torch.allclose(first, (high - low) / (2 * h), rtol=1e-5)
    assert torch.allclose(second, (high - 2 * mid + low) / h**2, atol=1e-5)


def test_shared_parts_are_computed_once_per_repeat(small, batch):
    probe, calls = Probe(small(), batch()), []
    for _ in range(2):
        probe.remember("part", lambda: calls.append(1))
    assert len(calls) == 1


def test_out_of_memory_is_recognised():
    assert out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
    assert out_of_memory(RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried ..."))
    assert not out_of_memory(RuntimeError("shapes"))
