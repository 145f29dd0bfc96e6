"""One step."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.attacks.golden.network import EPS, arrays, doubted, trained
from tests.ensembles.attacks.networks import exact, linear

from foresee.ensembles.attacks import attacks


def test_images_are_those_of_art():
    found = attacks["fgsm"](*trained(), eps=EPS)
    seen, kept = doubted(), torch.from_numpy(arrays()["art_fgsm"])
    assert seen.sum() > 25
    assert ((found.images - kept).abs() > 1e-5).float().mean() < 0.01  # of all samples, whatever the processor
    torch.testing.assert_close(found.images[seen], kept[seen], atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", ["fgsm", "pgd", "apgd_ce"])
def test_with_two_classes_it_succeeds_exactly_where_the_boundary_is_nearer(name):
    network, images, labels = linear(classes=2, samples=40)
    away = exact(network, images, labels, dual=1)
    eps = float(away.median())
    found = attacks[name](network, images, labels, eps=eps)
    sure = (away - eps).abs() > 1e-5
    assert torch.equal(found.success[sure], (away < eps)[sure])
    assert 0.3 < found.accuracy < 0.7
