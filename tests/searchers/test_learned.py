"""What a search follows, measured here: with inherited weights, and by short training."""

from __future__ import annotations

import pytest
import torch
from tests.one_shots import CASES

from foresee.data.arrays import Arrays
from foresee.errors import InputError, UnknownNameError
from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers import search
from foresee.searchers.learned import Learned
from foresee.seeds import stream

CASE = CASES["nasbench201"]
TEXTS = [str(CASE.space().sample(stream(number))) for number in range(3)]
RECIPE = "epochs = 2\nbatch = 8\nlr = 0.05\nvalidation = 0.25\n"


@pytest.fixture
def recipe(tmp_path):
    (tmp_path / "few.toml").write_text(RECIPE)
    return str(tmp_path / "few.toml")


def scorer(**more):
    return Scorer(CASE.space(), ScoringSettings(proxies=("params",), **more), data=CASE.data(48))


@pytest.mark.parametrize("way", ["inherited", "trained"])
def test_values_are_accuracies_on_what_was_not_learnt_from(way, recipe):
    found = Learned(scorer(), way, recipe)
    assert {name: len(part) for name, part in found.parts.items()} == {"train": 36, "val": 12}
    values = found(TEXTS)
    assert all(0 <= value <= 100 and (value * 12 / 100) == pytest.approx(round(value * 12 / 100)) for value in values)
    assert Learned(scorer(), way, recipe)(TEXTS[::-1]) == values[::-1]
    assert found.fingerprint == Learned(scorer(), way, recipe).fingerprint
    assert found.fingerprint != Learned(scorer(seed=1), way, recipe).fingerprint
    assert found.fingerprint != Learned(scorer(), "trained" if way == "inherited" else "inherited", recipe).fingerprint


def test_a_training_that_comes_to_nothing_measured_nothing(tmp_path):
    (tmp_path / "wild.toml").write_text("epochs = 3\nbatch = 8\nlr = 1e30\nvalidation = 0.25\n")
    assert Learned(scorer(), "trained", str(tmp_path / "wild.toml"))(TEXTS[:1]) == [None]


@pytest.mark.parametrize("way", ["inherited", "trained"])
@pytest.mark.parametrize("searcher", ["random", "hnas"])
def test_searches_follow_it(way, searcher, recipe, tmp_path):
    data = Arrays(torch.randn(48, 3, 8, 8), torch.arange(48) % 3)
    asked = {
        "data": data,
        "evaluations": 3,
        "measure": way,
        "measure_recipe": recipe,
        "space_settings": {"channels": 4, "cells": 1},
    }
    if searcher == "hnas":
        asked |= {"searcher_settings": {"pool": 4, "metric": "params", "kappa": False, "method": "random"}}
    run = search("nasbench201", ["params"], searcher, out=tmp_path / "run", **asked)
    rows = run.record.candidates
    assert [one.name for one in run.record.objectives] == ["measured"]
    assert all(row.merit is not None for row in rows)
    assert (tmp_path / "run" / "measure" / "supernet.json").is_file() == (way == "inherited")
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
    with pytest.raises(InputError, match="give one of them"):
        search("nasbench201", ["params"], "random", evaluations=1, measure="trained", measured={TEXTS[0]: 1.0})
    with pytest.raises(InputError, match="say what is measured too"):
        search("nasbench201", ["params"], "random", evaluations=1, measure_recipe="fast")
