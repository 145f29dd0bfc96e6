from __future__ import annotations

import random

import pytest
from tests.stacking import CPU, MICRO, SEED

from foresee.data import load
from foresee.proxies.base import get
from foresee.scoring.one import scores
from foresee.scoring.stacked.stacking import Stacker
from foresee.spaces.four_nodes import EDGES


def reaches(cell):
    """Whether anything of the input gets to the output."""
    reached = {0}
    for (source, target), op in zip(EDGES, cell.ops, strict=True):
        if op != "none" and source in reached:
            reached.add(target)
    return 3 in reached


def test_cells_without_a_way_and_random_ones_have_the_scores_of_one_by_one():
    loose = [one for one in MICRO.space.enumerate() if not reaches(one)]
    assert len(loose) == 169
    rng = random.Random(1)
    some = [*rng.sample(loose, 12), *(MICRO.space.sample(rng) for _ in range(12))]
    meco = get("meco")
    batches = load("synthetic", inputs=MICRO.task.inputs, outputs=5).batches(1, 1, seed=0)
    stacker = Stacker(MICRO.space, MICRO.task, CPU)
    found = stacker([one.ops for one in some], batches, [meco], seed=0, weights_seed=SEED)
    for one, own in zip(some, found, strict=True):
        expected = scores(MICRO.alone(one), batches, [meco], seed=0)["meco"]
        assert (own["meco"].status, own["meco"].reason) == (expected.status, expected.reason)
        assert own["meco"].value == pytest.approx(expected.value, rel=1e-12)
