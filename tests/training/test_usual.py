"""The recipe where nobody says one."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from foresee.data.features import Features
from foresee.spaces.candidate import Candidate
from foresee.spaces.nasrec import NASRecSmall
from foresee.task import Task
from foresee.training import usual
from foresee.training.loop import train
from foresee.training.usual import usual_recipe

ROWS = np.arange(80).reshape(40, 2)
LOG = Features(ROWS.astype(np.float32), ROWS % 7, np.arange(40) % 2)
SPACE = NASRecSmall(blocks=1, dense_widths=(16,), sparse_widths=(16,))
FOUND = Candidate(SPACE, SPACE.parse("linear2d:16@0 linear3d:16@0"), LOG.task)


def test_click_logs_have_their_own_by_their_size(monkeypatch):
    assert usual_recipe(FOUND, LOG) == usual_recipe("deepfm", LOG) == "ctr_small"
    monkeypatch.setattr(usual, "FEW_ROWS", 10)
    assert usual_recipe(FOUND, LOG) == "ctr_middle"
    monkeypatch.setattr(usual, "MANY_ROWS", 20)
    assert usual_recipe(FOUND, LOG) == "ctr"


def test_all_others_are_trained_as_before():
    cells = Candidate(SPACE, FOUND.architecture, Task())
    assert usual_recipe(nn.Linear(2, 2), LOG) == usual_recipe(cells, LOG) == "fast"


def test_a_training_without_a_recipe_takes_it():
    assert train(FOUND, LOG, epochs=1).recipe.name == "ctr_small"
    x = torch.randn(20, 4)
    assert train(nn.Linear(4, 2), (x, torch.arange(20) % 2), epochs=1, batch=10).recipe.name == "fast"
