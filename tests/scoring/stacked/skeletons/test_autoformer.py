from __future__ import annotations

import random

import pytest
import torch
from tests.stacking import CPU, SEED, TOKENS

from foresee.data import load
from foresee.errors import InputError, UnsupportedError
from foresee.probes.draws import Draws
from foresee.probes.exchanges import Exchanges
from foresee.probes.probe import Probe
from foresee.proxies.base import get
from foresee.scoring import Job, Scorer, ScoringSettings, scores
from foresee.scoring.stacked.features import FeatureMaps
from foresee.scoring.stacked.layers import Samples
from foresee.scoring.stacked.looks import Stack
from foresee.scoring.stacked.network import Network
from foresee.scoring.stacked.seat import Seat
from foresee.scoring.stacked.skeleton import Either, First, Linear, Step, Sum
from foresee.scoring.stacked.skeletons import choices_of, skeleton_of
from foresee.scoring.stacked.stacking import STACKABLE, Stacker, why_not
from foresee.scoring.stacked.transformer import Attention, LayerNorm, Patches, Tokens
from foresee.spaces.autoformer import AutoFormerBase, AutoFormerSmall, AutoFormerTiny
from foresee.task import Task

IMAGES = Task(inputs=(3, 224, 224), outputs=1000)


def some(count):
    """Two that have halves in common, and random ones."""
    rng = random.Random(1)
    common = [TOKENS.space.parse(text) for text in ("(2, 1.5, 3.5, 2, 1, 20)", "(3, 1.5, 3.5, 3.5, 2, 3, 3, 20)")]
    return [*common, *(TOKENS.space.sample(rng) for _ in range(count - 2))]


def batches(proxy, size=6):
    data = load("synthetic", inputs=TOKENS.task.inputs, outputs=5)
    return data.batches(proxy.needs.batches, min(proxy.needs.batch, size), seed=0)


@pytest.mark.parametrize(
    ("space", "sizes"),
    [
        (AutoFormerTiny(), [3, *(6 + 3, 6 + 3) * 14, 3]),
        (AutoFormerSmall(), [3, *(9 + 3, 9 + 3) * 14, 3]),
        (AutoFormerBase(), [3, *(6 + 3, 9 + 3) * 16, 3]),
    ],
)
def test_a_half_of_a_layer_is_a_choice_between_widths_and_sizes_and_nothing(space, sizes):
    found = skeleton_of(space, IMAGES)
    assert [(type(part), part.pick) for part in found.parts] == [(Either, pick) for pick in range(len(sizes))]
    assert [len(part.ways) for part in found.parts] == sizes
    assert not found.by_batch
    embed = int(space.embed[0])
    first, attend, widen, last = (found.parts[place].ways for place in (0, 1, 2, -1))
    assert [type(part) for part in first[0][1]] == [Patches, Tokens]
    option, (read, branch) = attend[0]
    assert (option, type(read), read.channels) == (f"{embed}:{space.heads[0]}", First, embed)
    assert [type(part) for part in branch.main] == [LayerNorm, Linear, Attention, Linear]
    assert branch.main[2].index.shape == (2, 197, 197)
    option, (_, branch) = widen[0]
    assert (option, type(branch), branch.shortcut) == (f"{embed}:{int(embed * space.mlp[0])}", Sum, ())
    assert branch.main[2] is Step.GELU
    assert [option for option, _ in widen[-3:]] == [str(size) for size in space.embed]
    assert last[0][1][2] is Step.MEAN


def test_what_is_chosen_are_halves_and_nothing_beyond_the_depth():
    one = TOKENS.space.parse("(2, 1.5, 3.5, 2, 1, 20)")
    assert choices_of(TOKENS.space, one) == ("20", "20:2", "20:30", "20:1", "20:70", "20", "20", "20")
    with pytest.raises(UnsupportedError, match="sizes that autoformer_tiny does not choose from"):
        choices_of(TOKENS.space, TOKENS.space.parse("(1, 3.0, 1, 20)"))


