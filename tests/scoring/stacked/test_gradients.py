from __future__ import annotations

import pytest
import torch
from tests.stacking import CELLS, CPU, SEED, WIDTHS

from foresee.data import load
from foresee.probes.derivatives import product
from foresee.proxies.gradients.zico import steadiness
from foresee.scoring.stacked import gradients
from foresee.scoring.stacked.looks import Stack
from foresee.scoring.stacked.seat import Seat
from foresee.scoring.stacked.stacking import Stacker


@pytest.mark.parametrize("most", [2**18, 50])
@pytest.mark.parametrize("ground", [CELLS, WIDTHS])
def test_formulas_are_asked_once_for_all_and_each_place_has_its_own(ground, most, monkeypatch):
    monkeypatch.setattr(gradients, "_ON_CPU", most)
    architectures = ground.cells(1)
    batches = load("synthetic", inputs=ground.task.inputs, outputs=5).batches(2, 4, seed=0)
    stream = Stacker(ground.space, ground.task, CPU)._stream(SEED)
    stack = Stack(ground.skeleton, ground.chosen(architectures), batches, 0, stream, CPU, torch.float64)
    asked = []

    def steady(rows):
        asked.append(len(rows))
        return steadiness(rows)

    many = stack.gradients(2)
    for place in range(len(architectures)):
        runs = Seat(stack, place).at_least(2)
        ratios, products = (many[0].across(many, *how)[place] for how in ((steady, False), (product, True)))
        theta = dict(runs[0].named_parameters())
        assert set(ratios) == set(products) == set(runs[0].gradients)
        for name, own in ratios.items():
            rows = torch.stack([run.gradients[name].flatten() for run in runs])
            torch.testing.assert_close(own, steadiness(rows))
            torch.testing.assert_close(products[name], product(theta[name].detach().flatten(), rows))
    assert sum(asked) == sum(len(leaf.places) for leaf in many[0]._found if leaf.gradient is not None)


def test_weights_of_a_place_are_those_of_its_layers():
    stack = Stack(
        CELLS.skeleton,
        [one.ops for one in CELLS.cells(0)],
        load("synthetic", inputs=CELLS.task.inputs, outputs=5).batches(1, 4, seed=0),
        *(0, Stacker(CELLS.space, CELLS.task, CPU)._stream(SEED), CPU),
    )
    (run,) = Seat(stack, 5).at_least(1)
    network = CELLS.alone(CELLS.cells(0)[5])
    expected = {name for name, p in network.named_parameters() if p.ndim > 1}
    assert set(run.weight_gradients) == expected
    assert set(run.gradients) == {name for name, _ in network.named_parameters()}
