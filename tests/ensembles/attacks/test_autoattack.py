"""Four in a row."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.attacks.golden.network import EPS, arrays, trained
from tests.ensembles.attacks.networks import Rounded, linear

from foresee.ensembles.attacks import attacks
from foresee.errors import UnknownNameError, UnsupportedError

FEW = {"steps": 10, "queries": 60}


def test_as_much_is_left_as_by_art():
    network, _, labels = trained()
    theirs = (network(torch.from_numpy(arrays()["art_autoattack"])).argmax(1) == labels).double().mean()
    assert attacks["autoattack"](*trained(), eps=EPS, steps=30, queries=50).accuracy == pytest.approx(
        float(theirs), abs=1.01 / 60
    )


def test_what_a_part_breaks_it_breaks():
    found = attacks["autoattack"](*trained(), eps=EPS, **FEW)
    parts = {name: {"steps": 10} for name in ("apgd_ce", "apgd_t", "fab_t")} | {"square": {"queries": 60}}
    for name, settings in parts.items():
        alone = attacks[name](*trained(), eps=EPS, **settings)
        assert not bool((alone.success & ~found.success).any()), name


def test_later_parts_see_what_withstood_the_others():
    found = attacks["autoattack"](*trained(), eps=EPS, **FEW)
    first = attacks["apgd_ce"](*trained(), eps=EPS, steps=10)
    turned = first.success & first.right
    assert {one for one, was in zip(found.by, turned.tolist(), strict=True) if was} == {"apgd_ce"}
    assert torch.equal(found.images[turned], first.images[turned])
    assert set(found.gradients[turned].tolist()) == {11}
    assert all(bool(by) == bool(was) for by, was in zip(found.by, (found.success & found.right).tolist(), strict=True))


def test_hidden_gradients_are_found_out_by_the_last():
    network, images, labels = linear(samples=20)
    found = attacks["autoattack"](Rounded(network), images, labels, eps=0.1, **FEW)
    assert found.accuracy < 0.5
    assert found.by.count("square") > 8


def test_fewer_than_four_classes_are_said_and_can_be_helped():
    with pytest.raises(UnsupportedError, match="parts=apgd_ce,fab_t,square"):
        attacks["autoattack"](*linear(classes=3), eps=1e-4, **FEW)
    found = attacks["autoattack"](*linear(classes=3), eps=0.3, parts="apgd-ce,fab-t,square", **FEW)
    assert found.accuracy == 0
    with pytest.raises(UnknownNameError, match="part of autoattack 'apdg_ce'"):
        attacks["autoattack"](*linear(), parts=("apdg_ce",))
