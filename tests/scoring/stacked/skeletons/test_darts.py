from __future__ import annotations

import random

import pytest
import torch
from tests.stacking import CPU, SEED, Ground

from foresee.data import load
from foresee.errors import InputError, UnsupportedError
from foresee.probes.draws import Draws
from foresee.probes.jets import taylor
from foresee.probes.probe import Probe
from foresee.proxies.base import get
from foresee.scoring import Job, Scorer, ScoringSettings, scores
from foresee.scoring.stacked.layers import Curve, Samples
from foresee.scoring.stacked.looks import Stack
from foresee.scoring.stacked.network import Network
from foresee.scoring.stacked.seat import Seat
from foresee.scoring.stacked.skeleton import Cell, Concat, Conv, Linear, Step
from foresee.scoring.stacked.skeletons import choices_of, skeleton_of
from foresee.scoring.stacked.stacking import STACKABLE, Stacker, why_not
from foresee.spaces.darts.cells import NODES, OPS
from foresee.spaces.darts.space import DARTS
from foresee.spaces.find import get as space_called
from foresee.task import Task

SMALL = Ground(DARTS(channels=4, layers=3), 9, [])
#: maps of 17, 9, 5, 3 and 2 pixels a side on the way to the last cell
LARGE = Ground(DARTS(channels=3, layers=3, network="imagenet"), 65, [])
#: a published one of five nodes
OUTSIDE = str(DARTS().named["ENAS"])


def some(ground, count):
    """A published one, and random ones."""
    rng = random.Random(2)
    return [ground.space.named["DARTS_V2"], *(ground.space.sample(rng) for _ in range(count - 1))]


def batches(ground, proxy, size=6):
    data = load("synthetic", inputs=ground.task.inputs, outputs=5)
    return data.batches(proxy.needs.batches, min(proxy.needs.batch, size), seed=0)


def test_cells_read_the_last_two_maps_and_join_four_nodes():
    found = skeleton_of(DARTS(channels=8, layers=5), Task(inputs=(3, 32, 32), outputs=10))
    cells = [part for part in found.parts if isinstance(part, Cell)]
    assert [(cell.outputs, cell.stride) for cell in cells] == [(8, 1), (16, 2), (16, 1), (32, 2), (32, 1)]
    assert all((cell.joined, tuple(cell.nodes)) == (NODES, NODES) for cell in cells)
    halved = [any(isinstance(part, Concat) for part in cell.inputs[0]) for cell in cells]
    assert halved == [False, False, True, False, True]
    assert [part.outputs for part in found.parts if isinstance(part, Conv | Linear)] == [24, 10]
    assert isinstance(found.made[0], Cell)
    assert sorted(map(id, found.made)) == sorted(map(id, found.parts))


def test_a_choice_names_an_operation_and_what_it_reads():
    normal, reduction = skeleton_of(DARTS(layers=3), SMALL.task).parts[2:4]
    assert len(normal.lanes) == 8 * 7
    assert len(reduction.lanes) == 2 * 7 + 6 * 14  # from the second node on there are small maps, too
    for lane in normal.lanes:
        assert lane.sources == tuple(range(lane.target))
        assert len({(pick, op.split(" of ")[0]) for pick, op in lane.choices}) == 1
    ways = {lane.choices[0][1]: lane.way for lane in reduction.lanes if lane.target == 3}
    assert ways["max_pool_3x3 of 0"] == (Step.GREATEST_HALVING,)
    assert ways["max_pool_3x3 of 2"] == (Step.GREATEST,)
    assert {option.split(" of ")[0] for option in ways} == set(OPS)
    chosen = choices_of(DARTS(), DARTS().named["DARTS_V1"])
    assert chosen[:3] == ("sep_conv_3x3 of 1", "sep_conv_3x3 of 0", "skip_connect of 0")
    assert chosen[8:11] == ("max_pool_3x3 of 0", "max_pool_3x3 of 1", "skip_connect of 2")


@pytest.mark.parametrize("name", sorted(STACKABLE))
def test_in_float64_they_agree_to_the_ninth_digit_and_more(name):
    architectures, proxy = some(SMALL, 3), get(name)
    seen, stacker = batches(SMALL, proxy), Stacker(SMALL.space, SMALL.task, CPU)
    stack = Stack(stacker.skeleton, SMALL.chosen(architectures), seen, 0, stacker._stream(SEED), CPU, torch.float64)
    for place, one in enumerate(architectures):
        seat, probe = Seat(stack, place), Probe(SMALL.alone(one).double(), seen, seed=0)
        seat.draws = probe.draws = Draws(0)
        assert float(proxy(seat)) == pytest.approx(float(proxy(probe)), rel=1e-9)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["zico", "sigeo", "foresee"])
