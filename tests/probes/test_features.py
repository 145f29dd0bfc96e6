from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import foresee as fs
from foresee.probes.probe import Probe


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.relu = nn.Conv2d(2, 3, 3), nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.conv(x)).flatten(1)


class Twice(nn.Module):
    """One layer, called twice."""

    def __init__(self):
        super().__init__()
        self.layer, self.relu = nn.Conv2d(2, 2, 1), nn.ReLU()

    def forward(self, x):
        return self.relu(self.layer(self.relu(self.layer(x))))


def test_features_are_seen_before_an_in_place_activation():
    network, x = InPlace(), torch.randn(2, 2, 5, 5)
    conv, relu = Probe(network, x).sample.features
    expected = network.conv(x[:1])[0].double()
    assert conv.name == "conv"
    assert conv.map.shape == (3, 9)
    assert torch.allclose(conv.map, expected.flatten(1), atol=1e-6)
    assert torch.allclose(relu.map, expected.relu().flatten(1), atol=1e-6)


def test_functional_writes_are_noticed_too():
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(2, 2, 3, padding=1), nn.BatchNorm2d(2)

        def forward(self, x):
            out = self.norm(self.conv(x))
            out += x
            return F.relu_(out).flatten(1)

    network, x = Residual().double(), torch.randn(1, 2, 5, 5, dtype=torch.float64)
    conv, norm = Probe(network, x).sample.features
    expected = network.conv(x)
    assert torch.allclose(conv.map, expected[0].flatten(1))
    assert torch.allclose(norm.map, network.norm(expected)[0].flatten(1))


def test_every_call_is_seen_in_order():
    network, x = Twice().double(), torch.randn(3, 2, 4, 4, dtype=torch.float64)
    probe = Probe(network, x)
    assert [f.name for f in probe.sample.features] == ["layer", "relu", "layer", "relu"]
    assert [f.name for f in probe.sample.see("features_of_all")][-1] == ""
    first = network.layer(x)
    second = network.layer(first.relu())
    for seen, expected in zip(probe.batch.patterns, (first, second), strict=True):
        assert torch.equal(seen.positive, expected > 0)


@pytest.mark.parametrize("activation", [nn.GELU(), nn.SiLU(), nn.LeakyReLU(), nn.PReLU(), nn.ReLU6(), nn.Hardswish()])
def test_relu_like_modules_have_patterns(activation):
    x = torch.randn(2, 4)
    (pattern,) = Probe(nn.Sequential(nn.Identity(), activation), x).batch.patterns
    assert torch.equal(pattern.positive, x > 0)


@pytest.mark.parametrize("other", [nn.Sigmoid(), nn.Hardtanh(), nn.Identity(), nn.Softmax(1)])
def test_others_have_none(other):
    assert Probe(nn.Sequential(other), torch.randn(2, 4)).batch.patterns == []


def test_features_of_modules_that_return_more_than_a_tensor():
    class Odd(nn.Module):
        def forward(self, x):
            return {"a": (x.long(), None), "b": x}

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.odd, self.lstm, self.head = Odd(), nn.LSTM(3, 4, batch_first=True), nn.Linear(4, 2)

        def forward(self, x):
            return self.head(self.lstm(self.odd(x)["b"])[0][:, -1])

    features = Probe(Net(), torch.randn(2, 5, 3)).sample.features
    assert [(f.name, tuple(f.map.shape)) for f in features] == [("lstm", (5, 4)), ("head", (2, 1))]


class Argmax(nn.Sequential):
    """Whole numbers for outputs: nothing of a NaN is seen in them."""

    def forward(self, x):
        return super().forward(x).argmax(1)


@pytest.mark.parametrize("proxy", ["naswot", "swap", "linear_regions"])
@pytest.mark.parametrize("kind", [nn.Sequential, Argmax])
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_patterns_of_what_is_no_number_have_a_status(proxy, kind, number):
    layers = (nn.Conv2d(2, 3, 3), nn.ReLU(inplace=True), nn.Conv2d(3, 3, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(3))
    network, x = kind(*layers), torch.randn(4, 2, 6, 6)
    network(x)
    assert fs.score(network, x, proxy, initialise="default").ok
    with torch.no_grad():
        network[2].weight[1, 0, 2, 2] = number
    found = fs.score(network, x, proxy, initialise="default")  # swap draws weights of its own otherwise
    assert found.status == "nan"
    assert found.reason == "what goes into an activation is NaN or infinite"


def test_numbers_that_appear_at_single_places_are_seen_in_the_outputs():
    class Root(nn.Module):
        def forward(self, x):
            return x.sqrt()  # NaN where it is negative

    network = nn.Sequential(nn.ReLU(), Root(), nn.Flatten(), nn.Linear(8, 2))
    x = torch.rand(3, 2, 2, 2)
    assert fs.score(network, x, "linear_regions").ok
    network[0] = nn.LeakyReLU()
    x[1, 1, 1, 1] = -1
    assert fs.score(network, x, "linear_regions").reason == "the outputs are NaN or infinite"
