"""Defences of folders: the numbers of `defend`, kept round by round, and gone on with after any end."""

from __future__ import annotations

import json

import pytest
from tests.ensembles.defending.trained import ensembled, trained

from foresee.ensembles.defence import defend
from foresee.ensembles.defended import OUTSIDER, WHOLE
from foresee.ensembles.defending import Withstood, defend_kept, run
from foresee.ensembles.defending.samples import samples_of
from foresee.ensembles.defending.targets import target_of
from foresee.ensembles.defending.withstood import DEFENCE, opened
from foresee.errors import InputError, RunError

ATTACKS = {"fgsm": {"eps": 0.1}, "pgd": {"eps": 0.1, "steps": 3}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("defending")
    ensembled(place / "e")
    trained(place / "out", seed=7)
    return place


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(run, "QUERIES", 5)
    monkeypatch.setattr(run, "LOOKED_AT", 10)


def _whole(folder, **changes) -> Withstood:
    given = {"attacks": ATTACKS, "samples": 40, "outsider": folder / "out", "whole": True, "masking": False}
    return defend_kept(folder / "e", **{**given, **changes})


def test_the_numbers_are_those_of_defend(folder) -> None:
    target, outside = target_of(folder / "e"), target_of(folder / "out")
    chosen = samples_of(target, count=40)
    plain = defend(
        target.ensemble, chosen.images, chosen.labels, attacks=ATTACKS, outsider=outside.members[0], whole=True
    )
    assert _whole(folder).defence == plain


def test_what_is_done_is_not_done_again(folder, tmp_path, monkeypatch) -> None:
    first = _whole(folder, out=tmp_path / "d", masking=True)
    assert {one.attack for one in first.defence.attacks} == {"fgsm", "pgd"}
    assert first.masking.keys() == {0, 1, WHOLE}
    monkeypatch.setattr(run, "find_masking", None)  # to call it would be an error
    events = []
    again = _whole(folder, out=tmp_path / "d", masking=True, observers=[events.append])
    assert again.defence == first.defence
    assert again.masking == first.masking
    assert [(one.kind, one.done, one.total) for one in events] == [("resumed", 11, 11), ("finished", 11, 11)]
    assert opened(tmp_path / "d").to_json() == again.to_json()


def test_more_attacks_extend_it(folder, tmp_path) -> None:
    _whole(folder, attacks=["fgsm"], out=tmp_path / "d")
    events = []
    found = _whole(folder, attacks=["fgsm", "apgd_ce"], out=tmp_path / "d", observers=[events.append])
    assert (events[0].kind, events[0].done, events[0].total) == ("resumed", 4, 8)
    assert [one.attack for one in found.defence.attacks] == ["fgsm", "apgd_ce"]


def test_stopped_anywhere_it_ends_with_the_same(folder, tmp_path) -> None:
    whole = _whole(folder, out=tmp_path / "whole", masking=True).to_json()
    for stop in (1, 6, 10):

        def interrupt(event, at=stop):
            if event.kind == "scored" and event.done == at:
                raise KeyboardInterrupt

        place = tmp_path / f"stopped-{stop}"
        with pytest.raises(KeyboardInterrupt):
            _whole(folder, out=place, masking=True, observers=[interrupt])
        assert len(json.loads((place / DEFENCE).read_text())["rounds"]) == min(stop, 8)
        with pytest.raises(RunError, match="not finished"):
            opened(place)
        again = _whole(folder, out=place, masking=True).to_json()
        assert {**again, "seconds": 0} == {**whole, "seconds": 0}


def test_a_control_can_be_added_later(folder, tmp_path) -> None:
    _whole(folder, outsider=None, out=tmp_path / "d")
    events = []
    found = _whole(folder, out=tmp_path / "d", observers=[events.append])
    assert (events[0].done, events[0].total) == (6, 8)
    assert found.name(OUTSIDER) == "out"


def test_an_ensemble_is_no_control(folder) -> None:
    with pytest.raises(InputError, match="the control is one network"):
        _whole(folder, outsider=folder / "e")


def test_what_the_attacks_say_of_eps_is_looked_at(folder) -> None:
    found = _whole(folder, masking=True)
    assert found.masking[0].compared[2].weaker == "PGD within 0.1"