def test_ratios_that_make_the_same_hidden_layer_are_one_way():
    space = AutoFormerTiny(embed=(16,), mlp=(2.0, 2.01, 3.0), heads=(2,), depth=(1,), patch=4)
    widen = skeleton_of(space, TOKENS.task).parts[2]
    assert [option for option, _ in widen.ways] == ["16:32", "16:48", "16"]
    assert choices_of(space, space.parse("(1, 2.01, 2, 16)"))[2] == "16:32"


class Heard(FeatureMaps):
    """The feature map of each module of each architecture, in the order of their calls."""

    def __init__(self, count):
        super().__init__(count)
        self.maps = [[] for _ in range(count)]

    def other(self, owners, outputs, times=None):
        for place, own in zip(owners.tolist(), outputs, strict=True):
            self.maps[place].append(own[:, 0].flatten(1))


def test_looks_hear_what_modules_give_in_the_order_of_their_calls():
    architectures = some(5)
    wiring, stream = TOKENS.stack(architectures)
    sample, heard = torch.randn(1, *TOKENS.task.inputs, dtype=torch.float64), Heard(5)
    with torch.no_grad():
        Network(wiring, stream, torch.float64, Samples(), heard)(sample)
    for place, one in enumerate(architectures):
        expected = Probe(TOKENS.alone(one).double(), [sample]).sample.see("features")
        assert len(expected) == 10 * one.depth + 3
        for own, other in zip(heard.maps[place], expected, strict=True):
            assert own.shape == other.map.shape
            torch.testing.assert_close(own, other.map)


def test_layers_exchange_the_same_in_the_same_order():
    architectures, proxy = some(4), get("foresee")
    seen, stacker = batches(proxy), Stacker(TOKENS.space, TOKENS.task, CPU)
    stack = Stack(stacker.skeleton, TOKENS.chosen(architectures), seen, 0, stacker._stream(SEED), CPU, torch.float64)
    for place, one in enumerate(architectures):
        probe = Probe(TOKENS.alone(one).double(), seen, seed=0)
        expected, found = probe.batch.see(Exchanges()), stack.exchanges(Exchanges(), 0).of(place)
        assert len(expected.names) == 4 * one.depth + 2
        for name in ("weights", "directions", "positions", "reads", "told", "changes", "change", "later"):
            torch.testing.assert_close(getattr(found, name), getattr(expected, name), msg=name)


@pytest.mark.parametrize("name", sorted(STACKABLE))
def test_random_networks_have_the_scores_of_one_by_one(name):
    architectures, proxy = some(6), get(name)
    seen = batches(proxy)
    found = Stacker(TOKENS.space, TOKENS.task, CPU, most=4)(
        TOKENS.chosen(architectures), seen, [proxy], seed=0, weights_seed=SEED
    )
    values = []
    for one, own in zip(architectures, found, strict=True):
        expected = scores(TOKENS.alone(one), seen, [proxy], seed=0)[name]
        assert (own[name].status, own[name].reason) == (expected.status, expected.reason)
        assert own[name].value == pytest.approx(expected.value, rel=1e-3 if name == "zico" else 1e-5)
        assert set(own[name].parts) == set(expected.parts)
        assert own[name].coverage == expected.coverage
        values.append((own[name].value, expected.value))
    ours, theirs = (torch.tensor(one).argsort().argsort() for one in zip(*values, strict=True))
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("name", sorted(STACKABLE))
def test_in_float64_they_agree_to_the_ninth_digit_and_more(name):
    architectures, proxy = some(5), get(name)
    seen, stacker = batches(proxy), Stacker(TOKENS.space, TOKENS.task, CPU)
    stack = Stack(stacker.skeleton, TOKENS.chosen(architectures), seen, 0, stacker._stream(SEED), CPU, torch.float64)
    for place, one in enumerate(architectures):
        seat, probe = Seat(stack, place), Probe(TOKENS.alone(one).double(), seen, seed=0)
        seat.draws = probe.draws = Draws(0)
        assert float(proxy(seat)) == pytest.approx(float(proxy(probe)), rel=1e-9)  # type: ignore[arg-type]
        assert seat.remarks == probe.remarks


