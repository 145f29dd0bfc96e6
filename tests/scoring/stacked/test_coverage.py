from __future__ import annotations

import pytest
from tests.stacking import CELLS, TOKENS

from foresee.data import load
from foresee.probes.coverage import Coverage
from foresee.probes.exchanges import Exchanges
from foresee.probes.probe import Probe
from foresee.scoring.stacked.coverage import covered

LOOKS = {
    "features": lambda probe: probe.sample.see("features"),
    "exchanges": lambda probe: probe.batch.see(Exchanges()),
    "weights": lambda probe: probe.weights,
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_sees_as_much_of_each_network_as_of_it_alone(look):
    architectures = TOKENS.cells(2)
    wiring, _ = TOKENS.stack(architectures)
    batches = load("synthetic", inputs=TOKENS.task.inputs, outputs=5).batches(1, 4, seed=0)
    for one, found in zip(architectures, covered(wiring, look), strict=True):
        probe = Probe(TOKENS.alone(one), batches, seed=0)
        LOOKS[look](probe)
        assert probe.remarks == {found}
        assert found.share < 1


def test_networks_of_layers_alone_are_seen_as_a_whole():
    wiring, _ = CELLS.stack(CELLS.cells(0))
    assert [covered(wiring, look) for look in LOOKS] == [[Coverage()] * len(CELLS.special)] * 3
