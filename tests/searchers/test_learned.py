"""What a search follows, measured here: with inherited weights, with a last layer trained on them, and by short training."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tests.one_shots import CASES

from foresee.data.arrays import Arrays
from foresee.data.features import Features
from foresee.errors import InputError, UnknownNameError
from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers import search
from foresee.searchers.learned import Learned
from foresee.seeds import derive, stream
from foresee.spaces.nasrec import NASRecSmall

CASE = CASES["nasbench201"]
TEXTS = [str(CASE.space().sample(stream(number))) for number in range(3)]
WAYS = {"inherited": None, "last_layer": 3, "trained": None}
RECIPE = "epochs = 2\nbatch = 8\nlr = 0.05\nvalidation = 0.25\n"


@pytest.fixture
def recipe(tmp_path):
    (tmp_path / "few.toml").write_text(RECIPE)
    return str(tmp_path / "few.toml")


def scorer(**more):
    return Scorer(CASE.space(), ScoringSettings(proxies=("params",), **more), data=CASE.data(48))


@pytest.mark.parametrize("way", WAYS)
def test_values_are_accuracies_on_what_was_not_learnt_from(way, recipe):
    found = Learned(scorer(), way, recipe, WAYS[way])
    assert {name: len(part) for name, part in found.parts.items()} == {"train": 36, "val": 12}
    values = found(TEXTS)
    assert all(0 <= value <= 100 and (value * 12 / 100) == pytest.approx(round(value * 12 / 100)) for value in values)
    assert Learned(scorer(), way, recipe, WAYS[way])(TEXTS[::-1]) == values[::-1]
    assert found.fingerprint == Learned(scorer(), way, recipe, WAYS[way]).fingerprint
    assert found.fingerprint != Learned(scorer(seed=1), way, recipe, WAYS[way]).fingerprint
    others = [Learned(scorer(), one, recipe, steps).fingerprint for one, steps in WAYS.items() if one != way]
    assert found.fingerprint not in [*others, Learned(scorer(), "last_layer", recipe, 4).fingerprint]


def test_a_training_that_comes_to_nothing_measured_nothing(tmp_path):
    (tmp_path / "wild.toml").write_text("epochs = 3\nbatch = 8\nlr = 1e30\nvalidation = 0.25\n")
    assert Learned(scorer(), "trained", str(tmp_path / "wild.toml"))(TEXTS[:1]) == [None]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("searcher", ["random", "hnas"])
def test_searches_follow_it(way, searcher, recipe, tmp_path):
    data = Arrays(torch.randn(48, 3, 8, 8), torch.arange(48) % 3)
    asked = {
        "data": data,
        "evaluations": 3,
        "measure": way,
        "measure_recipe": recipe,
        "measure_steps": WAYS[way],
        "space_settings": {"channels": 4, "cells": 1},
    }
    if searcher == "hnas":
        asked |= {"searcher_settings": {"pool": 4, "metric": "params", "kappa": False, "method": "random"}}
    run = search("nasbench201", ["params"], searcher, out=tmp_path / "run", **asked)
    rows = run.record.candidates
    assert [one.name for one in run.record.objectives] == ["measured"]
    assert all(row.merit is not None for row in rows)
    assert (tmp_path / "run" / "measure" / "supernet.json").is_file() == (way != "trained")
    again = search("nasbench201", ["params"], searcher, out=tmp_path / "run", resume=True, **asked)
    assert [(row.architecture, row.merit) for row in again.record.candidates] == [
        (r.architecture, r.merit) for r in rows
    ]
    alone = search("nasbench201", ["params"], searcher, **asked)
    assert [(row.architecture, row.merit) for row in alone.record.candidates] == [
        (r.architecture, r.merit) for r in rows
    ]


def test_hnas_gives_a_darts_cell(tmp_path):
    """Trained at the width and depth that the recipe says, as the thesis does."""
    (tmp_path / "few.toml").write_text(
        "epochs = 1\nbatch = 12\nlr = 0.05\nvalidation = 0.5\nchannels = 2\nlayers = 3\n"
    )
    data = Arrays(torch.randn(24, 3, 8, 8), torch.arange(24) % 3)
    asked = {"data": data, "evaluations": 2, "measure": "trained", "measure_recipe": str(tmp_path / "few.toml")}
    asked |= {"searcher_settings": {"pool": 3, "metric": "params", "kappa": False, "method": "random"}}
    run = search("darts", ["params"], "hnas", **asked)
    assert run.record.best.merit == max(row.merit for row in run.record.candidates)
    assert run.best.space.contains(run.best.architecture)


def test_mistakes():
    with pytest.raises(UnknownNameError, match="way to measure 'train': did you mean trained"):
        search("nasbench201", ["params"], "random", evaluations=1, measure="train")
    with pytest.raises(InputError, match="has no one-shot network; say 'trained' instead"):
        search("resnet", ["params"], "random", evaluations=1, measure="inherited")
    with pytest.raises(InputError, match="measure_steps = 3: only measure = 'last_layer'"):
        search("nasbench201", ["params"], "random", evaluations=1, measure="trained", measure_steps=3)
    with pytest.raises(InputError, match="measure_steps: say what is measured too"):
        search("nasbench201", ["params"], "random", evaluations=1, measure_steps=3)
    with pytest.raises(InputError, match="give one of them"):
        search("nasbench201", ["params"], "random", evaluations=1, measure="trained", measured={TEXTS[0]: 1.0})
    with pytest.raises(InputError, match="say what is measured too"):
        search("nasbench201", ["params"], "random", evaluations=1, measure_recipe="fast")


# -- click logs -----------------------------------------------------------------------------------------------------------
SMALL = NASRecSmall(blocks=2, dense_widths=[16, 32], sparse_widths=[16])


def clicks(rows=120):
    rng = np.random.default_rng(0)
    dense, sparse = rng.standard_normal((rows, 3)), rng.integers(0, 5, (rows, 2))
    return Features(dense, sparse, (dense[:, 0] + (sparse[:, 0] == 1) > 0.4).astype(int))


def told_slowly(network, train, val, steps, batch, seed):
    """500 steps of NASRec's last layer (here fewer) with torch's own optimiser, and the log loss on the rest."""
    network = copy.deepcopy(network).train()
    optimiser = torch.optim.Adagrad(network.head.parameters(), eps=1e-2)
    warm = round(0.1 * steps)
    number = 0
    for epoch in range(steps):
        for one in train.epoch(batch, seed=derive(seed, "order"), number=epoch, drop_last=True):
            if number == steps:
                break
            share = (number - warm) / (steps - warm)
            cosine = 1e-8 + (0.04 - 1e-8) * (1 + math.cos(math.pi * share)) / 2
            optimiser.param_groups[0]["lr"] = 0.04 * (number + 1) / warm if number < warm else cosine
            network.zero_grad()
            F.binary_cross_entropy_with_logits(network(*one.inputs), one.labels).backward()
            torch.nn.utils.clip_grad_norm_(network.head.parameters(), 5.0)
            optimiser.step()
            number += 1
    (rest,) = val.epoch(len(val), shuffle=False)
    with torch.no_grad():
        return float(F.binary_cross_entropy_with_logits(network.eval()(*rest.inputs), rest.labels))


def test_click_logs_are_measured_by_their_log_loss_after_the_last_layer_learned(tmp_path):
    (tmp_path / "few.toml").write_text('base = "nasrec_supernet"\nbatch = 16\n')
    settings = ScoringSettings(proxies=("params",))
    found = Learned(Scorer(SMALL, settings, data=clicks()), "last_layer", str(tmp_path / "few.toml"), 20)
    texts = [str(SMALL.sample(stream(number))) for number in range(2)]
    values = found(texts)
    weights = {key: one.clone() for key, one in found._supernet.one_shot.state_dict().items()}
    for text, value in zip(texts, values, strict=True):
        network = found._supernet.inherit(text)
        seed = derive(found.seed, "last")
        slow = told_slowly(network, found.parts["train"], found.parts["val"], 20, 16, seed)
        assert value == pytest.approx(-slow, rel=1e-5)
    assert all(torch.equal(one, weights[key]) for key, one in found._supernet.one_shot.state_dict().items())
    inherited = Learned(Scorer(SMALL, settings, data=clicks()), "inherited", str(tmp_path / "few.toml"))(texts)
    assert all(value < 0 for value in inherited)
    assert inherited != values


def test_a_search_by_the_last_layer_ends_alike_when_it_was_stopped(tmp_path):
    (tmp_path / "few.toml").write_text('base = "nasrec_supernet"\nbatch = 16\n')
    asked = {"data": clicks(), "evaluations": 4, "measure": "last_layer", "measure_steps": 3, "finalists": 0}
    asked |= {"measure_recipe": str(tmp_path / "few.toml"), "searcher_settings": {"population": 2, "sample": 1}}

    def stop(event):
        if event.kind == "scored" and event.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(SMALL, ["params"], "batch_evolution", out=tmp_path / "run", observers=[stop], **asked)
    stopped = search(SMALL, ["params"], "batch_evolution", out=tmp_path / "run", resume=True, **asked)
    whole = search(SMALL, ["params"], "batch_evolution", **asked)
    assert any(event.kind == "resumed" for event in stopped.record.events)
    assert [(row.architecture, row.merit) for row in stopped.record.candidates] == [
        (row.architecture, row.merit) for row in whole.record.candidates
    ]
