"""`foresee export`: from the folder of a training to files."""

from __future__ import annotations

import json

import pytest
import torch
from torch import nn

import foresee as fs
from foresee.data import Digits
from foresee.spaces import get
from foresee.spaces.candidate import Candidate
from foresee.task import Task


@pytest.fixture
def trained(tmp_path):
    data = Digits(channels=3, size=4).split({"train": 0.1, "rest": 0.9})["train"]
    space = get("mlp")
    fs.train(
        Candidate(space, space.parse("mlp(8)"), Task((3, 4, 4), 10)), data, epochs=1, batch=32, out=tmp_path / "run"
    )
    return tmp_path / "run"


def test_a_folder_of_a_training(foresee, trained):
    foresee("export", "run", "--format", "safetensors")
    assert (trained / "exported" / "model.json").is_file()
    done = foresee("export", "run", "--out", "out", "--format", "safetensors")
    assert "model.safetensors" in done.stdout
    assert "exported to out" in done.stdout
    assert fs.load_exported("out")(torch.zeros(1, 3, 4, 4)).shape == (1, 10)
    assert "overwrite" in foresee("export", "run", "--out", "out", "--format", "safetensors", code=2).stderr
    said = json.loads(
        foresee("export", "run", "--out", "out", "--format", "safetensors", "--overwrite", "--json").stdout
    )
    assert said["files"]["safetensors"]["largest_difference"] == 0


def test_mistakes_are_one_line(foresee, trained):
    assert "did you mean" in foresee("export", "run", "--out", "out", "--format", "safetensor", code=2).stderr
    assert "no checkpoint here" in foresee("export", ".", "--out", "out", code=2).stderr


def test_a_network_of_ones_own(foresee, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from torch import nn\n\n\ndef make():\n    return nn.Sequential(nn.Flatten(), nn.Linear(12, 2))\n"
    )
    network = nn.Sequential(nn.Flatten(), nn.Linear(12, 2))
    fs.train(network, (torch.randn(20, 3, 2, 2), torch.arange(20) % 2), epochs=1, batch=10, out=tmp_path / "run")
    form = ("--format", "safetensors")
    assert "--network" in foresee("export", "run", "--out", "out", *form, code=2).stderr
    foresee("export", "run", "--out", "out", *form, "--network", "mine:make", "--input", "3x2x2")
    again = fs.load_exported("out", network=nn.Sequential(nn.Flatten(), nn.Linear(12, 2)))
    assert torch.equal(again[1].weight, network[1].weight)
