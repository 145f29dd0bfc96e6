from __future__ import annotations

from functools import cache

import pytest
import torch
from tests.stacking import CELLS, CPU, GROUNDS, JIGSAW, MICRO, SEED, Ground

from foresee.batch import Batch
from foresee.data import load
from foresee.probes.draws import Draws
from foresee.probes.probe import Probe
from foresee.proxies.base import get
from foresee.scoring.one import scores
from foresee.scoring.stacked import stacking
from foresee.scoring.stacked.looks import Stack
from foresee.scoring.stacked.seat import Seat
from foresee.scoring.stacked.stacking import STACKABLE, Stacker, why_not
from foresee.spaces.autoformer import AutoFormerBase, AutoFormerTiny
from foresee.spaces.find import get as space_called
from foresee.spaces.nasbench201.space import NASBench201
from foresee.spaces.transnas.network import places
from foresee.spaces.transnas.space import TransNASMicro
from foresee.task import Task

ROOM = Ground(TransNASMicro(channels=4, head="regression"), 33, [])
SPACE, TASK, cells, alone = CELLS.space, CELLS.task, CELLS.cells, CELLS.alone
NAMES = ["meco", "dextr", "inverse_conditions", "curvature", "foresee", "foresee:2", "naswot"]


@cache
def data_of(inputs):
    return load("synthetic", inputs=inputs, outputs=5)


@pytest.fixture
def data():
    return data_of(TASK.inputs)


def batches(data, proxy):
    return data.batches(proxy.needs.batches, min(proxy.needs.batch, 6), seed=0)


#: the new parts of these are read quickly, by every proxy, in skeletons/test_darts.py
SLOW = pytest.param("darts", marks=pytest.mark.slow)


@pytest.mark.parametrize("ground", [*(name for name in GROUNDS if name != "darts"), SLOW])
@pytest.mark.parametrize("name", NAMES)
def test_a_stack_gives_the_scores_statuses_and_parts_of_one_by_one(name, ground):
    here, proxy = GROUNDS[ground], get(name)
    if why_not(here.space, here.task, proxy):
        pytest.skip(why_not(here.space, here.task, proxy))
    architectures, seen = here.cells({CELLS: 6, JIGSAW: 1}.get(here, 2)), batches(data_of(here.task.inputs), proxy)
    found = Stacker(here.space, here.task, CPU, most=5)(
        here.chosen(architectures), seen, [proxy], seed=0, weights_seed=SEED
    )
    for one, own in zip(architectures, found, strict=True):
        expected = scores(here.alone(one), seen, [proxy], seed=0)[name]
        score = own[name]
        assert (score.status, score.reason, score.seed, score.direction) == (
            *(expected.status, expected.reason, expected.seed, expected.direction),
        )
        assert score.value == (None if expected.value is None else pytest.approx(expected.value, rel=1e-5))
        assert dict(score.parts) == pytest.approx(dict(expected.parts), rel=1e-5)


@pytest.mark.parametrize("ground", ["nasbench201", "transnas_micro", "room_layout", "nasbench_macro", SLOW])
@pytest.mark.parametrize("name", ["zico", "sigeo", "foresee"])
def test_in_float64_gradients_agree_to_the_fifth_digit_and_more(name, ground):
    """Two batches nearly tie in some weights, and in float32 rounding decides by how much."""
    here, space, proxy = GROUNDS.get(ground, MICRO), GROUNDS.get(ground, ROOM).space, get(name)
    architectures, seen = (
        [here.cells(0)[2], *here.cells(2)[len(here.special) - 2 :]],
        batches(data_of(here.task.inputs), proxy),
    )
    if ground == "room_layout":  # what is asked for are values
        answers = torch.rand(len(seen[0]), 5, generator=torch.Generator().manual_seed(1))
        seen = [Batch(one.parts[0], answers * number) for number, one in enumerate(seen, 1)]
    stacker = Stacker(space, here.task, CPU)
    ops = here.chosen(architectures)
    stack = Stack(stacker.skeleton, ops, seen, 0, stacker._stream(SEED), CPU, torch.float64)
    for place, one in enumerate(architectures):
        torch.manual_seed(SEED)
        seat, probe = Seat(stack, place), Probe(space.build(one, here.task).double(), seen, seed=0)
        seat.draws = probe.draws = Draws(0)
        assert float(proxy(seat)) == pytest.approx(float(proxy(probe)), rel=1e-5)  # type: ignore[arg-type]


