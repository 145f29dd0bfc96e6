"""What attacks did, as plain values and as a table."""

from __future__ import annotations

import json

import pytest
from tests.ensembles.attacks.networks import linear

from foresee.ensembles.defence import defend
from foresee.ensembles.defended import Defence, Spread
from foresee.errors import InputError


@pytest.fixture(scope="module")
def found():
    members = [linear(seed=seed)[0] for seed in (1, 2, 3)]
    outsider, images, labels = linear()
    return defend(members, images, labels, attacks=["fgsm", "pgd"], outsider=outsider, whole=True)


def test_it_is_written_and_read(found):
    assert Defence.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_it_is_shown_as_a_table(found):
    lines = str(found).splitlines()
    assert "control %" in lines[0]
    assert "whole %" in lines[0]
    assert "±" in lines[1]
    assert "3 attacked members" in lines[3]
    assert "<table" in found._repr_html_()


def test_attacks_by_name(found):
    assert found["pgd"].attack == "pgd"
    with pytest.raises(InputError, match="there are fgsm, pgd"):
        found["cw"]


def test_spreads():
    assert str(Spread.of([0.5])) == "50.0"
    assert Spread.of([0.2, 0.4]).deviation == pytest.approx(0.1414, abs=1e-4)
