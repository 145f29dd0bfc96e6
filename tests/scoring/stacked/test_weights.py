from __future__ import annotations

import math

import pytest
import torch
from tests.stacking import GROUNDS

from foresee.scoring.stacked.layers import Samples
from foresee.scoring.stacked.network import Network, Watch
from foresee.scoring.stacked.skeleton import Linear
from foresee.scoring.stacked.weights import Stream, normals


class Weights(Watch):
    """What every layer multiplies with."""

    def __init__(self):
        self.seen = []

    def layer(self, layer, inputs, weights, outputs):
        self.seen.append((layer, weights))


@pytest.mark.parametrize("name", GROUNDS)
def test_the_weights_of_every_layer_are_bit_for_bit_those_of_the_network_by_itself(name):
    ground = GROUNDS[name]
    architectures = ground.cells()
    wiring, stream = ground.stack(architectures)
    expected = [dict(ground.alone(one).named_parameters()) for one in architectures]
    watch = Weights()
    with torch.no_grad():
        Network(wiring, stream, torch.float32, Samples(), watch)(torch.randn(2, *ground.task.inputs))
    seen: set[tuple[int, str]] = set()
    for layer, weights in watch.seen:
        owners = range(len(architectures)) if layer.owners is None else layer.owners.tolist()
        for place, own in zip(owners, weights, strict=True):
            weight = expected[place][f"{layer.name}.weight"]
            assert torch.equal(own.view(weight.shape), weight)
            seen.add((place, f"{layer.name}.weight"))
    every = {(place, name) for place, own in enumerate(expected) for name, p in own.items() if p.ndim > 1}
    assert seen == every
    biased = set()
    for last in (layer for part, layer in wiring.layers.items() if isinstance(part, Linear)):
        biases = stream.biases(last.starts + last.outputs * last.fan, last.outputs, last.fan)
        owners = range(len(architectures)) if last.owners is None else last.owners.tolist()
        for place, own in zip(owners, biases, strict=True):
            assert torch.equal(own, expected[place][f"{last.name}.bias"])
            biased.add(place)
    assert biased == set(range(len(architectures)))


@pytest.mark.parametrize(("before", "shape"), [(0, (4, 4, 1)), (7, (2, 3, 3)), (30, (8, 3, 3)), (41, (5, 5, 1))])
def test_normal_weights_are_torchs_wherever_they_begin_and_however_many_they_are(before, shape):
    filters, inputs, kernel = shape
    torch.manual_seed(5)
    torch.empty(before).uniform_()
    weight = torch.nn.init.kaiming_normal_(torch.empty(filters, inputs, kernel, kernel), mode="fan_out")
    stream = Stream(5, 400, torch.device("cpu"))
    deviation = math.sqrt(2) / math.sqrt(filters * kernel**2)
    found = stream.normals(torch.tensor([before]), filters, inputs * kernel**2, before % 16, deviation)
    assert torch.equal(found.view(weight.shape), weight)
    after = stream.biases(torch.tensor([before + normals(weight.numel())]), 1, 1)
    assert torch.equal(after[0], torch.nn.init.uniform_(torch.empty(1), -1, 1))