def test_repeats_have_draws_of_their_own(data):
    proxy, architectures = get("dextr"), cells(2)[-2:]
    found = Stacker(SPACE, TASK, CPU)(
        [one.ops for one in architectures], batches(data, proxy), [proxy], seed=0, weights_seed=SEED, repeats=2
    )
    for one, own in zip(architectures, found, strict=True):
        expected = scores(alone(one), batches(data, proxy), [proxy], seed=0, repeats=2)["dextr"]
        assert own["dextr"].value == pytest.approx(expected.value)
        assert own["dextr"].spread == pytest.approx(expected.spread)


def test_why_something_is_not_stacked():
    dextr = get("dextr")
    assert why_not(SPACE, TASK, dextr) == ""
    named = why_not(space_called("transnas_macro"), TASK, dextr)
    transformers = "autoformer_base, autoformer_small, autoformer_tiny"
    assert named.endswith(f"those of {transformers}, darts, nasbench201, nasbench_macro, nats_size, transnas_micro are")
    assert named.startswith("architectures of transnas_macro are not stacked: ")
    assert "variant reference" in why_not(NASBench201(variant="reference"), TASK, dextr)
    assert "every_module = True" in why_not(SPACE, TASK, get("dextr:reference"))
    assert "initialise = he" in why_not(SPACE, TASK, get("dextr", {"initialise": "he"}))
    assert "one value per channel" in why_not(SPACE, Task(inputs=(3, 4, 4), outputs=2), dextr)
    assert "images" in why_not(SPACE, Task(inputs=(64,), outputs=2), dextr)
    assert all(why_not(SPACE, TASK, get(name)) == "" for name in STACKABLE)


def test_why_a_micro_cell_is_not_stacked():
    task, meco = MICRO.task, get("meco")
    assert all(why_not(MICRO.space, task, get(name)) == "" for name in STACKABLE)
    assert "head dense" in why_not(TransNASMicro(channels=4, head="dense"), task, meco)
    assert "multiples of 4" in why_not(TransNASMicro(channels=6), task, meco)
    assert "one value per channel" in why_not(MICRO.space, Task(inputs=(3, 32, 64), outputs=2), meco)
    assert why_not(JIGSAW.space, Task(inputs=(3, 32, 32), outputs=2), meco) == ""  # nine tiles have nine values
    assert "pieces" in why_not(JIGSAW.space, JIGSAW.task, get("naswot"))
    assert "images" in why_not(JIGSAW.space, Task(inputs=(9, 3, 40, 40), outputs=2), meco)


def test_out_of_memory_halves_a_stack(data, monkeypatch):
    tried: list[int] = []
    together = Stacker._together

    def narrow(self, ops, *rest):
        tried.append(len(ops))
        if len(ops) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return together(self, ops, *rest)

    monkeypatch.setattr(Stacker, "_together", narrow)
    proxy = get("meco")
    found = Stacker(SPACE, TASK, CPU)(
        [one.ops for one in cells(0)], batches(data, proxy), [proxy], seed=0, weights_seed=SEED
    )
    assert tried[0] == 6
    assert sum(one for one in tried if one <= 2) == 6
    assert len(tried) < 12
    assert all(one["meco"].ok for one in found)


def test_memory_bounds_a_stack(data):
    proxy = get("meco")
    ops = cells(0)[-1].ops
    one = Stacker(SPACE, TASK, CPU)._bytes(ops, batches(data, proxy), [proxy])
    assert stacking._first([one] * 9, 3.5 * one) == 3
    assert Stacker(SPACE, TASK, CPU, memory="1MiB")._allowed == 2**20


def test_of_long_streams_fewer_are_kept_in_hand():
    large = Task(inputs=(3, 224, 224), outputs=1000)
    for space, task, kept in ((SPACE, TASK, 4), (AutoFormerTiny(), large, 3), (AutoFormerBase(), large, 1)):
        stacker = Stacker(space, task, CPU)
        for seed in range(5):
            stacker._stream(seed)
        assert list(stacker._streams) == list(range(5))[-kept:]


def test_where_gradients_are_wanted_weights_count_too(data):
    conv, none = ("nor_conv_3x3",) * 6, ("none",) * 6
    stacker, (zico, meco) = Stacker(MICRO.space, MICRO.task, CPU), map(get, ("zico", "meco"))
    weights = stacker._sizes.weights(conv) - stacker._sizes.weights(none)
    maps = stacker._sizes.held(conv) - stacker._sizes.held(none)
    seen = data.batches(2, 6, seed=0)
    assert weights == 9 * 6 * sum(place.outputs**2 for place in places("41414", 4)) - 9 * 3 * (8**2 + 16**2 + 32**2) / 2
    assert stacker._bytes(conv, seen, [zico]) - stacker._bytes(none, seen, [zico]) == 4 * (6 * maps + 3 * weights)
    assert stacker._bytes(conv, seen, [meco]) - stacker._bytes(none, seen, [meco]) == 8 * maps
