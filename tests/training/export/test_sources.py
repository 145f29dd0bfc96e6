"""What a training leaves behind, exported: its folder, its best and its last checkpoint, networks of one's own."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.training.export.made import mlp
from torch import nn

import foresee as fs
from foresee.batch import Batch
from foresee.data import Digits
from foresee.errors import InputError, RunError
from foresee.spaces import get
from foresee.task import Task
from foresee.training.export.sources import source_of
from foresee.training.export.verifying import fresh


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training of an architecture on a few digits."""
    place = tmp_path_factory.mktemp("trained") / "run"
    data = Digits(channels=3, size=4).split({"train": 0.1, "rest": 0.9})["train"]
    fs.train(mlp(), data, epochs=2, batch=32, out=place)
    return place


def test_a_folder_is_its_best_network(folder: Path, tmp_path: Path) -> None:
    made = fs.export(folder, tmp_path / "out", ["safetensors"])
    found = source_of(folder)
    images = torch.randn(3, 3, 4, 4)
    with torch.no_grad():
        assert torch.equal(fs.load_exported(made.folder)(images), found.network.eval()(images))
    assert made.description.task is not None
    assert made.description.task.outputs == 10
    assert made.description.statistics is not None
    assert made.description.architecture is not None


def test_the_last_checkpoint_can_be_named(folder: Path, tmp_path: Path) -> None:
    made = fs.export(folder / "last.safetensors", tmp_path / "out", ["safetensors"])
    last, _ = fs.training.checkpoints.read(folder, "last")
    state = fs.load_exported(made.folder).state_dict()
    assert all(torch.equal(value, last[f"network.{key}"]) for key, value in state.items())


def test_what_a_training_returned(tmp_path: Path) -> None:
    data = Digits(channels=3, size=4).split({"train": 0.1, "rest": 0.9})["train"]
    kept = fs.train(mlp(), data, epochs=1, batch=32, out=tmp_path / "kept")
    made = fs.export(kept, tmp_path / "out", ["safetensors"])
    assert made.description.statistics is not None
    images = torch.randn(3, 3, 4, 4)
    with torch.no_grad():
        assert torch.equal(fs.load_exported(made.folder)(images), kept.network(images))


def test_what_was_never_on_disk_is_built_again(tmp_path: Path) -> None:
    data = Digits(channels=3, size=4).split({"train": 0.1, "rest": 0.9})["train"]
    made = fs.export(fs.train(mlp(), data, epochs=1, batch=32), tmp_path / "out", ["safetensors"])
    assert fs.load_exported(made.folder)(torch.zeros(1, 3, 4, 4)).shape == (1, 10)


def test_a_search_that_trained_its_foremost(tmp_path: Path) -> None:
    run = fs.search(
        "mlp",
        proxies="params",
        searcher="random",
        evaluations=4,
        finalists=0,
        data=Digits(channels=3, size=4),
        out=tmp_path / "run",
        train_best=2,
        recipe=fs.recipe("fast", epochs=1, batch=512),
    )
    best = run.trained.best.trained
    images = torch.randn(2, 3, 4, 4)
    for number, one in enumerate((run, run.trained, run.trained.best, best, tmp_path / "run")):
        made = fs.export(one, tmp_path / str(number), ["safetensors"])
        with torch.no_grad():
            assert torch.equal(fs.load_exported(made.folder)(images), best.network(images))


def test_a_network_of_ones_own_is_handed_over(tmp_path: Path) -> None:
    network = nn.Sequential(nn.Flatten(), nn.Linear(12, 2))
    inputs, labels = torch.randn(20, 3, 2, 2), torch.arange(20) % 2
    fs.train(network, (inputs, labels), epochs=1, batch=10, out=tmp_path / "run")
    with pytest.raises(InputError, match="code of your own"):
        fs.export(tmp_path / "run", tmp_path / "out", ["safetensors"])
    other = nn.Sequential(nn.Flatten(), nn.Linear(12, 2))
    made = fs.export(tmp_path / "run", tmp_path / "out", ["safetensors"], code=other, example=inputs[:1])
    again = fs.load_exported(made.folder, network=nn.Sequential(nn.Flatten(), nn.Linear(12, 2)))
    with torch.no_grad():
        assert torch.equal(again(inputs), network.eval()(inputs))


def test_a_folder_without_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no checkpoint here"):
        fs.export(tmp_path, tmp_path / "out")
    (tmp_path / "run.sqlite").write_bytes(b"")
    with pytest.raises(RunError, match="nothing is trained here yet"):
        fs.export(tmp_path, tmp_path / "out")


def make_net(pick: Any) -> nn.Module:
    width = pick("width", [4, 8])
    return nn.Sequential(nn.Flatten(), nn.Linear(48, width), nn.ReLU(), nn.Linear(width, 10))


def test_an_architecture_of_an_own_space_needs_its_code(tmp_path: Path) -> None:
    data = Digits(channels=3, size=4).split({"train": 0.1, "rest": 0.9})["train"]
    space = fs.spaces.own(make_net, task=data.task)
    candidate = fs.Candidate(space, space.sample(random.Random(0)), data.task)
    kept = fs.train(candidate, data, epochs=1, batch=32, out=tmp_path / "run")
    images = torch.randn(2, 3, 4, 4)
    for number, one in enumerate((kept, tmp_path / "run")):
        made = fs.export(one, tmp_path / str(number), ["safetensors"], space=make_net)
        with pytest.raises(InputError, match="space"):
            fs.load_exported(made.folder)
        with torch.no_grad():
            assert torch.equal(fs.load_exported(made.folder, space=make_net)(images), kept.network(images))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings", "task"),
    [
        ("nasbench201", {"channels": 4, "cells": 1}, Task((3, 8, 8), 3)),
        ("darts", {"channels": 4, "layers": 3, "auxiliary": True, "drop_path": 0.2}, Task((3, 32, 32), 3)),
        ("autoformer_tiny", {}, Task((3, 32, 32), 3)),
        ("nasrec_small", {}, Task((13,), 1, vocabularies=(10,) * 26)),
    ],
)
def test_networks_of_the_spaces(name: str, settings: dict[str, Any], task: Task, tmp_path: Path) -> None:
    space = get(name, **settings)
    candidate = fs.Candidate(space, space.sample(random.Random(0)), task)
    network = candidate.build(1)
    made = fs.export(network, tmp_path / "out", ["safetensors", "torch_export"], candidate=candidate)
    example = fresh(task, Batch(task.example(2)), 4, pixels=False, seed=3)
    with torch.no_grad():
        expected = example.call(network.eval())
        assert torch.equal(example.call(fs.load_exported(made.folder)), expected)
        program = torch.export.load(made.folder / "model.pt2").module()
        torch.testing.assert_close(program(*example.parts), expected, rtol=1e-4, atol=1e-4)
