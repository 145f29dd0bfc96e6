"""`ensemble`: the whole chain, what it keeps, what it refuses, and members that others have trained."""

from __future__ import annotations

import json

import pytest
import torch
from tests.ensembles.finding.tiny import DARTS, NB201, TINY, images

import foresee as fs
from foresee.ensembles.finding import EnsembleRun, choose, ensemble, members, train_member
from foresee.errors import InputError, RunError, SettingsMismatchError, UnsupportedError
from foresee.spaces.find import get

HOW = {**TINY, **NB201, "sampler": "mc"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ensemble")
    return ensemble(data=images(), out=folder, **HOW)


def test_all_files_are_there(made):
    names = {path.name for path in made.folder.iterdir()}
    assert names >= {
        *("settings.json", "supernet", "posterior.json", "selected.json", "members", "measures.json"),
        *("ensemble.safetensors", "ensemble.json", "predictions.npz"),
    }
    assert sorted(path.name for path in (made.folder / "members").iterdir()) == ["0", "1"]
    plain = json.loads((made.folder / "measures.json").read_text())
    assert plain.keys() == {"val", "test", "estimated", "budget"}
    selected = json.loads((made.folder / "selected.json").read_text())
    assert selected["architectures"] == list(made.architectures)


def test_the_second_call_does_nothing(made, monkeypatch):
    monkeypatch.setattr(members, "train", None)
    again = ensemble(data=images(), out=made.folder, **HOW)
    assert again.measures == made.measures


def test_without_a_folder_it_is_the_same(made):
    found = ensemble(data=images(), **HOW)
    assert torch.equal(found.probabilities, made.probabilities)
    assert found.architectures == made.architectures
    assert found.measures == made.measures


def test_other_settings_or_data_are_refused(made):
    with pytest.raises(SettingsMismatchError, match="iterations: 3 here, 2 in the run"):
        ensemble(data=images(), out=made.folder, **{**HOW, "iterations": 3})
    with pytest.raises(SettingsMismatchError, match="fingerprint"):
        ensemble(data=images(90), out=made.folder, **HOW)
    with pytest.raises(RunError, match="not the data"):
        made.parts(images(90))


def test_a_folder_of_something_else_is_refused(made, tmp_path):
    with pytest.raises(RunError, match="holds a search or a training"):
        ensemble(data=images(), out=made.folder / "members" / "0", **HOW)
    with pytest.raises(RunError, match="no ensemble here"):
        EnsembleRun.load(tmp_path)


def test_members_that_another_trained_are_picked_up(made, tmp_path, monkeypatch):
    said = {**HOW}
    count = choose(said.pop("space"), images(), tmp_path, **said)
    assert count == 2
    with pytest.raises(RunError, match="not all trained"):
        EnsembleRun.load(tmp_path)
    for number in (1, 0):
        place = train_member(tmp_path, number, images())
        assert place == tmp_path / "members" / str(number)
    with pytest.raises(InputError, match="member 2, of 2"):
        train_member(tmp_path, 2, images())
    monkeypatch.setattr(members, "train", None)
    assert train_member(tmp_path, 0, images()) == tmp_path / "members" / "0"  # twice is once
    found = ensemble(data=images(), out=tmp_path, **HOW)
    assert torch.equal(found.probabilities, made.probabilities)


def test_a_space_that_is_handed_over_keeps_its_settings():
    space = get("nasbench201", channels=2, cells=1)
    said = {key: value for key, value in HOW.items() if key not in NB201}
    found = ensemble(space, images(), **said)
    assert found.settings.found_space.settings() == space.settings()


def test_a_space_without_a_supernet_has_its_rivals():
    said = {**TINY, "space": "robnet", "channels": 2, "layers": 3}
    with pytest.raises(UnsupportedError, match="has no one-shot network; take a sampler that needs no supernet"):
        ensemble(data=images(), sampler="mc", **said)
    found = ensemble(data=images(), sampler="nes-rs", **{**said, "pool": 2})
    assert len(found.architectures) == 2


def test_a_test_is_data_or_a_share():
    how = {**HOW, "sampler": "deep"}
    assert ensemble(data=images(), test=0.5, **how).measures["test"].samples == 60
    assert ensemble(data=images(), test=images(30), **how).measures["test"].samples == 30


def test_public_names():
    assert fs.ensemble.__name__ == "ensemble"
    assert fs.Ensemble.__name__ == "Ensemble"
    assert fs.EnsembleRun is EnsembleRun


@pytest.mark.slow
def test_darts_by_particles(tmp_path):
    found = ensemble(data=images(), out=tmp_path, sampler="svgd-rd", **{**TINY, **DARTS})
    assert EnsembleRun.load(tmp_path).measures == found.measures
    assert found.measures["estimated"].samples == found.measures["val"].samples