def test_images_need_not_be_square_and_one_patch_is_enough():
    meco, space = get("meco"), TOKENS.space
    for image in ((1, 8, 16), (3, 4, 4)):
        task = Task(inputs=image, outputs=5)
        seen = load("synthetic", inputs=image, outputs=5).batches(1, 1, seed=0)
        own = Stacker(space, task, CPU)([choices_of(space, some(1)[0])], seen, [meco], seed=0, weights_seed=SEED)
        torch.manual_seed(SEED)
        expected = scores(space.build(some(1)[0], task), seen, [meco], seed=0)["meco"]
        assert own[0]["meco"].value == pytest.approx(expected.value, rel=1e-9, abs=1e-12)


def scorer(**asked):
    settings = {"proxies": ("meco", "foresee"), "inputs": (3, 8, 8), "outputs": 4, "data": "synthetic"}
    sizes = {"embed": (16, 24), "heads": (1, 2), "depth": (1, 2), "patch": 4, "head_dim": 8, "reach": 2}
    return Scorer("autoformer_tiny", ScoringSettings(**settings, batch_size=4, **asked), space_settings=sizes)


def test_they_are_stacked_and_counted():
    many, alone = scorer(stacked=True), scorer(stacked=False)
    many.check()
    job = Job(("(1, 3.5, 1, 16)", "(2, 3.5, 4.0, 2, 1, 24)", "(2, 4.0, 4.0, 2, 2, 24)"), ("meco", "foresee"), 0)
    found, expected = many(job), alone(job)
    assert [one.stacked for one in found] == [{"meco", "foresee"}] * 3
    assert (many.stacked, alone.stacked) == (3, 0)
    for one, other in zip(found, expected, strict=True):
        assert [score.value for score in one.scores] == pytest.approx([score.value for score in other.scores], rel=1e-4)
        assert [(score.status, score.reason) for score in one.scores] == [
            (score.status, score.reason) for score in other.scores
        ]


def test_one_with_other_sizes_is_an_error_where_stacks_were_asked_for_and_looked_at_by_itself_elsewhere():
    texts = "(1, 3.0, 1, 16)", "(1, 3.5, 1, 16)"
    asked = scorer(stacked=True)
    wrong, right = asked(Job(texts, ("meco",), 0))
    assert "stacks have the space's own" in str(wrong.error)
    assert (right.stacked, asked.stacked) == ({"meco"}, 1)
    free = scorer()
    alone, right = free._stacked(texts, ["meco"], 0)
    (expected,) = scorer(stacked=False)(Job(texts[:1], ("meco",), 0))
    assert [score.value for score in alone.scores] == [score.value for score in expected.scores]
    assert (alone.stacked, right.stacked, free.stacked) == (frozenset(), {"meco"}, 1)


def test_why_transformers_are_not_stacked():
    meco = get("meco")
    assert all(why_not(TOKENS.space, TOKENS.task, get(name)) == "" for name in STACKABLE)
    assert [why_not(space, IMAGES, meco) for space in (AutoFormerTiny(), AutoFormerBase())] == ["", ""]
    assert "drop_path 0.1" in why_not(AutoFormerTiny(drop_path=0.1), IMAGES, meco)
    narrow = AutoFormerTiny(embed=(12, 16), patch=4)
    assert why_not(narrow, TOKENS.task, meco) == "autoformer_tiny with 12 numbers in cls is not stacked: 16 are"
    few = AutoFormerTiny(embed=(16,), depth=(1,), patch=4, head_dim=2, reach=1)
    assert "8 numbers in layers.0.attention.keys.vertical" in why_not(few, TOKENS.task, meco)
    assert "stacks are of networks for images" in why_not(AutoFormerTiny(), Task(inputs=(64,), outputs=2), meco)
    assert "not a multiple of the patch size 16" in why_not(AutoFormerTiny(), Task((3, 100, 100), 2), meco)
    with pytest.raises(InputError, match=r"drop_path 0\.1 is not stacked"):
        Scorer(
            "autoformer_tiny",
            ScoringSettings(proxies=("meco",), inputs=(3, 32, 32), outputs=4, data="synthetic", stacked=True),
            space_settings={"drop_path": 0.1},
        ).check()
