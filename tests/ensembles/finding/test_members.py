"""Members: who is whom, each trained once, wherever it was trained."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.finding.tiny import DARTS, NB201, TINY, images

from foresee.ensembles.finding import members as room
from foresee.ensembles.finding.members import Member, Members, copied, finished, labels_of, numbered, predicted, thinned
from foresee.ensembles.finding.parts import parts_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.spaces.candidate import Candidate
from foresee.training.loading import load


@pytest.fixture(scope="module")
def settings():
    return EnsembleSettings(**{**TINY, **NB201})


@pytest.fixture(scope="module")
def parts():
    return parts_of(images())


@pytest.fixture(scope="module")
def member(settings, parts):
    space = settings.found_space
    return Member(Candidate(space, space.named["ResNet"], parts.task))


def test_equal_architectures_are_numbered_and_seeded_apart(settings, parts, member):
    first, second = numbered([member.candidate] * 2)
    assert first == member
    assert first.key != second.key
    assert first.seed(0) != second.seed(0) != first.seed(1)
    assert Member.from_json(second.to_json()) == second


def test_each_is_trained_once_in_a_pool(settings, parts, member, tmp_path, monkeypatch):
    pool = Members(settings, parts, tmp_path)
    found = pool.train(member)
    assert finished(tmp_path / member.key)
    monkeypatch.setattr(room, "train", None)  # nobody trains from here on
    assert pool.train(member) is found
    again = Members(settings, parts, tmp_path).train(member)
    said = predicted(again.network, parts.test)
    assert torch.equal(said, predicted(found.network, parts.test))
    assert torch.equal(pool.probabilities(member, "test"), said)
    assert pool.pool([member, member], "val").shape == (2, len(parts.val), 3)


def test_a_copy_is_a_training_of_its_own(settings, parts, member, tmp_path):
    pool = Members(settings, parts, tmp_path / "pool")
    found = pool.train(member)
    place = tmp_path / "members" / "0"
    place.mkdir(parents=True)
    (place / "training.json").write_text("{}")  # of one that was killed
    copied(tmp_path / "pool" / member.key, place)
    assert finished(place)
    assert not list(place.glob("last*"))
    assert torch.equal(predicted(load(place).network, parts.val), predicted(found.network, parts.val))


def test_predictions_are_probabilities_in_order(settings, parts, member):
    found = Members(settings, parts).train(member)
    said = predicted(found.network, parts.test)
    assert torch.allclose(said.sum(1), torch.ones(len(parts.test)))
    right = (said.argmax(1) == labels_of(parts.test)).float().mean()
    assert float(right) == pytest.approx(found.test.accuracy)


def test_thinned_networks_differ_and_answer_alike_each_time(parts):
    asked = EnsembleSettings(**{**TINY, **DARTS, "droppath": 0.5})
    space = asked.found_space
    network = Candidate(space, space.named["DARTS_V2"], parts.task).build(0)
    first, second = thinned(network, asked)
    assert torch.equal(predicted(first, parts.val), predicted(first, parts.val))
    assert not torch.equal(predicted(first, parts.val), predicted(second, parts.val))
