from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.proxies import Probe
from foresee.proxies.gradients.fisher import importance
from foresee.scoring import score, scores

RANDOM = examples(12)


def slow_fisher(network, x, y):
    """Outputs of the layers with their gradients, then one channel of one sample after the other."""
    network, outputs = copy.deepcopy(network), []

    def keep(module, args, output):
        output.retain_grad()
        outputs.append((module, output))
        return output.clone()

    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            module.register_forward_hook(keep)
    F.cross_entropy(network.train()(x), y).backward()
    total = 0.0
    for module, output in outputs:
        if isinstance(module, nn.Linear):
            output, gradient = output.movedim(-1, 1), output.grad.movedim(-1, 1)
        else:
            gradient = output.grad
        channels = output.shape[1]
        for c in range(channels):
            squares = [(output[b, c] * gradient[b, c]).sum().item() ** 2 for b in range(len(x))]
            total += module.weight[0].numel() * sum(squares) / len(x) / 2
    return total


@pytest.mark.checks("fisher")
@RANDOM
@given(seed=st.integers(0, 10**6), norm=st.booleans(), channels=st.integers(1, 4))
def test_the_formula(small, batch, seed, norm, channels):
    network, (x, y) = small(seed, norm=norm, channels=channels), batch(5, seed)
    assert score(network, (x, y), "fisher").value == pytest.approx(slow_fisher(network, x, y), rel=1e-9)


def test_channels_of_tokens_are_the_last_axis():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 3), nn.GELU(), nn.Flatten(), nn.Linear(15, 2)).double()
    x, y = torch.randn(6, 5, 4, dtype=torch.float64), torch.arange(6) % 2
    found = score(network, (x, y), "fisher").value
    assert found == pytest.approx(slow_fisher(network, x, y), rel=1e-9)
    assert score(network, (x, y), "fisher:reference").value != pytest.approx(found, rel=1e-3)


class Overwriting(nn.Module):
    """Writes over the outputs of its layers, in modules and in functions."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = nn.Conv2d(2, 3, 3), nn.Conv2d(3, 3, 1), nn.Linear(48, 5)
        self.activation = nn.SiLU(inplace=True)

    def forward(self, x):
        x = self.activation(self.first(x))
        y = self.second(x)
        y += 1
        return self.last((x * y).flatten(1))


def test_outputs_that_are_written_over(batch):
    torch.manual_seed(1)
    network, (x, y) = Overwriting().double(), batch()
    assert score(network, (x, y), "fisher").value == pytest.approx(slow_fisher(network, x, y), rel=1e-9)


def test_one_run_serves_the_whole_family(small, batch):
    network, (x, y) = small(), batch()
    alone = {name: score(network, (x, y), name).value for name in ("fisher", "snip", "plain", "jacov")}
    runs = []
    network.register_forward_hook(lambda *_: runs.append(1))
    together = scores(network, (x, y), ["snip", "plain", "jacov", "fisher"])
    assert len(runs) == 1
    assert {name: found.value for name, found in together.items()} == pytest.approx(alone, rel=1e-12)


def test_nothing_is_kept(small, batch):
    probe = Probe(small(), batch())
    layers = probe.batch.see("channels")
    assert [tuple(layer.products.shape) for layer in layers] == [(6, 3), (6, 4), (6, 5)]
    assert all(layer.activation is None for layer in layers)
    assert not any(layer.products.requires_grad for layer in layers)


def test_frozen_and_idle_layers_count_nothing(small, batch):
    class Idle(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.idle = small(), nn.Conv2d(2, 2, 1).double()

        def forward(self, x):
            self.idle(x)
            return self.used(x)

    whole = score(small(), batch(), "fisher").value
    network = Idle()
    assert score(network, batch(), "fisher").value == pytest.approx(whole, rel=1e-12)
    network.used[0].weight.requires_grad_(False)
    assert score(network, batch(), "fisher").value < whole
    assert score(network.requires_grad_(False), batch(), "fisher").status == "unsupported"
    assert "no labels" in score(small(), batch()[0], "fisher").reason


def test_a_layer_called_twice_counts_twice():
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3).double()

        def forward(self, x):
            return self.layer(self.layer(x))

    torch.manual_seed(0)
    network, x, y = Twice(), torch.randn(4, 3, dtype=torch.float64), torch.tensor([0, 1, 2, 0])
    assert score(network, (x, y), "fisher").value == pytest.approx(slow_fisher(network, x, y), rel=1e-9)


def test_the_order_of_samples_does_not_matter(small, batch):
    x, y = batch()
    forward = score(small(), (x, y), "fisher").value
    assert score(small(), (x.flip(0), y.flip(0)), "fisher").value == pytest.approx(forward, rel=1e-9)


def test_importance_broadcasts():
    products = torch.randn(2, 3, 4, 5, dtype=torch.float64)
    assert importance(products).shape == (2, 3)
    expected = sum(float(p) ** 2 for p in products[1, 2].flatten()) / 4 / 2
    assert float(importance(products)[1, 2]) == pytest.approx(expected)
