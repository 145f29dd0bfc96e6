"""From texts to scores: alone or in company, here or in another process, the same."""

from __future__ import annotations

import pickle

import pytest
import torch
from torch import nn

import foresee as fs
from foresee.batch import Batch
from foresee.data import GivenBatches
from foresee.errors import InputError, UnknownNameError
from foresee.scoring import Job, Scorer, ScoringSettings, scores
from foresee.seeds import derive

SMALL = {"channels": 2, "cells": 1}
CELLS = (
    "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|",
    "|nor_conv_3x3~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|skip_connect~0|avg_pool_3x3~1|nor_conv_3x3~2|",
)
NAMES = ("grad_norm", "zico", "params", "naswot")


def scorer(**changes):
    asked = {"proxies": NAMES, "data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "batch_size": 8, **changes}
    return Scorer("nasbench201", ScoringSettings(**asked), space_settings=SMALL)


def values(found):
    return [[(one.proxy, one.value, one.status) for one in scored.scores] for scored in found]


def test_a_list_is_scored_as_its_members_are():
    together = values(scorer()(Job(CELLS, NAMES, 3)))
    alone = [values(scorer()(Job((cell,), NAMES, 3)))[0] for cell in CELLS]
    assert together == alone
    assert [names for names, _, _ in together[0]] == list(NAMES)


def test_a_score_is_what_the_network_gives_by_hand():
    made = scorer(seed=3)
    [found] = made(Job(CELLS[:1], NAMES, 3))
    network = fs.spaces.get("nasbench201", **SMALL)
    candidate = fs.Candidate(
        network, network.parse(CELLS[0]), fs.Task((3, 8, 8), 4), {"weights_seed": derive(3, "weights")}
    )
    data = fs.data.load("synthetic", task=fs.Task((3, 8, 8), 4))
    by_hand = scores(candidate.build(), data.batches(1, 8, seed=3), ["grad_norm", "naswot"], seed=3)
    by_hand |= scores(candidate.build(), data.batches(2, 8, seed=3), ["zico"], seed=3)
    for one in found.scores:
        if one.proxy in by_hand:
            assert one.value == by_hand[one.proxy].value


def test_the_seed_of_a_job_decides_not_that_of_the_settings():
    job = Job(CELLS, NAMES, 5)
    assert values(scorer(seed=0)(job)) == values(scorer(seed=9)(job))
    assert values(scorer()(job)) != values(scorer()(Job(CELLS, NAMES, 6)))


def test_it_travels_to_another_process_without_its_batches():
    made = scorer()
    first = values(made(Job(CELLS, NAMES, 0)))
    assert made._batches
    travelled = pickle.loads(pickle.dumps(made))
    assert not travelled._batches
    assert values(travelled(Job(CELLS, NAMES, 0))) == first


def test_one_that_cannot_be_built_does_not_touch_the_others():
    found = scorer()(Job((CELLS[0], "nonsense", CELLS[1]), ("params",), 0))
    assert [one.error is None for one in found] == [True, False, True]
    assert "InputError" in found[1].error
    assert "nonsense" in found[1].error


def test_formulas_count_without_building(monkeypatch):
    made = scorer()
    counted = Scorer("nasbench201", made.settings, space_settings=SMALL, formulas=True)
    job = Job(CELLS, ("params", "macs"), 0)
    by_building = values(made(job))
    monkeypatch.setattr(type(counted.space), "build", lambda *_: pytest.fail("built"))
    assert values(counted(job)) == by_building


def broken_on_meta(pick):
    width = pick("width", [2, 3])
    net = nn.Sequential(nn.Flatten(), nn.Linear(12, width))
    if net[1].weight.is_meta:
        raise RuntimeError("no meta here")
    return net


def test_where_formulas_cannot_say_the_network_is_counted():
    settings = ScoringSettings(proxies=("params",), data="synthetic", inputs=(3, 2, 2), outputs=2)
    made = Scorer(fs.spaces.own(broken_on_meta), settings, formulas=True)
    [found] = made(Job(('{"width":3}',), ("params",), 0))
    assert found.scores[0].value == 12 * 3 + 3


def test_mistakes_are_said_before_anything_is_begun():
    with pytest.raises(UnknownNameError, match="did you mean grad_norm"):
        scorer(proxies=("grad_nrm",)).check()
    with pytest.raises(UnknownNameError, match="setting of proxy naswot"):
        scorer(proxies=("naswot",), proxy_settings={"naswot": {"colour": 1}}).check()
    with pytest.raises(InputError, match="cannot be used here"):
        scorer(device="cuda:99").check()
    with pytest.raises(UnknownNameError, match="nasbench201"):
        Scorer("nasbench202", ScoringSettings(proxies=("params",), data="synthetic")).check()


def test_batches_in_hand_are_few(monkeypatch):
    made = scorer(proxies=("grad_norm",))
    for seed in range(40):
        made(Job(CELLS[:1], ("grad_norm",), seed))
    assert len(made._batches) <= 16


def test_a_proxy_that_wants_more_samples_than_there_are_stops_no_other():
    few = GivenBatches([Batch(torch.randn(8, 3, 16, 16), torch.arange(8) % 4)])
    settings = ScoringSettings(proxies=("snip", "knas"))
    scorer = Scorer("nasbench201", settings, data=few)
    network = nn.Sequential(nn.Flatten(), nn.Linear(768, 4))
    snip, knas = scorer.of_network(network)
    assert snip.ok
    assert (knas.proxy, knas.status) == ("knas", "unsupported")
    assert knas.reason == "50 batches are needed, but the one given has only 8 samples"


def test_other_settings_of_the_space_give_the_scores_of_such_a_scorer():
    made, wide = scorer(), {"channels": 4}
    found = values(made(Job(CELLS, NAMES, 3, tuple(wide.items()))))
    asked = made.settings
    assert found == values(Scorer("nasbench201", asked, space_settings={**SMALL, **wide})(Job(CELLS, NAMES, 3)))
    assert found != values(made(Job(CELLS, NAMES, 3)))
    assert made.other({}) is made
    assert made.other(wide) is made.other(dict(wide))
    assert made.other(wide).data is made.data
    given = Scorer(made.space, asked).other(wide)
    assert (given.space.channels, given.space.cells) == (4, 1)
    assert pickle.loads(pickle.dumps(made))._others == {}
    with pytest.raises(UnknownNameError, match="channels"):
        made.other({"chanels": 4})


# -- many at once ---------------------------------------------------------------------------------------------------------
CELLS = (
    "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|none~1|nor_conv_1x1~2|",
    "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|",
    "|skip_connect~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|none~0|skip_connect~1|none~2|",
)


def stacking(**settings):
    asked = {
        "proxies": ("meco", "synflow", "params"),
        "inputs": (3, 8, 8),
        "outputs": 4,
        "data": "synthetic",
        **settings,
    }
    return Scorer("nasbench201", ScoringSettings(**asked), space_settings={"channels": 4, "cells": 1}, formulas=True)


def test_a_job_is_stacked_where_asked_and_possible_and_a_counter_says_so():
    names = ("params", "meco", "synflow")
    stacked, alone = stacking(stacked=True), stacking(stacked=False)
    assert stacked.together > 1
    assert alone.together == 1
    found, expected = stacked(Job(CELLS, names, 0)), alone(Job(CELLS, names, 0))
    assert [one.stacked for one in found] == [{"meco"}] * 3
    assert (stacked.stacked, alone.stacked) == (3, 0)
    for one, other in zip(found, expected, strict=True):
        assert [score.proxy for score in one.scores] == list(names)
        assert [score.value for score in one.scores] == pytest.approx([score.value for score in other.scores])
        assert [score.status for score in one.scores] == [score.status for score in other.scores]


def test_what_cannot_be_stacked_is_an_error_where_stacks_were_asked_for():
    with pytest.raises(InputError, match=r"stacked .*proxy synflow is not read from stacks"):
        stacking(stacked=True).check()
    stacking(stacked=True, proxies=("meco", "params")).check()  # counted by formula, whoever looks


def test_one_by_one_on_a_cpu_unless_stacks_are_asked_for():
    assert "CPU" in stacking().why_not_stacked("meco")
    assert stacking().ways == ""
    assert stacking(stacked=True).ways.startswith("meco: many architectures at once; synflow: proxy synflow")


def test_a_text_that_is_no_architecture_leaves_the_rest_of_its_stack_alone():
    scorer = stacking(stacked=True)
    wrong, right = scorer(Job(("nonsense", CELLS[0]), ("meco",), 0))
    assert wrong.error
    assert right.error is None
    assert right.scores[0].ok
    assert scorer.stacked == 1


def test_other_widths_are_stacked_too():
    scorer = stacking(stacked=True)
    (found,) = scorer(Job(CELLS[:1], ("meco",), 0, (("channels", 8),)))
    assert found.stacked == {"meco"}
    assert scorer.stacked == 1
    assert found.scores[0].value != scorer(Job(CELLS[:1], ("meco",), 0))[0].scores[0].value


def test_micro_cells_of_transnas_are_stacked_and_counted_too():
    names = ("meco", "foresee")
    settings = {"proxies": names, "inputs": (3, 33, 33), "outputs": 4, "data": "synthetic", "batch_size": 4}
    many, alone = (
        Scorer("transnas_micro", ScoringSettings(**settings, stacked=stacked), space_settings={"channels": 4})
        for stacked in (True, False)
    )
    many.check()
    job = Job(("64-41414-1_02_333", "64-41414-0_00_000", "64-41414-3_10_012"), names, 0)
    found, expected = many(job), alone(job)
    assert [one.stacked for one in found] == [frozenset(names)] * 3
    assert (many.stacked, alone.stacked) == (3, 0)
    for one, other in zip(found, expected, strict=True):
        assert [score.value for score in one.scores] == pytest.approx([score.value for score in other.scores], rel=1e-5)
        assert [(score.status, score.reason) for score in one.scores] == [
            (score.status, score.reason) for score in other.scores
        ]
