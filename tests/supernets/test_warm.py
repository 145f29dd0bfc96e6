"""Scores after a warm-up: zero is zero-shot, every engine gives the same, and no cache mixes warm with cold."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pytest
import torch
from tests.one_shots import CASES

from foresee.data import load
from foresee.devices import threads
from foresee.errors import InputError, RunError, UnknownNameError
from foresee.runs import engines
from foresee.scoring import Cache, Job, Scorer, ScoringSettings, scored
from foresee.scoring.keys import Keys
from foresee.scoring.scorer import scorer_of
from foresee.searchers import search
from foresee.seeds import stream
from foresee.supernets.warm import WarmScorer
from foresee.supernets.warmup import warmed
from foresee.supernets.words import in_words
from foresee.training.recipe import Recipe

SMALL = {"channels": 4, "cells": 1}
CELL = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|"
OTHER = "|nor_conv_1x1~0|+|skip_connect~0|nor_conv_3x3~1|+|none~0|avg_pool_3x3~1|nor_conv_3x3~2|"


def settings(**more):
    usual = {"proxies": ("grad_norm", "synflow"), "inputs": (3, 8, 8), "batch_size": 8, "warmup": "5%"}
    return ScoringSettings(**{**usual, **more})


def made(**more):
    return scorer_of("nasbench201", settings(**more), space_settings=SMALL)


def values(scorer, texts=(CELL, OTHER), seed=0):
    found = scorer(Job(tuple(texts), ("grad_norm", "synflow"), seed))
    assert [one.error for one in found] == [None] * len(found)
    return [[score.value for score in one.scores] for one in found]


def test_zero_is_zero_shot_bit_for_bit():
    cold = values(made(warmup=None))
    assert type(made(warmup="0%")) is Scorer
    assert values(made(warmup="0%")) == cold
    assert values(WarmScorer("nasbench201", settings(warmup="0%", warmup_by="network"), space_settings=SMALL)) == cold


@pytest.mark.parametrize("by", ["supernet", "network"])
def test_a_warm_score_is_another_and_always_the_same(by):
    first = values(made(warmup_by=by))
    assert first == values(made(warmup_by=by))
    assert first != values(made(warmup=None))
    assert first != values(made(warmup_by=by, warmup="10%"))
    assert first != values(made(warmup_by="network" if by == "supernet" else "supernet"))


def test_a_score_is_that_of_the_inherited_network():
    scorer = made()
    scorer.prepare()
    with threads(scorer.settings.threads):  # as in a job: sums on several threads differ in their last digits
        expected = scorer.of_network(scorer.supernet.inherit(CELL).train())
    assert values(scorer, [CELL]) == [[one.value for one in expected]]


def test_scoring_leaves_the_supernet_as_it_is():
    scorer = made()
    scorer.prepare()
    before = {key: value.clone() for key, value in scorer.supernet.one_shot.state_dict().items()}
    first = values(scorer)
    values(scorer, [OTHER])
    assert values(scorer) == first
    after = scorer.supernet.one_shot.state_dict()
    assert all(torch.equal(value, after[key]) for key, value in before.items())
    assert all(one.grad is None for one in scorer.supernet.one_shot.parameters())


def test_workers_read_the_file(tmp_path):
    scorer = made()
    scorer.prepare(tmp_path)
    copied = pickle.loads(pickle.dumps(scorer))
    assert copied._supernet is None
    assert values(copied) == values(scorer)
    (tmp_path / "supernet.json").write_text(
        (tmp_path / "supernet.json").read_text().replace('"sha256": "', '"sha256": "0')
    )
    with pytest.raises(RunError, match="another sha256"):
        pickle.loads(pickle.dumps(scorer)).supernet  # noqa: B018


def test_in_memory_a_copy_gets_a_file_of_its_own():
    scorer = made()
    scorer.prepare()
    copied = pickle.loads(pickle.dumps(scorer))
    assert copied._kept is not None
    assert values(copied) == values(scorer)


def test_a_copy_that_was_never_prepared_trains_by_itself():
    assert values(pickle.loads(pickle.dumps(made()))) == values(made())


@pytest.mark.parametrize("by", ["supernet", "network"])
def test_every_engine_gives_the_same(by):
    expected = values(made(warmup_by=by))
    scorer = made(warmup_by=by)
    scorer.prepare()
    with engines.make("processes", scorer, 2) as engine:
        for number, text in enumerate((CELL, OTHER)):
            engine.submit(number, Job((text,), ("grad_norm", "synflow"), 0))
        outcomes = sorted((engine.wait() for _ in range(2)), key=lambda one: one.job)
    assert [[score.value for score in one.value[0].scores] for one in outcomes] == expected


# -- caches ---------------------------------------------------------------------------------------------------------------
def test_keys_tell_warm_from_cold():
    def key(**more):
        return Keys(made(**more))(CELL, "grad_norm", 0)

    cold = key(warmup=None)
    assert cold == key(warmup="0%")
    others = [
        key(),
        key(warmup="10%"),
        key(warmup_by="network"),
        key(warmup_recipe="fast"),
        key(seed=1),
        key(data="synthetic"),
    ]
    assert len({cold, *others}) == 7


def test_a_cache_never_mixes(tmp_path):
    how = {"space_settings": SMALL, "cache": tmp_path / "scores.sqlite"}
    cold = scored("nasbench201", [CELL], settings(warmup=None), **how)["grad_norm"]
    warm = scored("nasbench201", [CELL], settings(), warm=tmp_path / "warm", **how)["grad_norm"]
    assert warm.cached == 0
    assert warm.values.tolist() != cold.values.tolist()
    again = scored("nasbench201", [CELL], settings(), warm=tmp_path / "warm", **how)["grad_norm"]
    assert again.cached == 1
    assert again.values.tolist() == warm.values.tolist()
    assert len(list((tmp_path / "warm").glob("*/supernet.safetensors"))) == 1
    with Cache(None) as fresh:
        alone = scored("nasbench201", [CELL], settings(), space_settings=SMALL, cache=fresh)["grad_norm"]
    assert alone.values.tolist() == warm.values.tolist()


# -- networks of their own ------------------------------------------------------------------------------------------------
def small_net(pick):
    width = pick("width", [2, 4])
    return torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(192, width), torch.nn.ReLU(), torch.nn.Linear(width, 10)
    )


def test_own_spaces_are_warmed_network_by_network():
    from foresee.spaces.find import get

    space = get(small_net)
    warm, cold = (scorer_of(space, settings(warmup=level)) for level in ("20%", None))
    assert warm.by == "network"
    text = str(space.sample(stream(0)))
    assert values(warm, [text]) != values(cold, [text])
    assert values(warm, [text]) == values(scorer_of(space, settings(warmup="20%")), [text])
    assert values(warm, [text], seed=1) != values(warm, [text])


def test_warming_up_makes_better():
    data = load("digits", inputs=(3, 8, 8))
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 10))
    from foresee.supernets.evaluating import judge

    found = [judge(network, data).accuracy]
    for _ in range(2):
        warmed(network, data, "50%")
        found.append(judge(network, data).accuracy)
    assert found[0] < 0.3 < 0.6 < found[1] < found[2]
    assert all(one.grad is None for one in network.parameters())


@pytest.mark.parametrize("name", [name for name in CASES if name != "nasbench201_partial"])
def test_every_space_is_warmed(name):
    """With inherited weights, by a supernet of the space's own default form where that is small enough, else a given one."""
    case = CASES[name]
    recipe = Recipe(name="few", epochs=1, batch=8)
    scorer = WarmScorer(
        case.space(), ScoringSettings(proxies=("grad_norm",), warmup="40%", batch_size=8), data=case.data(24)
    )
    if case.form:  # the published sizes are too large for a test
        from foresee.supernets.supernet import Supernet

        scorer._supernet = Supernet(case.space(), case.task, **case.form).train(case.data(24), 2, recipe=recipe)
    assert scorer.by == "supernet"
    assert scorer.prepare()["steps"] >= 1
    (found,) = scorer(Job((str(case.space().sample(stream(1))),), ("grad_norm",), 0))
    assert found.error is None
    assert found.scores[0].ok


