"""A study of two tiny networks, trained on a few made-up images."""

from __future__ import annotations

import pytest
import torch

from foresee.errors import InputError
from foresee.insight.convergence import converge, learn
from foresee.insight.variants import Variant, widest
from foresee.spaces.darts.named import NAMED
from foresee.task import Task

_GENERATOR = torch.Generator().manual_seed(0)
DATA = (torch.randn(60, 1, 8, 8, generator=_GENERATOR), torch.arange(60) % 10)
TINY = {"task": Task((1, 8, 8), 10), "size": {"channels": 2, "layers": 1}, "batch": 16, "crop": 0, "flip": False}
CELLS = [Variant("DARTS", NAMED["DARTS_V2"]), Variant("wide", widest(NAMED["DARTS_V2"]))]


def test_a_study_goes_on_where_it_was(tmp_path):
    """The same curves whether kept or not, and a second time from what was kept."""
    asked = {"epochs": 1, "rates": (0.1,), "seeds": [5], **TINY}
    told = []
    study = converge(CELLS, DATA, out=tmp_path, observers=[told.append], **asked)
    assert [(one.cell, one.seed, one.rate) for one in study.curves] == [("DARTS", 5, 0.1), ("wide", 5, 0.1)]
    assert len(told) == 2
    assert study.steps[0] > 1
    assert study.values().shape == (1, 2)
    assert 0 <= study.tests().min() <= 1
    assert converge(CELLS, DATA, out=tmp_path, **asked) == study
    assert learn(CELLS[0], DATA, 5, epochs=1, lr=0.1, **TINY)[0] == study.curves[0]


def test_a_training_that_diverges_is_a_curve_with_a_reason():
    curve, trained = learn(CELLS[0], DATA, lr=1e30, epochs=1, **TINY)
    assert trained is None
    assert curve.reason
    assert curve.test_accuracy is None


def test_cells_need_names():
    with pytest.raises(InputError, match="another name"):
        converge([CELLS[0], CELLS[0]], DATA)
