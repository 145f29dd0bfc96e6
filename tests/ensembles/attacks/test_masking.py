"""Signs of masked gradients."""

from __future__ import annotations

import json

import pytest
from tests.ensembles.attacks.golden.network import EPS, trained
from tests.ensembles.attacks.networks import Rounded, Saturated, linear

from foresee.ensembles.attacks import Masking, find_masking
from foresee.ensembles.attacks.masking import Compared

FEW = {"steps": 20, "queries": 100}


def test_an_honest_network_shows_no_sign():
    found = find_masking(*trained(), eps=EPS, **FEW)
    assert not found.suspicious, found.signs
    assert "no sign" in str(found)
    assert found.zero_gradients == 0


@pytest.mark.parametrize("hide", [Rounded, Saturated])
def test_a_network_that_hides_is_found_out(hide):
    network, images, labels = linear(samples=30)
    found = find_masking(hide(network), images, labels, eps=0.1, **FEW)
    assert found.suspicious
    assert found.zero_gradients > 0.5
    blackbox = found.compared[-1]
    assert blackbox.suspicious
    assert blackbox.weaker_accuracy < blackbox.stronger_accuracy
    assert "suspicious" in str(found)


def test_what_is_within_noise_is_no_sign():
    assert not Compared("steps", "a", "b", 0.5, 0.5, 5, 5).suspicious
    assert not Compared("steps", "a", "b", 0.5, 0.5, 0, 0).suspicious
    assert not Compared("steps", "a", "b", 0.5, 0.5, 6, 0).suspicious
    assert Compared("steps", "a", "b", 0.5, 0.5, 7, 0).suspicious
    assert Compared("steps", "a", "b", 0.5, 0.5, 0, 0).chance == 1


def test_it_is_written_and_read():
    found = find_masking(*linear(), steps=2, queries=5)
    assert Masking.from_json(json.loads(json.dumps(found.to_json()))) == found