# -- searches -------------------------------------------------------------------------------------------------------------
SEARCH = {
    "proxies": ["grad_norm"],
    "searcher": "random",
    "evaluations": 3,
    "finalists": 0,
    "inputs": (3, 8, 8),
    "batch_size": 8,
    "space_settings": SMALL,
    "warmup": "5%",
}


def found(run):
    return [(row.architecture, row.merit) for row in run.record.candidates]


def test_a_search_warms_up_first(tmp_path):
    events = []
    run = search("nasbench201", **SEARCH, out=tmp_path / "run", observers=[events.append])
    steps = [event for event in events if event.kind == "step"]
    assert {event.details["name"] for event in steps} == {"warm-up"}
    assert [event.kind for event in events].index("step") < [event.kind for event in events].index("asked")
    (said,) = [event for event in run.record.events if event.kind == "warmup"]
    assert said.details["level"] == "5%"
    assert said.details["steps"] == steps[-1].done == 2
    assert "one supernet, 2 steps of recipe warmup, 128 samples of 1,797" in in_words(said.details)
    assert (tmp_path / "run" / "warmup" / "supernet.safetensors").is_file()
    assert run.record.settings["warmup"] == "5%"
    assert found(search("nasbench201", **SEARCH)) == found(run)
    longer = search("nasbench201", **{**SEARCH, "evaluations": 4}, out=tmp_path / "run", resume=True)
    assert found(longer)[:3] == found(run)
    assert sum(event.kind == "warmup" for event in longer.record.events) == 1


