from __future__ import annotations

import pytest
import torch
from tests.probes.counted import Counted
from torch import nn

from foresee.batch import Batch
from foresee.errors import UnsupportedError
from foresee.probes.probe import Probe


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
