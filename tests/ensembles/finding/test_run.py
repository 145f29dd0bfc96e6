"""`ensemble`: the whole chain, what it keeps, what it refuses, and members that others have trained."""

from __future__ import annotations

import json

import pytest
import torch
from tests.ensembles.finding.tiny import DARTS, NB201, TINY, images

import foresee as fs
from foresee.ensembles.finding import EnsembleRun, choose, ensemble, members, train_member
from foresee.ensembles.finding.members import labels_of
from foresee.ensembles.measures import measure
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


def test_measures_are_those_of_the_predictions(made):
    test = made.parts(images()).test
    assert torch.equal(made.labels, labels_of(test))
    assert made.measures["test"] == measure(made.probabilities, made.labels)
    with torch.no_grad():
        batch = next(iter(test.epoch(len(test), shuffle=False)))
        together = made.ensemble(batch.inputs).softmax(1)
    assert torch.allclose(together, made.probabilities.mean(0), atol=1e-5)


def test_it_is_read_from_its_folder(made):
    read = EnsembleRun.load(made.folder)
    assert read.measures == made.measures
    assert read.settings == made.settings
    assert read.statistics == made.statistics
    assert torch.equal(read.probabilities, made.probabilities)
    for one, other in zip(read.ensemble.parameters(), made.ensemble.parameters(), strict=True):
        assert torch.equal(one, other)
    assert str(read) == str(made)
    assert "ensemble" in str(made)
    assert "<table" in made._repr_html_()


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


def test_pooled_members_are_trained_in_the_pool_and_copied(tmp_path):
    how = {**TINY, **NB201, "sampler": "nes-rs", "pool": 3}
    found = ensemble(data=images(), out=tmp_path, **how)
    assert len(list((tmp_path / "pool").iterdir())) == 3
    assert found.budget["networks"] == found.budget["epochs"] == 3
    assert len(list((tmp_path / "members").iterdir())) == 2


def test_one_member_is_an_ensemble_too():
    found = ensemble(data=images(), **{**HOW, "size": 1})
    assert found.measures["test"].ppd == 0
    assert found.measures["test"].error == found.measures["test"].members[0]


def test_averaged_outputs_are_measured_as_they_are_predicted():
    found = ensemble(data=images(), **{**HOW, "average": "outputs"})
    test = found.parts(images()).test
    with torch.no_grad():
        batch = next(iter(test.epoch(len(test), shuffle=False)))
        wrong = found.ensemble(batch.inputs).argmax(1) != batch.labels
    assert found.measures["test"].error == pytest.approx(float(wrong.double().mean()))


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


def test_public_names():
    assert fs.ensemble is ensemble
    assert fs.Ensemble.__name__ == "Ensemble"
    assert fs.EnsembleRun is EnsembleRun


@pytest.mark.slow
def test_darts_by_particles(tmp_path):
    found = ensemble(data=images(), out=tmp_path, sampler="svgd-rd", **{**TINY, **DARTS})
    assert EnsembleRun.load(tmp_path).measures == found.measures
    assert found.measures["estimated"].samples == found.measures["val"].samples
