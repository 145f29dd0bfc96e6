"""`foresee rank`: several networks in order."""

from __future__ import annotations

import json

import pytest

NETS = """
from torch import nn

def small():
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 4), nn.ReLU(), nn.Linear(4, 3))

def wide():
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 40), nn.ReLU(), nn.Linear(40, 3))

def broken():
    raise ValueError("cannot be made")

def pick_net(pick):
    width = pick("width", [2, 4, 8])
    return nn.Sequential(nn.Flatten(), nn.Linear(12, width), nn.ReLU(), nn.Linear(width, 3))
"""
LOOK = ["--input", "3x2x2", "--outputs", "3", "--proxy", "grad_norm", "--proxy", "params"]


@pytest.fixture
def call(foresee, tmp_path):
    (tmp_path / "nets.py").write_text(NETS)
    return foresee


def test_own_networks_best_first(call):
    found = json.loads(call("rank", "nets:small", "nets:wide", *LOOK, "--json").stdout)
    assert [one["network"] for one in found["networks"]] == ["nets:wide", "nets:small"]
    assert [one["mean_rank"] for one in found["networks"]] == [1.0, 2.0]
    alone = json.loads(call("score", "nets:wide", *LOOK, "--json").stdout)["scores"]
    assert found["networks"][0]["scores"]["grad_norm"]["value"] == alone["grad_norm"]["value"]


def test_one_that_fails_is_last_with_its_reason(call):
    said = call("rank", "nets:broken", "nets:small", *LOOK).stdout
    assert said.splitlines()[1].split()[-1] == "nets:small"
    assert "params: no score of 1 of 2: nets:broken raised ValueError: cannot be made" in said


def test_nothing_could_be_scored(call):
    call("rank", "nets:broken", *LOOK, code=1)


def test_architectures_of_a_space(call, tmp_path):
    found = json.loads(call("rank", "mlp", "mlp(8)", "mlp(46)", "--proxy", "params", "--json").stdout)
    assert [one["network"] for one in found["networks"]] == ["mlp(46)", "mlp(8)"]
    (tmp_path / "some.txt").write_text("mlp(8)\n\nmlp(32)\n")
    found = json.loads(call("rank", "mlp", "--architectures", "some.txt", "--proxy", "params", "--json").stdout)
    assert [one["network"] for one in found["networks"]] == ["mlp(32)", "mlp(8)"]


def test_a_sample_of_a_space_of_ones_own(call):
    found = json.loads(call("rank", "nets:pick_net", "--data", "synthetic", *LOOK, "--sample", "9", "--json").stdout)
    assert sorted(one["network"] for one in found["networks"]) == [f'{{"width":{width}}}' for width in (2, 4, 8)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nets:small", "nets:small"], "nets:small is named twice"),
        (["nets:small", "nets:pick_net"], "nets:pick_net: expected module:function that makes one network"),
        (["nets:small", "--sample", "3"], "makes one network and has no choices"),
        (["mlp", "--sample", "-1"], "--sample -1: expected how many to draw"),
        (["mlp", "--sample", "0"], "no architecture to rank"),
        (["mlp", "--by", "median"], "unknown way to order by 'median'"),
        (["mlp", "mlp(3"], "expected the hidden widths"),
    ],
)
def test_a_mistake_is_one_line(call, arguments, words):
    assert words in call("rank", *arguments, code=2).stderr