def test_in_float32_they_differ_by_rounding(name):
    architectures, proxy = some(SMALL, 3), get(name)
    seen = batches(SMALL, proxy)
    found = Stacker(SMALL.space, SMALL.task, CPU)(SMALL.chosen(architectures), seen, [proxy], seed=0, weights_seed=SEED)
    for one, own in zip(architectures, found, strict=True):
        expected = scores(SMALL.alone(one), seen, [proxy], seed=0)[name]
        assert (own[name].status, own[name].reason) == (expected.status, expected.reason)
        assert own[name].value == pytest.approx(expected.value, rel=2e-2 if name == "zico" else 1e-3)


@pytest.mark.slow
def test_the_stem_for_large_images_gives_two_maps():
    architectures, meco = some(LARGE, 3), get("meco")
    x = torch.randn(3, *LARGE.task.inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    wiring, stream = LARGE.stack(architectures)
    with torch.no_grad():
        outputs = Network(wiring, stream, torch.float64, Samples())(x)
        curves = Network(wiring, stream, torch.float64, Curve())(x)
    seen = batches(LARGE, meco)
    found = Stacker(LARGE.space, LARGE.task, CPU)(LARGE.chosen(architectures), seen, [meco], seed=0, weights_seed=SEED)
    for place, one in enumerate(architectures):
        network = LARGE.alone(one).double()
        torch.testing.assert_close(outputs[place], network(x).detach())
        torch.testing.assert_close(curves[place], torch.cat(taylor(network, *x.split(1))))
        expected = scores(LARGE.alone(one), seen, [meco], seed=0)["meco"]
        assert found[place]["meco"].value == pytest.approx(expected.value, rel=1e-12)


def scorer(**asked):
    settings = {"proxies": ("meco", "foresee"), "inputs": (3, 9, 10), "outputs": 4, "data": "synthetic"}
    return Scorer(
        "darts", ScoringSettings(**settings, batch_size=4, **asked), space_settings={"channels": 2, "layers": 3}
    )


def test_they_are_stacked_and_counted():
    many, alone = scorer(stacked=True), scorer(stacked=False)
    many.check()
    job = Job(tuple(map(str, some(SMALL, 3))), ("meco", "foresee"), 0)
    found, expected = many(job), alone(job)
    assert [one.stacked for one in found] == [{"meco", "foresee"}] * 3
    assert (many.stacked, alone.stacked) == (3, 0)
    for one, other in zip(found, expected, strict=True):
        assert [score.value for score in one.scores] == pytest.approx([score.value for score in other.scores], rel=1e-4)
        assert [(score.status, score.reason) for score in one.scores] == [
            (score.status, score.reason) for score in other.scores
        ]


def test_one_outside_the_space_is_an_error_where_stacks_were_asked_for_and_looked_at_by_itself_elsewhere():
    texts = OUTSIDE, str(some(SMALL, 1)[0])
    asked = scorer(stacked=True)
    wrong, right = asked(Job(texts, ("meco",), 0))
    assert "normal cell: stacks have the space's operations and four nodes" in str(wrong.error)
    assert (right.stacked, asked.stacked) == ({"meco"}, 1)
    free = scorer()
    alone, right = free._stacked(texts, ["meco"], 0)
    (expected,) = scorer(stacked=False)(Job(texts[:1], ("meco",), 0))
    assert [score.value for score in alone.scores] == [score.value for score in expected.scores]
    assert (alone.stacked, right.stacked, free.stacked) == (frozenset(), {"meco"}, 1)


@pytest.mark.parametrize(
    "changes", [("range(2, 6)", "[5, 4, 3, 2]"), ("range(2, 6)", "[4, 5]"), ("sep_conv_3x3", "sep_conv_7x7")]
)
def test_what_lies_outside(changes):
    text = str(DARTS().named["DARTS_V2"])
    other = DARTS().parse(text.replace(*changes))
    with pytest.raises(UnsupportedError, match="joined in order"):
        choices_of(DARTS(), other)


def test_why_networks_of_darts_cells_are_not_stacked():
    meco, task = get("meco"), Task(inputs=(3, 32, 32), outputs=10)
    assert all(why_not(DARTS(), task, get(name)) == "" for name in STACKABLE)
    assert "auxiliary head" in why_not(DARTS(auxiliary=True), task, meco)
    assert "drop_path 0.2" in why_not(DARTS(drop_path=0.2), task, meco)
    assert "one value per channel" in why_not(DARTS(), Task(inputs=(3, 4, 4), outputs=10), meco)
    assert "one value per channel" in why_not(DARTS(network="imagenet"), task, meco)
    assert "architectures of darts_nasi are not stacked" in why_not(space_called("darts_nasi"), task, meco)
    with pytest.raises(InputError, match="auxiliary head is not stacked"):
        Scorer(
            "darts",
            ScoringSettings(proxies=("meco",), inputs=(3, 32, 32), outputs=4, data="synthetic", stacked=True),
            space_settings={"auxiliary": True},
        ).check()
