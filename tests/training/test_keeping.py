"""Folders of trainings: one writer, damaged files in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from foresee.errors import RunError
from foresee.training.keeping import Folder, Memory, differences, read_plain
from foresee.training.loading import load
from foresee.training.loop import train


def go(folder: Path, *, resume: bool = False) -> nn.Module:
    torch.manual_seed(0)
    x = torch.randn(40, 3)
    data = (x, (x[:, 0] > 0).long())
    return train(nn.Linear(3, 2), data, epochs=1, batch=10, out=folder, resume=resume).network


def test_one_writer(tmp_path: Path) -> None:
    first, second = Folder(tmp_path, resume=False), Folder(tmp_path, resume=True)
    first.begin({})
    with pytest.raises(RunError, match="another process is at work"):
        second.begin({})
    first.close()
    assert second.begin({}) is None
    second.close()


def test_memory_keeps_a_copy() -> None:
    kept, weight = Memory(), torch.ones(2)
    kept.save_best({"w": weight}, {})
    weight.zero_()
    assert kept.best()["w"].tolist() == [1, 1]
    assert kept.begin({}) is None


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"asked": 3}'])
def test_what_is_no_training_is_not_taken_for_one(tmp_path: Path, text: str) -> None:
    go(tmp_path)
    (tmp_path / "training.json").write_text(text)
    with pytest.raises(RunError, match=r"training\.json"):
        go(tmp_path, resume=True)


@pytest.mark.parametrize("key", ["history", "best", "sums", "step"])
@pytest.mark.parametrize("value", [None, 3, "x", [1], {"loss": 1}])
def test_a_damaged_last_is_refused_in_one_line(tmp_path: Path, key: str, value: object) -> None:
    go(tmp_path)
    facts = json.loads((tmp_path / "last.json").read_text())
    if key == "step" and value == 3:
        return
    facts[key] = value
    (tmp_path / "last.json").write_text(json.dumps(facts))
    with pytest.raises(RunError, match=r"last.json: not as a training leaves it"):
        go(tmp_path, resume=True)


def test_loading(tmp_path: Path) -> None:
    network = go(tmp_path)
    found = load(tmp_path, nn.Linear(3, 2))
    assert torch.equal(found.network.weight, network.weight)
    assert found.validation is not None
    with pytest.raises(RunError, match="came from no space"):
        load(tmp_path)
    with pytest.raises(RunError, match="another network"):
        load(tmp_path, nn.Linear(3, 4))
    with pytest.raises(RunError, match="no training here"):
        load(tmp_path / "elsewhere")
    plain = read_plain(tmp_path / "training.json")
    (tmp_path / "training.json").write_text(json.dumps({**plain, "status": "running"}))
    with pytest.raises(RunError, match=r"not finished \(1 epochs"):
        load(tmp_path, nn.Linear(3, 2))
    (tmp_path / "training.json").write_text(json.dumps({"status": "finished", "history": []}))
    with pytest.raises(RunError, match="not as a training leaves it"):
        load(tmp_path, nn.Linear(3, 2))


def test_differences_name_both_sides() -> None:
    found = differences({"a": 1, "b": {"c": 2}}, {"b": {"c": 3}, "d": 4})
    assert found == ["a: 1 here, None in the run", "b.c: 2 here, 3 in the run", "d: None here, 4 in the run"]


def test_a_folder_of_a_search_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run.sqlite").write_text("")
    with pytest.raises(RunError, match="holds a search; choose another"):
        go(tmp_path, resume=True)
    assert not (tmp_path / "training.json").exists()


def test_a_training_of_before_a_value_was_there_goes_on(tmp_path: Path) -> None:
    go(tmp_path)
    stored = json.loads((tmp_path / "training.json").read_text())
    del stored["asked"]["recipe"]["patience"]
    (tmp_path / "training.json").write_text(json.dumps(stored))
    go(tmp_path, resume=True)
