from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.errors import UnsupportedError
from foresee.probes.exchanges import Exchanges, as_maps, directions, grouped
from foresee.probes.probe import Probe
from foresee.probes.sphericity import sphericity


def alone(maps):
    """What a look says of maps, each by itself."""
    return sphericity(grouped(maps, 256, 8)).mean()


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
    assert torch.allclose(seen.reads, alone(as_maps(x, layer)))
    assert torch.allclose(seen.told, alone(as_maps(projection, layer)))
    assert torch.allclose(seen.change, (layer.weight * (projection.T @ x)).norm() / 10**0.5)
    assert torch.equal(seen.changes, seen.change[None])
    assert (seen.weights.tolist(), seen.positions.tolist()) == ([6.0], [1.0])


def test_changes_of_layers_are_those_of_the_network_together():
    torch.manual_seed(2)
    shared = nn.Conv2d(4, 4, 3, padding=1)
    network = nn.Sequential(
        nn.Conv2d(3, 4, 3), shared, nn.ReLU(), shared, nn.AvgPool2d(2), nn.Flatten(), nn.Linear(36, 2)
    )
    seen = Probe(network, torch.randn(4, 3, 8, 8)).batch.see(Exchanges())
    assert seen.positions.tolist() == [36.0, 36.0, 36.0, 1.0]
    assert torch.allclose(seen.changes.norm(), seen.change)
    assert seen.changes[1] == seen.changes[2] > 0


def test_a_weight_that_is_made_of_others_has_their_change():
    network = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(6, 5)), nn.ReLU(), nn.Linear(5, 2))
    seen = Probe(network, torch.randn(4, 6)).batch.see(Exchanges())
    assert seen.changes[0] > 0
    assert torch.allclose(seen.changes.norm(), seen.change)


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


# -- layers that are no modules of torch -----------------------------------------------------------------------------------
class InFunctions(nn.Module):
    """The network of `in_modules`, with functions for layers."""

    def __init__(self, modules):
        super().__init__()
        self.conv, self.up, self.out = (nn.Parameter(modules[n].weight.detach().clone()) for n in (0, 2, 5))

    def forward(self, x):
        maps = F.relu(F.conv2d(x, self.conv))
        maps = F.relu(F.conv_transpose2d(maps, self.up, stride=2))
        return maps.mean((2, 3)) @ self.out.T


def in_modules():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, bias=False),
        nn.ReLU(),
        nn.ConvTranspose2d(8, 6, 4, stride=2, bias=False),
        nn.ReLU(),
        nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        nn.Linear(6, 4, bias=False),
    )


def test_functions_and_modules_are_the_same_network():
    modules, x = in_modules(), torch.randn(8, 3, 8, 8)
    first = Probe(modules, x).batch.see(Exchanges())
    second = Probe(InFunctions(modules), x).batch.see(Exchanges())
    order = [0, 2, 1]  # modules that hooks hear come before what the graph shows
    for name in ("weights", "directions", "positions", "reads", "told", "changes"):
        assert torch.allclose(getattr(first, name)[order], getattr(second, name), atol=1e-6), name
    assert torch.allclose(first.change, second.change)


def test_scripted_networks_are_seen_in_the_graph():
    modules, x = in_modules(), torch.randn(8, 3, 8, 8)
    plain, scripted = (Probe(one, x).batch.see(Exchanges()) for one in (modules, torch.jit.script(modules)))
    assert torch.allclose(plain.reads.sort().values, scripted.reads.sort().values, atol=1e-6)
    assert torch.allclose(plain.told.sort().values, scripted.told.sort().values, atol=1e-6)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_gates_of_recurrent_layers_step_by_step(kind):
    """Against the cell of the same weights, run by hand: what is told is the gradient by what the gates are made of."""

    class Last(nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return self.layer(x)[0][:, -1]

    torch.manual_seed(0)
    layer, x = kind(3, 2, batch_first=True), torch.randn(4, 6, 3)
    probe = Probe(Last(layer), x, seed=2)
    seen = probe.batch.see(Exchanges())
    weights = {name: value.detach() for name, value in layer.named_parameters()}
    gates, states, state, memory = [], [], torch.zeros(4, 2), torch.zeros(4, 2)
    for t in range(6):
        made = F.linear(state, weights["weight_hh_l0"], weights["bias_hh_l0"]).requires_grad_()
        read = F.linear(x[:, t], weights["weight_ih_l0"], weights["bias_ih_l0"])
        states.append(state.detach())
        gates.append(made)
        made.retain_grad()
        if kind is nn.LSTM:
            i, f, g, o = (made + read).chunk(4, dim=1)
            memory = f.sigmoid() * memory + i.sigmoid() * g.tanh()
            state = o.sigmoid() * memory.tanh()
        else:
            (r, z, n), (hr, hz, hn) = read.chunk(3, dim=1), made.chunk(3, dim=1)
            r, z = (r + hr).sigmoid(), (z + hz).sigmoid()
            state = (1 - z) * (n + r * hn).tanh() + z * state
    state.backward(probe.draws.normal("projection.4x2", 4, 2))
    told = torch.stack([one.grad for one in gates], dim=-1)
    hidden = seen.directions.tolist().index(2.0)
    assert torch.allclose(seen.reads[hidden], alone(torch.stack(states, dim=-1)), atol=1e-6)
    assert torch.allclose(seen.told[hidden], alone(told), atol=1e-5)


def test_recurrent_networks_are_looked_at_alone():
    """Other looks of the same call must not see the rounding of layers that run step by step."""

    class Sequence(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.head = nn.LSTM(8, 6, 2, batch_first=True), nn.Linear(6, 3)

        def forward(self, x):
            return self.head(self.layer(x)[0][:, -1])

    torch.manual_seed(0)
    network, batch = Sequence(), (torch.randn(4, 5, 8), torch.tensor([0, 1, 2, 0]))
    together = Probe(network, batch, looks=["batch.gradients", "batch.exchanges"]).batch
    together.see("exchanges")
    alone = Probe(network, batch).batch.gradients
    assert all(torch.equal(alone[name], gradient) for name, gradient in together.gradients.items())


def test_looks_at_functions_can_be_differentiated():
    modules, x = in_modules(), torch.randn(8, 3, 8, 8)
    network = InFunctions(modules).double()
    seen = Probe(network, x.double(), create_graph=True).batch.see(Exchanges())
    (gradient,) = torch.autograd.grad(seen.reads.sum() + seen.told.sum() + seen.change, network.conv)
    assert gradient.isfinite().all()
    assert gradient.abs().sum() > 0
