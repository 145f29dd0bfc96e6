"""Reading an export again: damage is named, nothing is guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tests.training.export.made import mlp, small, trained

import foresee as fs
from foresee.errors import InputError, RunError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    candidate = mlp()
    return fs.export(trained(candidate.build(), candidate), tmp_path / "out", ["safetensors"]).folder


def test_damage_is_named(folder: Path) -> None:
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(RunError, match="damaged, or of another export"):
        fs.load_exported(folder)
    weights.unlink()
    with pytest.raises(RunError, match="No such file"):
        fs.load_exported(folder)
    (folder / "model.json").write_text("{")
    with pytest.raises(RunError, match="not a JSON file"):
        fs.load_exported(folder)
    (folder / "model.json").unlink()
    with pytest.raises(RunError, match="no export here"):
        fs.load_exported(folder)


@pytest.mark.parametrize(
    ("key", "value"), [("format", 9), ("files", []), ("inputs", 3), ("normalisation", {"mean": [0]}), ("task", {})]
)
def test_a_senseless_description_is_one_error(folder: Path, key: str, value: object) -> None:
    path = folder / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises((RunError, InputError), match=r"model\.json|task"):
        fs.load_exported(folder)


def test_code_that_a_file_names_is_not_run(folder: Path) -> None:
    path = folder / "model.json"
    said = json.loads(path.read_text())
    said["architecture"]["space"] = "os:getcwd"
    path.write_text(json.dumps(said))
    with pytest.raises(InputError, match="space"):
        fs.load_exported(folder)


def test_another_network_is_refused(folder: Path) -> None:
    with pytest.raises(RunError, match="another network"):
        fs.load_exported(folder, network=torch.nn.Linear(3, 2))


def test_without_weights_there_is_nothing_to_load(tmp_path: Path) -> None:
    made = fs.export(small(), tmp_path / "out", ["safetensors"], example=torch.zeros(1, 3, 8, 8))
    path = made.folder / "model.json"
    said = json.loads(path.read_text())
    said["files"] = {"torch_export": said["files"]["safetensors"]}
    path.write_text(json.dumps(said))
    with pytest.raises(InputError, match=r"use\.py there runs it without foresee"):
        fs.load_exported(made.folder)
