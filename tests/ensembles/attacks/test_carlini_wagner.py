"""The smallest Euclidean change."""

from __future__ import annotations

import math

import pytest
import torch
from tests.ensembles.attacks.golden.network import CW, arrays, trained
from tests.ensembles.attacks.networks import exact, linear

from foresee.ensembles.attacks import attacks
from foresee.ensembles.attacks.margins import margin
from foresee.errors import InputError


def test_images_are_those_of_foolbox():
    """It takes the same steps of Adam; where it finds nothing its image is black."""
    found = attacks["cw"](*trained(), low=0.0, high=math.inf, first=1.0, **CW)
    theirs = torch.from_numpy(arrays()["foolbox_cw"])
    turned = theirs.flatten(1).amax(1) > 0
    assert turned.sum() > 20
    ours = found.success & found.right
    assert torch.equal(ours, turned & found.right)
    torch.testing.assert_close(found.images[ours], theirs[ours], atol=1e-5, rtol=0)


def test_with_time_it_comes_nearer_than_the_line_search_of_art():
    network, images, labels = trained()
    found = attacks["cw"](network, images, labels, steps=60, rate=0.1, searches=6)
    theirs = torch.from_numpy(arrays()["art_cw"])
    both = found.success & found.right & (network(theirs).argmax(1) != labels)
    assert int(both.sum()) == int(found.right.sum())
    lengths = (theirs - images).flatten(1).norm(dim=1)
    assert float((found.l2[both] / lengths[both]).median()) < 1


def test_of_a_linear_network_the_distance_is_found():
    network, images, labels = linear()
    away = exact(network, images, labels, dual=2)
    found = attacks["cw"](network, images, labels, searches=5, steps=120, rate=0.01)
    assert bool(found.success.all())
    assert bool((found.l2 >= away * (1 - 1e-4)).all())
    assert float((found.l2 / away).max()) < 1.05


def test_more_confidence_goes_further():
    network, images, labels = linear()
    settings = {"searches": 6, "steps": 60, "rate": 0.05}
    near, far = (attacks["cw"](network, images, labels, confidence=k, **settings) for k in (0.0, 1.0))
    assert bool((far.l2[far.success] > near.l2[far.success]).all())
    with torch.no_grad():
        assert float(margin(network(far.images), labels)[far.success].max()) <= -1 + 1e-4


def test_a_range_that_is_none():
    with pytest.raises(InputError, match="low"):
        attacks["cw"](*linear(), low=2.0, high=1.0)
