"""`foresee score`: exit codes, and networks that take token ids."""

from __future__ import annotations

import json

import pytest

NETS = """
import torch
from torch import nn

class Words(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table, self.last = nn.Embedding(50, width), nn.Linear(width, 3)

    def forward(self, ids):
        return self.last(torch.relu(self.table(ids)).mean(1))

def words():
    return Words(4)

def pick_words(pick):
    return Words(pick("width", [2, 4, 8]))

def leaves():
    raise SystemExit(0)
"""
TOKENS = ["--input", "6", "--tokens", "50", "--outputs", "3", "--data", "synthetic"]


@pytest.fixture
def call(foresee, tmp_path):
    (tmp_path / "nets.py").write_text(NETS)
    return foresee


def test_the_exit_code_says_that_nothing_could_be_scored(call):
    wrong = ["score", "nets:words", "--input", "6", "--outputs", "3", "--proxy", "grad_norm"]  # numbers are no ids
    assert "failed" in call(*wrong, code=1).stdout
    assert json.loads(call(*wrong, "--json", code=1).stdout)["scores"]["grad_norm"]["status"] == "failed"
    call(*wrong, "--proxy", "params", code=0)  # one of two is something


def test_token_ids(call):
    found = json.loads(
        call("score", "nets:words", *TOKENS, "--proxy", "grad_norm", "--proxy", "params", "--json").stdout
    )
    assert found["scores"]["params"]["value"] == 50 * 4 + 4 * 3 + 3
    assert found["scores"]["grad_norm"]["value"] > 0


def test_a_search_of_networks_that_take_token_ids(call):
    search = ["search", "nets:pick_words", *TOKENS, "--proxy", "grad_norm", "--evaluations", "3", "--engine", "serial"]
    search += ["--max-macs", "1k", "--out", "r", "--resume"]
    first = call(*search).stdout
    assert "3 scored" in first
    assert call(*search).stdout == first
    assert "tokens: 51 here, 50 in the run" in call(*search, "--tokens", "51", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tokens", "50"], "tokens 50: say how many a sample has too"),
        (["--tokens", "0", "--input", "6"], "tokens = 0: at least 1 is needed"),
        ([*TOKENS, "--data", "digits"], "tokens 50: only synthetic data has token ids"),
    ],
)
def test_tokens_that_make_no_sense_are_one_line(call, arguments, words):
    assert words in call("score", "nets:words", *arguments, code=2).stderr


def test_a_factory_that_leaves_is_said(call):
    assert "nets:leaves raised SystemExit: 0" in call("score", "nets:leaves", code=2).stderr


def test_a_published_network_has_a_name(foresee):
    asked = ["--set", "mobile.design=mobilenet_v2", "--input", "3x224x224", "--outputs", "1000", "--data", "synthetic"]
    found = json.loads(foresee("score", "mobile", "MobileNetV2", *asked, "--proxy", "params", "--json").stdout)
    assert (found["params"], found["architecture"]) == (3504872, "e6k3x2:e6k3x3:e6k3x4:e6k3x3:e6k3x3:e6k3")
