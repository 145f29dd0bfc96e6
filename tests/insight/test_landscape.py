"""Maps of the loss around weights."""

from __future__ import annotations

import math

import pytest
import torch
from tests.insight.test_objective import batches, small
from torch import nn

from foresee.batch import Batch
from foresee.errors import InputError
from foresee.insight.landscape import Landscape, NearConvex, directions, landscape, near_convex


def test_directions_are_as_long_as_the_filters_and_alike_for_alike_parameters():
    weights = dict(small().named_parameters())
    first, second = (directions(weights, 0, number) for number in (0, 1))
    for name, one in weights.items():
        if one.ndim > 1:
            assert torch.allclose(first[name].flatten(1).norm(dim=1), one.flatten(1).norm(dim=1))
            assert not torch.equal(first[name], second[name])
        else:
            assert not first[name].any()
    other = directions({"0.weight": weights["0.weight"], "new": torch.randn(3, 3)}, 0, 0)
    assert torch.equal(other["0.weight"], first["0.weight"])


def test_a_map_has_its_centre_and_the_loss_of_moved_networks():
    network, data = small(), batches(1)
    found = landscape(network, data, radius=0.5, points=3, variance=True)
    assert found.steps == (-0.5, 0.0, 0.5)
    assert found.loss[1][1] == pytest.approx(found.centre)
    first, second = (directions(dict(network.named_parameters()), 0, number) for number in (0, 1))
    with torch.no_grad():
        for name, one in network.named_parameters():
            one += 0.5 * first[name] - 0.5 * second[name]
    expected = nn.functional.cross_entropy(network.eval()(data[0].inputs), data[0].labels).detach()
    assert found.loss[2][0] == pytest.approx(float(expected), rel=1e-5)
    assert min(min(row) for row in found.deviation) > 0
    assert found.rise >= 0 or math.isfinite(found.rise)
    assert Landscape.from_json(found.to_json()) == found


def test_a_linear_model_is_convex_and_a_product_is_not():
    torch.manual_seed(0)
    data = [Batch(torch.randn(20, 4), torch.randint(0, 3, (20,)))]
    assert near_convex(nn.Linear(4, 3), data, lines=2, points=4, reach=2.0).radii == (2.0,) * 4

    class Bump(nn.Module):
        """-cos of the weight: convex within a quarter of a turn."""

        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.full((1, 1), 1e-6))
            self.scale = nn.Parameter(torch.full((1, 1), 2 * math.pi))

        def forward(self, x):
            return (1.5 - torch.cos(self.scale * 1.0)).sqrt().expand(len(x), 1)

    squares = [Batch(torch.zeros(2, 1), torch.tensor([[0.0], [1e-9]]))]
    found = near_convex(Bump(), squares, lines=1, points=40, reach=1.0)
    assert found.mean == pytest.approx(0.25, abs=0.06)
    assert found.least <= found.mean
    assert NearConvex.from_json(found.to_json()) == found


def test_what_cannot_be_asked_for():
    with pytest.raises(InputError, match="odd"):
        landscape(small(), batches(), points=4)
