"""What is measured around a network, on one whose loss is known."""

from __future__ import annotations

import torch
from torch import nn

from foresee.batch import Batch
from foresee.insight.around import MEASURED, Around, Looks, look_around

LOOKS = Looks(points=3, radius=0.25, samples=2, lanczos=2, lines=1)


def test_a_convex_loss():
    """Squares of a linear network: the Hessian is known, and every line is convex to its end."""
    torch.manual_seed(0)
    network = nn.Linear(2, 1, bias=False)
    batch = Batch(torch.tensor([[3.0, 0.0], [0.0, 1.0]]), torch.tensor([[0.5], [0.2]]))
    before = network.weight.detach().clone()
    found = look_around(network, [batch], LOOKS, cell="line", trained=4, seed=1)
    assert round(found.curvature.largest, 6) == 9.0
    assert set(found.convex.radii) == {0.25}
    assert found.landscape.loss[1][1] == found.loss
    assert found.noise > 0
    assert torch.equal(network.weight, before)
    assert Around.from_json(found.to_json()) == found
    assert {name for name, read in MEASURED.items() if read(found) == read(found)} == set(MEASURED)
