from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.errors import UnsupportedError
from foresee.probes.exchanges import Exchanges, as_maps, directions, grouped
from foresee.probes.probe import Probe


class Detached(nn.Linear):
    def forward(self, x):
        return super().forward(x).detach()


def test_one_layer_by_hand():
    """The gradient by the output is the projection itself, that by the weights its product with the input."""
    layer, x = nn.Linear(3, 2).double(), torch.randn(5, 3, dtype=torch.float64)
    probe = Probe(layer, x, seed=3)
    projection = probe.draws.normal("projection.5x2", 5, 2)
    seen = probe.batch.see(Exchanges())
    assert seen.directions.tolist() == [3.0]
    assert torch.allclose(seen.reads, Exchanges()._look(as_maps(x, layer)))
    assert torch.allclose(seen.told, Exchanges()._look(as_maps(projection, layer)))
    assert torch.allclose(seen.change, (layer.weight * (projection.T @ x)).norm() / 10**0.5)


def test_frozen_weights_are_seen_and_are_nobody_elses_targets(small, batch):
    network = small()
    free = Probe(network, batch()).batch.see(Exchanges())
    network[0].requires_grad_(False)
    looks = ["batch.gradients", "batch.channels", "batch.exchanges", "batch.jacobian"]
    together, alone = Probe(network, batch(), looks=looks).batch, Probe(network, batch()).batch
    assert torch.equal(together.see("exchanges").change, free.change)
    assert torch.equal(together.see("exchanges").told, free.told)
    assert list(together.gradients) == list(alone.gradients)
    assert not any(name.startswith("0.") for name in together.gradients)
    assert [one.module for one in together.see("channels")] == [network[3], network[6]]
    assert not network[0].weight.requires_grad


def test_each_root_is_heard_by_its_own_look_only(small, batch):
    looks = ["batch.channels", "batch.exchanges", "batch.jacobian"]
    together = Probe(small(), batch(), looks=looks).batch
    for look in ("channels", "exchanges"):
        alone = Probe(small(), batch()).batch.see(look)
        found = together.see(look)
        if look == "exchanges":
            assert torch.equal(found.told, alone.told)
        else:
            assert all(torch.equal(a.products, b.products) for a, b in zip(found, alone, strict=True))


def test_company_does_not_decide_whether_there_is_anything_to_see():
    """The inputs ask for gradients where a Jacobian is seen: that makes no weight matter."""
    for looks in ([], ["batch.jacobian"]):
        probe = Probe(nn.Sequential(Detached(3, 3), nn.ReLU()), torch.randn(4, 3), looks=looks)
        with pytest.raises(UnsupportedError, match="differentiable"):
            probe.batch.see(Exchanges())


@given(samples=st.integers(1, 12), rows=st.integers(1, 20), positions=st.integers(1, 40), columns=st.integers(1, 9))
@examples(80)
def test_groups_have_enough_columns_and_every_sample_at_most_once(samples, rows, positions, columns):
    maps = torch.arange(samples * rows * positions).reshape(samples, rows, positions)
    found = grouped(maps, channels=8, columns=columns)
    kept = min(rows, 8)
    assert found.shape[1] == kept
    assert found.shape[2] >= columns * kept or found.shape[2] == samples * positions
    assert found.unique().numel() == found.numel()
    assert found.numel() >= kept * positions * (samples + 1) // 2


def test_channels_of_layers():
    assert as_maps(torch.zeros(2, 7, 5), nn.Linear(5, 1)).shape == (2, 5, 7)
    assert as_maps(torch.zeros(2, 5), nn.Linear(5, 1)).shape == (2, 5, 1)
    assert as_maps(torch.zeros(2, 5, 4, 4), nn.Conv2d(5, 1, 1)).shape == (2, 5, 16)
    assert as_maps(torch.zeros(2, 5, 4), nn.Conv1d(5, 1, 1)).shape == (2, 5, 4)
    assert directions(nn.Linear(5, 1)) == 5
