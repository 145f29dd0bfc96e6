"""Samplers compared: one supernet and one pool for each seed, failures of one, numbers over seeds."""

from __future__ import annotations

import json

import pytest
from tests.ensembles.finding.tiny import NB201, TINY, images

from foresee.ensembles.finding import compare_ensembles, members
from foresee.ensembles.finding.compared import EnsembleComparison
from foresee.ensembles.finding.comparing import entries
from foresee.errors import InputError, RunError, UnknownNameError
from foresee.statistics import mean_of_few

SAMPLERS = ["mc", "uniform", "nes-rs", "deep", "droppath", "snapshot"]
HOW = {**TINY, **NB201, "pool": 3}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return compare_ensembles(data=images(), samplers=SAMPLERS, seeds=2, out=tmp_path_factory.mktemp("compared"), **HOW)


def test_each_network_is_trained_once(made):
    chosen = {one: json.loads((made.folder / "seed-0" / one / "selected.json").read_text()) for one in ("mc", "nes_rs")}
    pool = {path.name for path in (made.folder / "seed-0" / "pool").iterdir()}
    needed = {
        (one["architecture"], one["number"]) for said in chosen.values() for one in said["members"] + said["pool"]
    }
    assert len(pool) >= len(needed)
    deep, snapshot = (made.run(one, 0) for one in ("deep", "snapshot"))
    assert deep.probabilities[0].equal(snapshot.probabilities[0])  # the first of both is one training
    assert len(list((made.folder / "seed-0").glob("shared-*/supernet"))) == 1


def test_what_cannot_be_done_is_a_reason_and_the_others_go_on(made):
    failed = [one for one in made.rows if not one.ok]
    assert {one.label for one in failed} == {"droppath"}
    assert "no paths to drop" in failed[0].reason
    assert "droppath, seed 1" in str(made)
    assert made.to_json()["means"].keys() == {"mc", "uniform", "nes_rs", "deep", "snapshot"}


def test_differences_are_paired(made):
    ours = [made.run("mc", seed).measures["test"].error for seed in (0, 1)]
    theirs = [made.run("uniform", seed).measures["test"].error for seed in (0, 1)]
    assert made.reference == "uniform"
    assert made.mean("mc") == mean_of_few(ours)
    assert made.difference("mc") == mean_of_few([one - other for one, other in zip(ours, theirs, strict=True)])
    assert made.difference("deep", "nll", against="mc").n == 2


def test_budgets_are_those_of_each_alone(made):
    spent = {label: made.spent(label) for label in ("mc", "uniform", "nes_rs", "deep")}
    assert spent["mc"]["supernet_epochs"] == spent["uniform"]["supernet_epochs"] == 1
    assert spent["nes_rs"]["networks"] == 3
    assert spent["deep"]["epochs"] == 2
    assert spent["deep"]["supernet_epochs"] == spent["deep"]["evaluations"] == 0


def test_it_is_read_and_gone_on_with(made, monkeypatch):
    monkeypatch.setattr(members, "train", None)  # nothing is left to train
    again = compare_ensembles(data=images(), samplers=SAMPLERS, seeds=2, out=made.folder, **HOW)
    read = EnsembleComparison.load(made.folder)
    assert again.rows == made.rows == read.rows
    assert str(read) == str(made)
    with pytest.raises(RunError, match="no comparison here"):
        EnsembleComparison.load(made.folder / "seed-0")


def test_labels_may_have_settings_that_change_no_member(tmp_path):
    wanted = {"flat": {"sampler": "mc", "temperature": 10.0}, "free": {"sampler": "mc", "posterior": "params"}}
    found = compare_ensembles(data=images(), samplers=wanted, seeds=[4], out=tmp_path, **HOW, proxy_samples=10)
    assert [one.label for one in found.rows] == ["flat", "free"]
    assert len(list((tmp_path / "seed-4").glob("shared-*"))) == 2
    assert found.run("free", 4).budget["scores"] >= 10
    short = compare_ensembles(data=images(), samplers=["mc:params"], seeds=[4], out=tmp_path, **HOW, proxy_samples=10)
    assert short.rows[0].architectures == found.rows[1].architectures
    assert [short.rows[0].label, short.rows[0].sampler] == ["mc:params", "mc"]
    with pytest.raises(InputError, match="may not have a epochs of its own"):
        entries("nasbench201", {"long": {"sampler": "mc", "epochs": 9}}, {})


def test_wrong_names_are_said_before_anything_is_trained():
    with pytest.raises(UnknownNameError, match="uniform"):
        compare_ensembles(data=images(), samplers=["mc", "unifrom"], **HOW)
    with pytest.raises(UnknownNameError, match="naswot"):
        compare_ensembles(data=images(), samplers=["mc", "mc:nasswot"], **HOW)
    with pytest.raises(UnknownNameError, match="reference"):
        compare_ensembles(data=images(), samplers=["mc"], reference="deep", **HOW)
    with pytest.raises(InputError, match="no samplers"):
        compare_ensembles(data=images(), samplers=[], **HOW)
