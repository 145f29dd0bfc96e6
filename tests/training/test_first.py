"""The part of first order learns before the rest, and what it is worth is never lost."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.training.stopping import stopped_after

from foresee.data.features import Features
from foresee.recommenders import make
from foresee.spaces.candidate import Candidate
from foresee.spaces.nasrec import NASRecSmall
from foresee.training.building import for_recipe
from foresee.training.first import FOLDER, first_part
from foresee.training.loading import load
from foresee.training.loop import train
from foresee.training.recipe import recipe

DRAWS = np.random.default_rng(0)
NUMBERS, VALUES = DRAWS.normal(size=(240, 2)).astype(np.float32), DRAWS.integers(0, 5, (240, 3))
CLICKED = (NUMBERS[:, 0] + (VALUES[:, 0] == 1) + DRAWS.normal(size=240) > 0.4).astype(int)
LOG, HELD = (Features(NUMBERS[at], VALUES[at], CLICKED[at]) for at in (slice(0, 160), slice(160, 240)))
SPACE = NASRecSmall(blocks=1, dense_widths=(16,), sparse_widths=(16,))
FOUND = Candidate(SPACE, SPACE.parse("linear2d:16@0 linear3d:16@0"), LOG.task)
QUICK = recipe("ctr_small", epochs=3, batch=32, lr=0.01)


def test_a_recipe_gives_the_part_where_a_space_can_have_it():
    given = for_recipe(FOUND, QUICK, LOG.task)
    assert given.space.settings()["first_order"] is True
    assert "first_order" not in for_recipe(FOUND, recipe("ctr"), LOG.task).space.settings()
    network = given.build(0)
    assert first_part(network) is network.first_order
    assert first_part(FOUND.build(0)) is None
    assert first_part(make("logistic", LOG.task)) is None  # nothing is left that could learn after it


@pytest.mark.parametrize("what", [FOUND, "deepfm"])
def test_it_is_never_worse_on_validation_rows_than_the_part_alone(what):
    alone = train("logistic", LOG, QUICK, validation=HELD, seed=1)
    whole = train(what, LOG, QUICK, validation=HELD, seed=1)
    assert whole.validation.loss <= alone.validation.loss + 1e-3


def test_where_no_epoch_is_better_the_part_alone_is_kept(tmp_path):
    found = train(FOUND, LOG, QUICK, validation=HELD, out=tmp_path, epochs=1, weight_decay=0.0, lr=0.3, average=0.0)
    if found.best_epoch:  # another machine's rounding
        pytest.skip("the rate was not too large here")
    alone = load(tmp_path).network.first_order
    rows = torch.from_numpy(NUMBERS), torch.from_numpy(VALUES)
    with torch.no_grad():
        assert torch.allclose(found.network.cpu()(*rows), alone(*rows), atol=1e-6)
    assert found.best_place == 0
    assert "better than the part of first order alone" in found.save_report(tmp_path / "r.html").read_text()


@pytest.mark.parametrize("after", [4, 17])  # while the part learns alone (at most 15 steps), and later
def test_stopped_in_either_part_it_goes_on_to_the_same_end(tmp_path, monkeypatch, after):
    whole = train(FOUND, LOG, QUICK, validation=HELD, seed=3)
    with stopped_after(after, monkeypatch):
        train(FOUND, LOG, QUICK, validation=HELD, seed=3, out=tmp_path, save_seconds=0)
    assert (tmp_path / FOLDER).is_dir()
    parted = train(FOUND, LOG, QUICK, validation=HELD, seed=3, out=tmp_path, resume=True)
    assert (parted.validation, parted.best_epoch) == (whole.validation, whole.best_epoch)
    for ours, theirs in zip(parted.network.parameters(), whole.network.parameters(), strict=True):
        assert torch.equal(ours, theirs)
