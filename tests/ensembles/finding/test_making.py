"""One ensemble in the making: members where they belong, measures of what they predict, what was spent."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.finding.tiny import NB201, TINY, images

from foresee.ensembles.finding import ensemble
from foresee.ensembles.finding.members import labels_of
from foresee.ensembles.measures import measure

HOW = {**TINY, **NB201, "sampler": "mc"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ensemble")
    return ensemble(data=images(), out=folder, **HOW)


def test_measures_are_those_of_the_predictions(made):
    test = made.parts(images()).test
    assert torch.equal(made.labels, labels_of(test))
    assert made.measures["test"] == measure(made.probabilities, made.labels)
    with torch.no_grad():
        batch = next(iter(test.epoch(len(test), shuffle=False)))
        together = made.ensemble(batch.inputs).softmax(1)
    assert torch.allclose(together, made.probabilities.mean(0), atol=1e-5)


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


def test_what_was_spent_is_counted(made):
    spent = made.budget
    assert (spent["networks"], spent["epochs"], spent["supernet_epochs"], spent["posterior_epochs"]) == (2, 2, 1, 1)
    assert 1 <= spent["evaluations"] <= 4
    assert spent["scores"] == 0
    assert set(spent["seconds"]) == {"supernet", "posterior", "members"}
