from __future__ import annotations

import random

import pytest
import torch
from tests.stacking import CPU, MACRO, SEED

from foresee.data import load
from foresee.errors import UnsupportedError
from foresee.probes.draws import Draws
from foresee.probes.probe import Probe
from foresee.proxies.base import get
from foresee.scoring import Job, Scorer, ScoringSettings, scores
from foresee.scoring.stacked.looks import Stack
from foresee.scoring.stacked.seat import Seat
from foresee.scoring.stacked.skeleton import Cell, Conv, Linear, Step, Sum
from foresee.scoring.stacked.skeletons import skeleton_of
from foresee.scoring.stacked.stacking import STACKABLE, Stacker
from foresee.spaces.nasbench_macro.architecture import OPS
from foresee.spaces.nasbench_macro.space import NASBenchMacro
from foresee.task import Task


def some(count):
    """One of identities alone, and random ones."""
    rng = random.Random(1)
    return [MACRO.space.parse("00000000"), *(MACRO.space.sample(rng) for _ in range(count - 1))]


def batches(proxy, size=6):
    data = load("synthetic", inputs=MACRO.task.inputs, outputs=5)
    return data.batches(proxy.needs.batches, min(proxy.needs.batch, size), seed=0)


def test_a_layer_is_a_cell_of_one_edge_with_three_ways():
    found = skeleton_of(NASBenchMacro(channels=8, head=20), Task(inputs=(3, 32, 32), outputs=10))
    cells = [part for part in found.parts if isinstance(part, Cell)]
    assert [(cell.outputs, cell.stride) for cell in cells] == [
        *((16, 2), (16, 1)),
        *((32, 2), (32, 1), (32, 1)),
        *((64, 2), (64, 1), (64, 1)),
    ]
    for number, cell in enumerate(cells):
        (edge,) = cell.edges
        assert (edge.source, edge.target, edge.pick) == (0, 1, number)
        assert [option for option, _ in edge.ways] == list(OPS)
        nothing, *bottlenecks = (way for _, way in edge.ways)
        assert (nothing == (Step.IDENTITY,)) == (cell.stride == 1)
        assert all(isinstance(way[0], Sum) == (cell.stride == 1) for way in bottlenecks)
    assert [part.outputs for part in found.parts if isinstance(part, Conv | Linear)] == [8, 20, 10]
    assert (found.image, found.pieces, found.normal) == ((3, 32, 32), 1, False)


@pytest.mark.parametrize("name", sorted(STACKABLE))
def test_random_networks_and_one_of_identities_have_the_scores_of_one_by_one(name):
    architectures, proxy = some(6), get(name)
    seen = batches(proxy)
    found = Stacker(MACRO.space, MACRO.task, CPU)(
        [one.ops for one in architectures], seen, [proxy], seed=0, weights_seed=SEED
    )
    for one, own in zip(architectures, found, strict=True):
        expected = scores(MACRO.alone(one), seen, [proxy], seed=0)[name]
        assert (own[name].status, own[name].reason) == (expected.status, expected.reason)
        rough = {"zico": 2e-2, "sigeo": 1e-3, "foresee": 1e-3}.get(name, 1e-6)  # in float32: see docs/speed.md
        assert own[name].value == pytest.approx(expected.value, rel=rough)


@pytest.mark.parametrize("name", sorted(STACKABLE))
def test_in_float64_they_agree_to_the_seventh_digit_and_more(name):
    architectures, proxy = some(4), get(name)
    seen = batches(proxy)
    stacker = Stacker(MACRO.space, MACRO.task, CPU)
    stack = Stack(
        stacker.skeleton, [one.ops for one in architectures], seen, 0, stacker._stream(SEED), CPU, torch.float64
    )
    for place, one in enumerate(architectures):
        seat, probe = Seat(stack, place), Probe(MACRO.alone(one).double(), seen, seed=0)
        seat.draws = probe.draws = Draws(0)
        assert float(proxy(seat)) == pytest.approx(float(proxy(probe)), rel=1e-7)  # type: ignore[arg-type]


def test_they_are_stacked_and_counted():
    settings = {"proxies": ("meco", "foresee"), "inputs": (3, 17, 16), "outputs": 4, "data": "synthetic"}
    many, alone = (
        Scorer(
            "nasbench_macro",
            ScoringSettings(**settings, batch_size=4, stacked=stacked),
            space_settings={"channels": 2, "head": 5},
        )
        for stacked in (True, False)
    )
    many.check()
    job = Job(("00000000", "12000021", "01201201"), settings["proxies"], 0)
    found, expected = many(job), alone(job)
    assert [one.stacked for one in found] == [frozenset(settings["proxies"])] * 3
    assert (many.stacked, alone.stacked) == (3, 0)
    for one, other in zip(found, expected, strict=True):
        assert [score.value for score in one.scores] == pytest.approx([score.value for score in other.scores], rel=1e-4)
        assert [(score.status, score.reason) for score in one.scores] == [
            (score.status, score.reason) for score in other.scores
        ]


def test_images_that_end_in_one_position_are_not_stacked():
    with pytest.raises(UnsupportedError, match="images of 8x8: batch norm has one value per channel"):
        skeleton_of(MACRO.space, Task(inputs=(3, 8, 8), outputs=2))
    assert skeleton_of(MACRO.space, Task(inputs=(1, 9, 12), outputs=2)).image == (1, 9, 12)
