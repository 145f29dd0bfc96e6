from __future__ import annotations

import pytest
import torch
from tests.stacking import GROUNDS

from foresee.probes.jets import taylor
from foresee.scoring.stacked.layers import Curve, Samples
from foresee.scoring.stacked.network import Network


@pytest.mark.parametrize("name", GROUNDS)
def test_outputs_and_curves_are_those_of_each_network_by_itself(name):
    ground = GROUNDS[name]
    architectures = ground.cells()
    x = torch.randn(3, *ground.task.inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    wiring, stream = ground.stack(architectures)
    with torch.no_grad():
        outputs = Network(wiring, stream, torch.float64, Samples())(x)
        curves = Network(wiring, stream, torch.float64, Curve())(x)
    for place, one in enumerate(architectures):
        network = ground.alone(one).double()
        torch.testing.assert_close(outputs[place], network(x).detach())
        torch.testing.assert_close(curves[place], torch.cat(taylor(network, *x.split(1))))
    assert float(outputs.std()) > 0.01
