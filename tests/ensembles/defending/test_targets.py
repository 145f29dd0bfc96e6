"""What can be attacked: folders of ensembles and trainings, several trainings, modules; pixels go in."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.defending.trained import ensembled, trained
from torch import nn

import foresee as fs
from foresee.ensembles import Ensemble
from foresee.ensembles.defending.targets import is_ensemble, of_weights, target_of
from foresee.errors import InputError, RunError
from foresee.training.export.sources import source_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("targets")
    ensembled(place / "e")
    trained(place / "out", seed=7)
    return place


def test_pixels_go_in_and_the_answers_are_those_of_normalised_inputs(folder) -> None:
    found = target_of(folder / "e")
    assert found.names == ("member 0", "member 1")
    assert found.task.inputs == (3, 4, 4)
    kept = Ensemble.load(folder / "e")
    plain = fs.data.load("digits", inputs=(3, 4, 4), split="test", normalise=False).batch(50)
    by = source_of(folder / "e" / "members" / "0").statistics  # of what was learnt from
    with torch.no_grad():
        torch.testing.assert_close(found.ensemble(plain.inputs), kept(by.apply(plain.inputs)))


def test_several_trainings_are_an_ensemble(folder) -> None:
    found = target_of([folder / "out", folder / "e" / "members" / "0"])
    assert found.names == ("out", "0")
    assert len(found.ensemble) == 2
    assert target_of(folder / "out").names == ("out",)


def test_other_weights_have_another_digest(folder) -> None:
    words = target_of(folder / "e").words
    first, second = (one["weights"] for one in words["networks"])
    assert first != second
    assert target_of(folder / "e").words == words
    assert of_weights(nn.Linear(2, 2)) != of_weights(nn.Linear(2, 2))


def test_modules_are_taken_as_they_are() -> None:
    networks = [nn.Linear(2, 2), nn.Linear(2, 2)]
    assert target_of(networks).members == networks
    assert target_of(Ensemble(networks)).names == ("member 0", "member 1")
    assert target_of(nn.Linear(2, 2)).names == ("the network",)


def test_what_cannot_be_attacked_is_said(folder, tmp_path) -> None:
    with pytest.raises(InputError, match="no network"):
        target_of([])
    with pytest.raises(InputError, match="is an ensemble; name it alone"):
        target_of([folder / "e", folder / "out"])
    with pytest.raises(RunError, match="no such file"):
        target_of(tmp_path / "nowhere")
    with pytest.raises(RunError, match="no checkpoint"):
        target_of(tmp_path)
    (tmp_path / "settings.json").write_text("{}")
    assert is_ensemble(tmp_path)
    with pytest.raises(RunError, match="not finished"):
        target_of(tmp_path)
    (tmp_path / "comparison.json").write_text("{}")
    with pytest.raises(RunError, match="several ensembles are compared here"):
        target_of(tmp_path)


def test_networks_of_different_tasks_do_not_answer_together(folder, tmp_path) -> None:
    trained(tmp_path / "two", data=(torch.rand(40, 3, 4, 4), torch.arange(40) % 2))
    with pytest.raises(InputError, match="different tasks"):
        target_of([folder / "out", tmp_path / "two"])
