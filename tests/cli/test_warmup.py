"""`--warmup`: score, rank, search and bench look after a little training, and say so."""

from __future__ import annotations

import json

import pytest
from tests.benchmarks.small import small_table

from foresee.benchmarks import save

CELL = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|"
LOOK = ["--input", "3x8x8", "--batch-size", "8", "--set", "space.channels=4", "--set", "space.cells=1"]
NETS = """
from torch import nn

def small():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 10))

def wide():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))

def pick_width(pick):
    width = pick("width", [4, 8])
    return nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))
"""


@pytest.fixture
def call(foresee, tmp_path):
    (tmp_path / "nets.py").write_text(NETS)
    return foresee


def value(found):
    return found["scores"]["grad_norm"]["value"]


def test_score(call):
    ask = ["score", "nasbench201", CELL, "--proxy", "grad_norm", "--json", *LOOK]
    cold, zero, warm, alone = (
        json.loads(call(*ask, *more).stdout)
        for more in ([], ["--warmup", "0%"], ["--warmup", "5%"], ["--warmup", "5%", "--warmup-by", "network"])
    )
    assert value(cold) == value(zero)
    assert len({value(cold), value(warm), value(alone)}) == 3
    assert "warm-up" not in zero
    assert warm["warm-up"].startswith("5%: one supernet, 2 steps of recipe warmup")
    assert alone["warm-up"].startswith("5%: each network by itself")


def test_networks_of_ones_own(call):
    look = ["--data", "digits", "--input", "1x8x8", "--proxy", "grad_norm", "--json"]
    cold, warm = (json.loads(call("score", "nets:small", *look, *more).stdout) for more in ([], ["--warmup", "20%"]))
    assert value(cold) != value(warm)
    ranked = json.loads(call("rank", "nets:small", "nets:wide", *look, "--warmup", "20%").stdout)
    assert "each network by itself" in ranked["warm-up"]
    found = {one["network"]: value(one) for one in ranked["networks"]}
    assert found["nets:small"] == value(warm)
    picked = json.loads(call("rank", "nets:pick_width", "--sample", "2", *look, "--warmup", "20%").stdout)
    assert "each network by itself" in picked["warm-up"]


def test_rank(call):
    ask = ["rank", "nasbench201", "--sample", "2", "--proxy", "grad_norm", *LOOK]
    cold, warm = (json.loads(call(*ask, "--json", *more).stdout) for more in ([], ["--warmup", "5%"]))
    assert [value(one) for one in cold["networks"]] != [value(one) for one in warm["networks"]]
    assert "warm-up  5%: one supernet" in call(*ask, "--warmup", "5%").stdout


def test_search(call, tmp_path):
    ask = ["search", "nasbench201", "--proxy", "grad_norm", "--searcher", "random", "--evaluations", "2", *LOOK]
    ask += ["--finalists", "0", "--engine", "serial", "--out", "run", "--warmup", "5%"]
    found = call(*ask)
    assert "warm-up  5%: one supernet, 2 steps of recipe warmup, 128 samples of 1,797" in found.stdout
    assert "warm-up: 2/2" in found.stderr
    report = (tmp_path / "run" / "report.html").read_text()
    assert "one supernet, 2 steps of recipe warmup" in report
    assert (tmp_path / "run" / "warmup" / "supernet.json").is_file()
    assert "warmup" in (tmp_path / "run" / "settings.toml").read_text()
    call(*ask, "--resume", "--evaluations", "3")
    other = [*ask[:-1], "10%", "--resume"]
    assert "warmup: 10% here, 5% in the run" in call(*other, code=2).stderr


def test_bench(call, tmp_path):
    save(small_table(), tmp_path / "small.npz")
    ask = ["bench", "--table", "small.npz", "--target", "test_acc_cifar10", "--proxy", "grad_norm", "--sample", "4"]
    ask += ["--outputs", "10", "--bootstrap", "20", "--engine", "serial", "--out", "b", *LOOK]
    cold = call(*ask).stdout
    warm = call(*ask, "--warmup", "5%").stdout
    assert "after a warm-up of 5%" in warm
    assert "warm-up" not in cold
    (kept,) = (tmp_path / "b" / "warmup").iterdir()
    assert (kept / "supernet.safetensors").is_file()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--warmup", "ten"], "share 'ten': expected one from 0% to 100%"),
        (["--warmup", "10%", "--warmup-by", "net"], "unknown way to warm up 'net': did you mean network"),
        (["--warmup-recipe", "fast"], "say how much too"),
        (["--warmup", "10%", "--warmup-recipe", "fats"], "unknown recipe 'fats': did you mean fast"),
    ],
)
def test_mistakes_are_one_line(call, more, words):
    assert words in call("score", "nasbench201", CELL, *LOOK, "--proxy", "grad_norm", *more, code=2).stderr


def test_a_supernet_is_for_spaces(call):
    wrong = [
        "score",
        "nets:small",
        "--data",
        "digits",
        "--input",
        "1x8x8",
        "--warmup",
        "10%",
        "--warmup-by",
        "supernet",
    ]
    assert "each by itself" in call(*wrong, code=2).stderr
    wrong = ["score", "resnet", "--warmup", "10%", "--warmup-by", "supernet", "--proxy", "grad_norm"]
    assert "space resnet has no one-shot network" in call(*wrong, code=2).stderr
