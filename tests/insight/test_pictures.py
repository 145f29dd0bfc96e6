"""Dextr's pictures as values."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import nn

from foresee import score
from foresee.errors import InputError
from foresee.insight.pictures import Independence, OutputCurve, Stability, independence, output_curve, stability


class Circles(nn.Module):
    """Turns the plane of the first two inputs `times` times while the input turns once, at a size."""

    def __init__(self, times: int, size: float = 1.0) -> None:
        super().__init__()
        self.times, self.size, self.weight = times, size, nn.Parameter(torch.ones(1))

    def forward(self, x):
        angle = torch.atan2(x[:, 1], x[:, 0]) * self.times
        return self.size * torch.stack([angle.cos(), angle.sin(), 0 * angle], dim=1)


def small() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.GELU(), nn.Flatten(), nn.Linear(64, 5))


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("size", [0.01, 7.0])
def test_turns_are_counted_whatever_the_size(times, size):
    found = output_curve(Circles(times, size), torch.zeros(1, 2), points=360)
    assert found.turning == pytest.approx(times, rel=1e-3)
    assert found.length == pytest.approx(times * size / math.sqrt(2), rel=0.01)
    assert found.curvature == pytest.approx(1 / size, rel=0.01)
    assert sum(found.shares) == pytest.approx(1.0)
    assert found.shares[2] == pytest.approx(0, abs=1e-12)


def test_the_curve_is_the_networks_own_outputs():
    """Distances between points are kept where three components hold everything."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3)).double()
    found = output_curve(network, torch.zeros(1, 4), points=16, seed=3)
    again = output_curve(network, torch.zeros(1, 4), points=16, seed=3)
    assert found == again
    assert len(found.points) == 16
    assert sum(found.shares) == pytest.approx(1.0)
    assert OutputCurve.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert found != output_curve(network, torch.zeros(1, 4), points=16, seed=4)


def test_points_alone_or_together_differ_with_batch_norm_and_leave_the_network_as_it_is():
    network, batch = small(), torch.zeros(1, 2, 6, 6)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    alone, together = (output_curve(network, batch, points=12, together=one) for one in (False, True))
    assert alone.points != together.points
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())


def test_a_curve_that_stands_still_has_no_picture():
    network = nn.Sequential(nn.Flatten(), nn.Linear(12, 3))
    nn.init.zeros_(network[1].weight)
    with pytest.raises(FloatingPointError, match="do not move"):
        output_curve(network, torch.zeros(1, 3, 2, 2))
    with pytest.raises(InputError, match="points"):
        output_curve(network, torch.zeros(1, 3, 2, 2), points=2)
    with pytest.raises(InputError, match="radius"):
        output_curve(network, torch.zeros(1, 3, 2, 2), radius=0.0)


def test_independence_sums_to_the_proxy():
    network, batch = small(), torch.randn(1, 2, 6, 6)
    found = independence(network, batch)
    assert found.total == pytest.approx(score(network, batch, "inverse_conditions").value)
    assert found.mean == pytest.approx(found.total / len(found.layers))
    assert Independence.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_stability_is_of_inputs_and_draws():
    network = small()
    torch.manual_seed(1)
    batches = [torch.randn(1, 2, 6, 6) for _ in range(4)]
    found = stability(network, batches)
    expected = [score(network, batch, "dextr", seed=place).value for place, batch in enumerate(batches)]
    assert list(found.values) == pytest.approx(expected)
    assert found.deviation > 0
    assert Stability.from_json(json.loads(json.dumps(found.to_json()))) == found
    with pytest.raises(InputError, match="at least 2"):
        stability(network, batches[:1])