CHILD = """
import os, sys, signal
from tests.supernets.test_warm import SEARCH, search
from foresee.supernets import Supernet
def stop(event):
    if event.kind == "step" and event.done == 4:
        os.kill(os.getpid(), signal.SIGKILL)
Supernet.train.__kwdefaults__["between"] = 0.0  # a checkpoint after every step
search("nasbench201", **{**SEARCH, "warmup": "20%"}, out=sys.argv[1], observers=[stop])
"""


def test_killed_while_it_warms_up(tmp_path):
    """It goes on with the warm-up where it was, and ends as one that was never stopped."""
    ended = subprocess.run([sys.executable, "-c", CHILD, str(tmp_path / "run")], check=False, capture_output=True)
    assert ended.returncode == -9, ended.stderr
    kept = json.loads((tmp_path / "run" / "warmup" / "supernet.json").read_text())
    assert (kept["step"], kept["finished"]) == (3, False)
    events = []
    asked = {**SEARCH, "warmup": "20%"}
    run = search("nasbench201", **asked, out=tmp_path / "run", resume=True, observers=[events.append])
    assert [event.done for event in events if event.kind == "step"] == [4, 5, 6]
    assert found(run) == found(search("nasbench201", **asked))


# -- mistakes -------------------------------------------------------------------------------------------------------------
def test_what_is_asked_wrongly():
    with pytest.raises(InputError, match="share '110%'"):
        settings(warmup="110%")
    with pytest.raises(UnknownNameError, match="way to warm up 'supernets': did you mean supernet"):
        settings(warmup_by="supernets")
    with pytest.raises(InputError, match="say how much too"):
        settings(warmup=None, warmup_by="network")
    with pytest.raises(InputError, match="scorer_of"):
        Scorer("nasbench201", settings()).check()
    with pytest.raises(UnknownNameError, match="recipe"):
        made(warmup_recipe="fats").prepare()
    assert settings(warmup=0.1).warmup == settings(warmup=" 10 %").warmup == "10%"
    assert "warmup" not in settings(warmup=None).to_json()
