from __future__ import annotations

import random

import pytest
import torch
from tests.stacking import CPU, SEED, WIDTHS

from foresee.data import load
from foresee.errors import UnsupportedError
from foresee.probes.draws import Draws
from foresee.probes.probe import Probe
from foresee.proxies.base import get
from foresee.scoring import Job, Scorer, ScoringSettings, scores
from foresee.scoring.stacked.features import FeatureMaps
from foresee.scoring.stacked.layers import Samples
from foresee.scoring.stacked.looks import Stack
from foresee.scoring.stacked.network import Network
from foresee.scoring.stacked.seat import Seat
from foresee.scoring.stacked.skeleton import Either, First, Step
from foresee.scoring.stacked.skeletons import choices_of, skeleton_of
from foresee.scoring.stacked.stacking import STACKABLE, Stacker, why_not
from foresee.scoring.stacked.wiring import Wiring
from foresee.spaces.nats_size import NATSSize
from foresee.task import Task


def some(count):
    """Two that have three blocks in common, and random ones."""
    rng = random.Random(1)
    common = [WIDTHS.space.parse(text) for text in ("4:4:6:6:3", "4:4:6:2:3")]
    return [*common, *(WIDTHS.space.sample(rng) for _ in range(count - 2))]


def batches(proxy, size=6):
    data = load("synthetic", inputs=WIDTHS.task.inputs, outputs=5)
    return data.batches(proxy.needs.batches, min(proxy.needs.batch, size), seed=0)


def test_a_block_is_a_choice_between_pairs_of_widths():
    found = skeleton_of(NATSSize(), Task(inputs=(3, 32, 32), outputs=10))
    assert [(type(part), part.pick, len(part.ways)) for part in found.parts] == [
        (Either, 0, 8),
        *((Either, number, 64) for number in range(1, 5)),
    ]
    ways = dict(found.parts[2].ways)
    assert list(ways)[:3] == ["8:8", "8:16", "8:24"]
    first, cell = ways["24:40"]
    assert (type(first), first.channels, len(cell.ways)) == (First, 24, 6)
    assert cell.starts == {0: {Step.RELU: 2}, 1: {Step.RELU: 2}, 2: {Step.RELU: 1}}
    assert ways["24:24"][1].starts[0] == {Step.RELU: 2, Step.IDENTITY: 1}
    assert choices_of(NATSSize(), NATSSize().parse("8:16:24:40:64")) == ("8:8", "8:16", "16:24", "24:40", "40:64")


def test_looks_hear_of_the_channels_that_networks_have_and_of_no_others():
    architectures = some(4)
    wiring, stream = WIDTHS.stack(architectures)
    heard: dict[int, list[tuple[int, ...]]] = {place: [] for place in range(4)}

    class Heard(FeatureMaps):
        def other(self, owners, outputs, times=None):
            for number, place in enumerate(range(4) if owners is None else owners.tolist()):
                count = 1 if times is None else int(times[number])
                heard[place] += [tuple(outputs.shape[1:2] + outputs.shape[3:])] * count

    sample = torch.randn(1, *WIDTHS.task.inputs)
    with torch.no_grad():
        Network(wiring, stream, torch.float32, Samples(), Heard(4))(sample)
    for place, one in enumerate(architectures):
        assert sorted(heard[place]) == sorted(outputs_of(WIDTHS.alone(one), sample))


def outputs_of(network, sample):
    """The shape of what each module without children gives, vectors as maps of one position."""
    found = []
    for module in network.modules():
        if not list(module.children()):
            module.register_forward_hook(lambda _, __, out: found.append((*out.shape[1:], 1, 1)[:3]))
    with torch.no_grad():
        network(sample)
    return found


def test_maps_of_other_architectures_in_the_stack_are_no_matter():
    architectures, meco = some(6), get("meco")
    stacker, seen = Stacker(WIDTHS.space, WIDTHS.task, CPU), batches(meco)
    together, reverse = (
        stacker(WIDTHS.chosen(some), seen, [meco], seed=0, weights_seed=SEED)
        for some in (architectures, architectures[::-1])
    )
    for own, other in zip(together, reverse[::-1], strict=True):
        assert own["meco"].value == pytest.approx(other["meco"].value, rel=1e-12)


@pytest.mark.parametrize("name", sorted(STACKABLE))
def test_random_networks_have_the_scores_of_one_by_one(name):
    architectures, proxy = some(6), get(name)
    seen = batches(proxy)
    found = Stacker(WIDTHS.space, WIDTHS.task, CPU)(
        WIDTHS.chosen(architectures), seen, [proxy], seed=0, weights_seed=SEED
    )
    for one, own in zip(architectures, found, strict=True):
        expected = scores(WIDTHS.alone(one), seen, [proxy], seed=0)[name]
        assert (own[name].status, own[name].reason) == (expected.status, expected.reason)
        rough = {"zico": 2e-2, "sigeo": 1e-3, "foresee": 1e-3}.get(name, 1e-6)  # in float32: see docs/speed.md
        assert own[name].value == pytest.approx(expected.value, rel=rough)


@pytest.mark.parametrize("name", sorted(STACKABLE))
def test_in_float64_they_agree_to_the_ninth_digit_and_more(name):
    architectures, proxy = some(4), get(name)
    seen = batches(proxy)
    stacker = Stacker(WIDTHS.space, WIDTHS.task, CPU)
    stack = Stack(stacker.skeleton, WIDTHS.chosen(architectures), seen, 0, stacker._stream(SEED), CPU, torch.float64)
    for place, one in enumerate(architectures):
        seat, probe = Seat(stack, place), Probe(WIDTHS.alone(one).double(), seen, seed=0)
        seat.draws = probe.draws = Draws(0)
        assert float(proxy(seat)) == pytest.approx(float(proxy(probe)), rel=1e-9)  # type: ignore[arg-type]


def test_they_are_stacked_and_counted():
    settings = {"proxies": ("meco", "foresee"), "inputs": (3, 9, 10), "outputs": 4, "data": "synthetic"}
    many, alone = (
        Scorer("nats_size", ScoringSettings(**settings, batch_size=4, stacked=stacked), space_settings={"step": 2})
        for stacked in (True, False)
    )
    many.check()
    job = Job(("2:2:2:2:2", "4:6:8:10:16", "4:6:6:10:2"), settings["proxies"], 0)
    found, expected = many(job), alone(job)
    assert [one.stacked for one in found] == [frozenset(settings["proxies"])] * 3
    assert (many.stacked, alone.stacked) == (3, 0)
    for one, other in zip(found, expected, strict=True):
        assert [score.value for score in one.scores] == pytest.approx([score.value for score in other.scores], rel=1e-4)
        assert [(score.status, score.reason) for score in one.scores] == [
            (score.status, score.reason) for score in other.scores
        ]


def test_a_width_that_the_space_does_not_have_is_no_stack():
    ops = [("1:1",) * 5, ("9:9",) * 5]
    with pytest.raises(ValueError, match="choice 0: 1 of 2 architectures take no way"):
        Wiring(WIDTHS.skeleton, ops, CPU)


def test_why_networks_of_widths_are_not_stacked():
    assert all(why_not(WIDTHS.space, WIDTHS.task, get(name)) == "" for name in STACKABLE)
    with pytest.raises(UnsupportedError, match="images of 4x4: batch norm has one value per channel"):
        skeleton_of(WIDTHS.space, Task(inputs=(3, 4, 4), outputs=2))
    assert skeleton_of(WIDTHS.space, Task(inputs=(1, 5, 8), outputs=2)).image == (1, 5, 8)
