from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from foresee.batch import Batch
from foresee.errors import UnsupportedError
from foresee.probes.probe import Probe


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


def test_inside_no_grad_and_inference_mode(small, batch):
    network, data = small(), batch()
    expected = Probe(network, data).batch.gradients
    with torch.no_grad():
        assert torch.equal(Probe(network, data).batch.gradients["0.weight"], expected["0.weight"])
    with torch.inference_mode():
        own = Batch(data[0] * 1, data[1] * 1)  # inference tensors
        assert torch.equal(Probe(network, own).batch.gradients["0.weight"], expected["0.weight"])
    assert torch.equal(Probe(network, own).batch.gradients["0.weight"], expected["0.weight"])


def test_shared_parts_are_computed_once_per_repeat(small, batch):
    probe, calls = Probe(small(), batch()), []
    for _ in range(2):
        probe.remember("part", lambda: calls.append(1))
    assert len(calls) == 1


def test_batches_are_moved_to_the_type_of_the_network(small, batch):
    inputs, labels = batch(dtype=torch.float32)
    assert Probe(small(dtype=torch.float64), (inputs, labels)).batch.outputs.dtype == torch.float64


def test_inputs_are_copied_wherever_they_come_from():
    whole, numbers = torch.ones(2, 3, requires_grad=True), torch.arange(2)
    probe = Probe(nn.Linear(3, 1), Batch((whole, numbers)))
    for moved in (probe.moved((whole, numbers)), probe.moved((whole[:1], numbers[:1]), torch.float64)):
        assert not moved[0].requires_grad
        assert moved[1].dtype == numbers.dtype
        moved[0].zero_()
        moved[1].zero_()
    assert moved[0].dtype == torch.float64
    assert whole.tolist() == [[1.0] * 3] * 2
    assert numbers.tolist() == [0, 1]


def test_labels_are_copied_and_have_one_door():
    labels = torch.arange(3)
    batch = Batch(torch.ones(3, 2), labels)
    probe = Probe(nn.Linear(2, 3), batch)
    probe.told(batch).zero_()
    assert probe.told(batch, slice(1, 2)).tolist() == [1]
    assert labels.tolist() == [0, 1, 2]
    with pytest.raises(UnsupportedError, match="no labels"):
        probe.told(Batch(torch.ones(3, 2)))


def test_a_compiled_network_is_looked_at_as_it_was_written():
    plain = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
    batch = Batch(torch.randn(4, 4, generator=torch.Generator().manual_seed(0)))
    compiled = torch.compile(plain, backend="eager")
    compiled(batch.inputs)  # compiled before there was any hook
    seen = [len(Probe(one, batch).batch.see("patterns")) for one in (plain, compiled)]
    assert seen == [1, 1]


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Linear(2, 3, device="meta"), "weights are on the meta device"),
        (nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 3, device="meta")), "weights are on the meta device"),
        (nn.Linear(2, 3, dtype=torch.complex64), "complex"),
    ],
)
def test_networks_without_usable_numbers_are_unsupported(network, message):
    inputs = torch.ones(3, 2)
    with pytest.raises(UnsupportedError, match=message):
        _ = (
            Probe(network, (inputs, torch.arange(3))).batch.gradients
            if "meta" in message
            else Probe(network, inputs).weights
        )
