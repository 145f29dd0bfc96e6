"""Many steps."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.attacks.golden.network import EPS, PGD, arrays, doubted, trained

from foresee.ensembles.attacks import attacks


@pytest.mark.parametrize(("settings", "kept"), [(PGD, "art_pgd"), ({}, "art_pgd_thesis")], ids=["strong", "thesis"])
def test_images_are_those_of_art(settings, kept):
    found = attacks["pgd"](*trained(), **settings)
    seen, theirs = doubted(), torch.from_numpy(arrays()[kept])
    assert ((found.images - theirs).abs() > 1e-5).float().mean() < 0.01  # of all samples, whatever the processor
    torch.testing.assert_close(found.images[seen], theirs[seen], atol=1e-5, rtol=0)


def test_many_steps_break_what_one_step_breaks_and_more():
    once = attacks["fgsm"](*trained(), eps=EPS)
    many = attacks["pgd"](*trained(), eps=EPS, step=EPS / 4)
    assert many.accuracy <= once.accuracy


def test_a_larger_ball_never_leaves_more():
    accuracies = [
        attacks["pgd"](*trained(), eps=eps, step=eps / 4, steps=20).accuracy for eps in (0.02, 0.05, 0.1, 0.2, 0.4)
    ]
    assert accuracies == sorted(accuracies, reverse=True)
    assert accuracies[-1] == 0


def test_a_random_start_lies_in_the_ball():
    found = attacks["pgd"](*trained(), eps=0.1, step=1e-6, steps=1, random=True)
    assert 0.05 < float(found.linf.mean()) <= 0.1
