from __future__ import annotations

import math

import pytest
import torch
from tests.stacking import GROUNDS

from foresee.scoring.stacked import weights
from foresee.scoring.stacked.layers import Samples
from foresee.scoring.stacked.network import Network, Watch
from foresee.scoring.stacked.weights import Stream, normals, truncated


class Weights(Watch):
    """Every parameter of every network, by its name."""

    every_parameter = True

    def __init__(self):
        self.seen = []

    def layer(self, layer, inputs, weights, outputs):
        self.parameter(f"{layer.name}.weight", layer.owners, weights)

    def parameter(self, name, owners, values):
        self.seen.append((name, owners, values))


@pytest.mark.parametrize("name", GROUNDS)
def test_every_parameter_is_bit_for_bit_that_of_the_network_by_itself(name):
    ground = GROUNDS[name]
    architectures = ground.cells()
    wiring, stream = ground.stack(architectures)
    expected = [dict(ground.alone(one).named_parameters()) for one in architectures]
    watch = Weights()
    with torch.no_grad():
        Network(wiring, stream, torch.float32, Samples(), watch)(torch.randn(2, *ground.task.inputs))
    seen: set[tuple[int, str]] = set()
    for parameter, owners, values in watch.seen:
        places = range(len(architectures)) if owners is None else owners.tolist()
        for place, own in zip(places, values, strict=True):
            alone = expected[place][parameter]
            assert torch.equal(own.view(alone.shape), alone)
            seen.add((place, parameter))
    assert seen == {(place, name) for place, own in enumerate(expected) for name in own}


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


@pytest.mark.parametrize("before", [[0], [7], [30, 3, 32, 3], [1, 2, 3, 4]])
@pytest.mark.parametrize("numbers", [16, 48, 25, 90])
def test_truncated_numbers_are_torchs_wherever_each_begins_and_however_many_they_are(before, numbers):
    stream = Stream(5, 400, torch.device("cpu"))
    found = stream.truncated(torch.tensor(before), numbers, 0.02)
    for start, own in zip(before, found, strict=True):
        torch.manual_seed(5)
        torch.empty(start).uniform_()
        assert torch.equal(own, torch.nn.init.trunc_normal_(torch.empty(numbers), std=0.02))
        after = stream.biases(torch.tensor([start + truncated(numbers)]), 1, 1)
        assert torch.equal(after[0], torch.nn.init.uniform_(torch.empty(1), -1, 1))


def test_where_torch_bends_uniform_numbers_there_is_one_stream_of_them(monkeypatch):
    """As versions of torch before did; here what is drawn is this version's, from one beginning."""
    monkeypatch.setattr(weights, "_from_normal", lambda: False)
    stream = Stream(5, 64, torch.device("cpu"))
    whole = torch.nn.init.trunc_normal_(torch.empty(64), std=0.02, generator=torch.Generator().manual_seed(5))
    found = stream.truncated(torch.tensor([0, 3, 20]), 30, 0.02)
    assert torch.equal(found, torch.stack([whole[start : start + 30] for start in (0, 3, 20)]))
    assert truncated(25) == 25
