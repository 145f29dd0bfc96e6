"""Scores with weights of one warmed-up supernet: those that the supernet's own paths have."""

from __future__ import annotations

import pickle

import pytest
import torch

from foresee.devices import threads
from foresee.papers.sigeo.shared import Sharing
from foresee.papers.sigeo.warming import WARM_UP, Descent, warmed
from foresee.papers.workshop import Workshop
from foresee.scoring import Scorer, ScoringSettings
from foresee.supernets.supernet import Supernet

CELLS = (
    "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|",
    "|nor_conv_1x1~0|+|skip_connect~0|nor_conv_3x3~1|+|none~0|avg_pool_3x3~1|skip_connect~2|",
)
OWN = {**WARM_UP, "levels": (0, 40), "samples": 40, "batch": 8}  # 0 and 2 steps


@pytest.fixture
def work(tmp_path):
    settings = ScoringSettings(proxies=("grad_norm",), data="synthetic", inputs=(3, 8, 8), outputs=3, batch_size=4)
    scorer = Scorer("nasbench201", settings, space_settings={"channels": 2, "cells": 1})
    return Sharing(scorer, Descent.of(OWN), tmp_path / "supernets")


def test_networks_inherit_what_was_trained_once(work):
    work.prepare([0])
    own = Supernet(work.scorer.space, work.scorer.task, seed=0)
    for steps in (0, 2):
        with threads(work.scorer.settings.threads):
            if steps:
                own.train(work.scorer.data, steps, recipe=work.descent.recipe)
            expected = [work.scorer.of_network(own.inherit(cell), seed=0)[0].value for cell in CELLS]
        found = warmed(Workshop(), work, CELLS)[40 if steps else 0, "grad_norm"][0]
        assert [one.value for one in found] == expected
    kept = {path: path.stat().st_mtime_ns for path in work.folder.rglob("*.safetensors")}
    assert len(kept) == 1
    work.prepare([0])
    assert {path: path.stat().st_mtime_ns for path in work.folder.rglob("*.safetensors")} == kept


def test_looking_leaves_the_supernet_as_it_was(work):
    work.prepare([0])
    work((CELLS[0], 0))
    before = {name: one.clone() for name, one in work._supernets[2, 0].one_shot.state_dict().items()}
    work((CELLS[0], 0))
    work((CELLS[1], 0))
    assert all(torch.equal(one, before[name]) for name, one in work._supernets[2, 0].one_shot.state_dict().items())
    again = pickle.loads(pickle.dumps(work))
    assert [[one.value for one in row] for row in again((CELLS[1], 0))] == [
        [one.value for one in row] for row in work((CELLS[1], 0))
    ]
