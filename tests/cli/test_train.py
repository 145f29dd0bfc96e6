"""`foresee train` and `foresee recipes`: from a file, a space or code to a trained network; mistakes are one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from foresee.cli.start import STOPPED
from foresee.task import Task
from foresee.training import checkpoints
from foresee.training.loading import load
from foresee.training.recipe import names

CELL = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_3x3~2|"
SMALL = ["--set", "space.channels=4", "--set", "space.cells=1"]
FAST = ["--data", "digits", "--input", "1x8x8", "--epochs", "2", "--batch", "128", "-q"]

MODELS = """
from torch import nn

def make_net():
    return nn.Sequential(nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.Linear(192, 10))
"""


def test_recipes_are_listed(foresee):
    said = foresee("recipes").stdout
    assert all(name in said for name in names())
    one = foresee("recipes", "nasi_cifar").stdout
    assert "Appendix B.4" in one
    assert "0.025" in one
    plain = json.loads(foresee("recipes", "--json").stdout)
    assert [row["name"] for row in plain] == names()
    assert plain[0]["values"]["epochs"] == 500
    assert "did you mean" in foresee("recipes", "nasi", code=2).stderr


def test_an_architecture_of_a_space(foresee, tmp_path):
    said = foresee("train", "nasbench201", CELL, *FAST, *SMALL, "--out", "a").stdout
    assert "% right" in said
    assert "a/best.safetensors" in said
    found = load(tmp_path / "a")
    assert found.recipe.epochs == 2
    plain = json.loads((tmp_path / "a" / "architecture.json").read_text())
    assert plain["settings"] == {"channels": 4, "cells": 1}
    assert plain["task"]["inputs"] == [1, 8, 8]
    page = (tmp_path / "a" / "report.html").read_text()
    assert "% right on test data" in page
    assert "Taken for each other" in page
    # what is there is not trained over; what is done is read
    assert "resume" in foresee("train", "nasbench201", CELL, *FAST, *SMALL, "--out", "a", code=2).stderr
    again = foresee("train", "nasbench201", CELL, *FAST, *SMALL, "--out", "a", "--resume").stdout
    assert again.splitlines()[-3] == said.splitlines()[-3]
    (tmp_path / "a" / "report.html").unlink()
    foresee("report", "a")
    assert (tmp_path / "a" / "report.html").read_text() == page
    # and a trained network teaches another
    taught = ["--teacher", "a", "--set", "recipe.distil=0.5", "--set", "recipe.temperature=2"]
    foresee("train", "nasbench201", CELL, *FAST, *SMALL, *taught, "--out", "b")
    assert load(tmp_path / "b").recipe.distil == 0.5


def test_a_best_json_and_a_folder(foresee, tmp_path):
    from foresee.spaces import get

    space = get("nasbench201", channels=4, cells=1)
    (tmp_path / "run").mkdir()
    plain = {**space.to_json(space.parse(CELL), Task((1, 8, 8), 10)), "merit": 3.5}
    (tmp_path / "run" / "best.json").write_text(json.dumps(plain))
    given = ["--data", "digits", "--epochs", "1", "-q"]
    foresee("train", "run/best.json", *given, "--out", "a")
    foresee("train", "run", *given, "--out", "b", "--set", "recipe.batch=64")
    first, second = (load(tmp_path / name).network.state_dict() for name in ("a", "b"))
    assert all(torch.equal(first[key], second[key]) for key in first)


def test_code_of_ones_own(foresee, tmp_path):
    (tmp_path / "models.py").write_text(MODELS)
    said = foresee("train", "models:make_net", "--data", "digits", "--epochs", "1", "--out", "a").stdout
    assert "(1,930)" in said
    assert not (tmp_path / "a" / "architecture.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nasbench201", CELL], "say what to learn from with --data"),
        (["nasbench201", "--data", "digits"], "name an architecture of it"),
        (["nasbench201", "|nonsense|", "--data", "digits"], "nonsense"),
        (["nasbench202", CELL, "--data", "digits"], "did you mean nasbench201"),
        (["nasbench201", CELL, "--data", "digitz"], "did you mean digits"),
        (["nasbench201", CELL, "--data", "digits", "--recipe", "fats"], "did you mean fast"),
        (["nasbench201", CELL, "--data", "digits", "--set", "recipe.epoch=3"], "did you mean epochs"),
        (["nasbench201", CELL, "--data", "digits", "--set", "recipes.epochs=3"], "did you mean recipe"),
        (["nasbench201", CELL, "--data", "digits", "--set", "recipe.lr=fast"], "expected a number above 0"),
        (["nasbench201", CELL, "--data", "digits", "--epochs", "0"], "at least 1"),
        (["nasbench201", CELL, "--data", "digits", "--device", "nowhere"], "cannot be used here"),
        (["nowhere.json", "--data", "digits"], "No such file"),
        (["models:make_net", CELL, "--data", "digits"], "models"),
        (["nasbench201", CELL, "--data", "digits", "--recipe", "zennas_cifar"], "needs a teacher"),
        (["nasbench201", CELL, "--data", "digits", "--teacher", "."], "no training here"),
    ],
)
def test_mistakes_are_one_line(foresee, tmp_path, arguments, words):
    (tmp_path / "models.py").write_text(MODELS)
    assert words in foresee("train", *arguments, code=2).stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_ctrl_c_leaves_a_training_that_goes_on(tmp_path):
    line = ["train", "nasbench201", CELL, *SMALL, "--data", "digits", "--input", "1x8x8", "--epochs", "4"]
    command = [sys.executable, "-m", "foresee.cli", *line, "--out", "cut"]
    child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ})
    until = time.monotonic() + 90
    while not checkpoints.exists(tmp_path / "cut", "last") and time.monotonic() < until and child.poll() is None:
        time.sleep(0.005)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == STOPPED
    assert "the same command with --resume goes on" in said
    assert "Traceback" not in said
    for more in (["cut", "--resume"], ["whole"]):  # processes of their own, with as many threads as the first
        again = [sys.executable, "-m", "foresee.cli", *line, "-q", "--out", *more]
        subprocess.run(again, cwd=tmp_path, check=True, timeout=120)
    first, second = (load(tmp_path / name) for name in ("cut", "whole"))
    assert [one.val_loss for one in first.history] == [one.val_loss for one in second.history]
    ours, theirs = first.network.state_dict(), second.network.state_dict()
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)


SEARCH = [
    "search",
    "nasbench201",
    "--proxy",
    "params",
    "--searcher",
    "random",
    "--evaluations",
    "4",
    "--finalists",
    "0",
]
TINY = ["--data", "small.npz", "--engine", "serial", "-q", "--set", "space.channels=2", "--set", "space.cells=1"]


def test_from_data_to_a_trained_network_in_one_command(foresee, tmp_path):
    import numpy as np

    labels = np.arange(60) % 3
    images = np.random.default_rng(0).normal(size=(60, 3, 8, 8)) + labels[:, None, None, None]
    np.savez(tmp_path / "small.npz", x=images.astype(np.float32), y=labels)
    line = [*SEARCH, *TINY, "--train-best", "2", "--set", "recipe.epochs=1", "--set", "recipe.batch=16", "--out", "a"]
    said = foresee(*line).stdout
    assert "1. candidate" in said
    assert "2. candidate" in said
    assert "winner" in said
    assert "best.safetensors" in said
    assert "What training says" in (tmp_path / "a" / "report.html").read_text()
    assert foresee(*line, "--resume").stdout == said
    foresee("report", "a")
    assert "What training says" in (tmp_path / "a" / "report.html").read_text()
    assert "say how many with --train-best" in foresee(
        *SEARCH, *TINY, "--set", "recipe.epochs=1", "--out", "b", code=2
    ).stderr  # fmt: skip
    for wrong, words in (
        (["--train-best", "0"], "at least 1"),
        (["--train-best", "1", "--recipe", "fats"], "did you mean fast"),
        (["--train-best", "1", "--set", "recipe.epoch=1"], "did you mean epochs"),
    ):
        assert words in foresee(*SEARCH, *TINY, *wrong, "--out", "b", code=2).stderr
    assert not (tmp_path / "b").exists()


def test_from_a_folder_of_images_to_a_trained_network(foresee, tmp_path):
    from PIL import Image

    for split, many in (("train", 8), ("test", 4)):
        for place, name in enumerate(("cat", "dog")):
            folder = tmp_path / "pictures" / split / name
            folder.mkdir(parents=True)
            for number in range(many):
                Image.new("RGB", (10, 10), (250 * place, 20 * number, 99)).save(folder / f"{number}.png")
    few = ["--data", "pictures", "--input", "3x8x8", "--engine", "serial", "-q", "--set", "space.channels=2"]
    line = [*SEARCH, *few, "--set", "space.cells=1", "--train-best", "1", "--out", "a"]
    said = foresee(
        *line, "--set", "recipe.epochs=2", "--set", "recipe.batch=8", "--set", "recipe.validation=0.25"
    ).stdout
    assert "of 8" in said  # the test pictures
    winner = json.loads((tmp_path / "a" / "trained.json").read_text())["best"]
    found = load(tmp_path / "a" / "trained" / str(winner))
    assert found.classes == ("cat", "dog")
    assert found.data["train"]["samples"] == 12
    page = (tmp_path / "a" / "trained" / str(winner) / "report.html").read_text()
    assert "dog" in page
