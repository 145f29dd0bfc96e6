"""`foresee explain`: architectures by name, number and file; own code; two side by side; mistakes in one line."""

from __future__ import annotations

import json

import pytest

from foresee.spaces import get
from foresee.task import Task

QUICK = ["--samples", "2", "--proxy", "params", "--proxy", "synflow", "--engine", "serial", "-q", "--input", "3x8x8"]
NETS = """
from torch import nn

def make():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))

def choose(pick):
    width = pick("width", [4, 8])
    return nn.Sequential(nn.Conv2d(3, width, 3), nn.ReLU(), nn.Flatten(), nn.Linear(36 * width, 10))
"""


@pytest.fixture
def call(foresee, tmp_path):
    (tmp_path / "nets.py").write_text(NETS)
    return foresee


def test_an_architecture_by_its_text_with_a_page_and_its_numbers(call, tmp_path):
    said = call("explain", "mlp", "mlp(24)", *QUICK, "--out", "made").stdout
    assert "mlp(24): " in said
    assert "percentile" in said
    page = (tmp_path / "made" / "explain.html").read_text()
    assert "2 random architectures of mlp" in page
    plain = json.loads((tmp_path / "made" / "explain.json").read_text())
    assert [one["others"] for one in plain["standings"]] == [2, 2]
    assert (tmp_path / "made" / "scores.sqlite").exists()


def test_a_number_as_json_into_a_named_file(call, tmp_path):
    said = call("explain", "mlp", "3", *QUICK, "--out", "mine.html", "--json").stdout
    assert json.loads(said)["name"] == "mlp number 3"
    assert (tmp_path / "mine.html").exists()
    assert json.loads((tmp_path / "mine.json").read_text())["name"] == "mlp number 3"


def test_two_side_by_side(call, tmp_path):
    said = call("explain", "mlp", "mlp(24)", "mlp(48)", *QUICK, "--out", "pair").stdout
    assert "mlp(48): " in said
    assert "first" in said or "second" in said
    plain = json.loads((tmp_path / "pair" / "explain.json").read_text())
    assert plain["differs"]["proxies"] == ["params", "synflow"]
    assert "differs" in (tmp_path / "pair" / "explain.html").read_text()


def test_a_best_json_alone_and_after_its_space(call, tmp_path):
    space = get("mlp")
    (tmp_path / "best.json").write_text(json.dumps(space.to_json(space.parse("mlp(24)"), Task((3, 8, 8), 10))))
    for words in (["best.json"], ["mlp", "best.json"]):
        assert "mlp(24)" in call("explain", *words, *QUICK, "--samples", "0").stdout
    assert "not of nasbench201" in call("explain", "nasbench201", "best.json", code=2).stderr


def test_code_of_one_s_own(call, tmp_path):
    said = call("explain", "nets:make", *QUICK, "--out", "own").stdout
    assert "nets:make" in said
    assert "no percentiles" in said
    beside = call("explain", "nets:make", *QUICK, "--among", "mlp", "--out", "own").stdout
    assert "percentile" in beside
    plain = json.loads((tmp_path / "own" / "explain.json").read_text())
    assert plain["further"][0][1].startswith("foresee train nets:make --data synthetic")


def test_an_own_space(call):
    assert "width" in call("explain", "nets:choose", '{"width": 4}', *QUICK, "--samples", "1").stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["darts", "DRTS_V2"], "did you mean DARTS_V2"),
        (["dart", "DARTS_V2"], "did you mean darts"),
        (["darts"], "such as NASNet_A"),
        (["darts", "DARTS_V1", "DARTS_V2", "SNAS"], "two are put side by side"),
        (["nets:make", "text"], "has no choices"),
        (["mlp", "mlp(24)", "--samples", "-1"], "--samples -1"),
        (["mlp", "mlp(24)", "--proxy", "synflo"], "did you mean synflow"),
        (["mlp", "mlp(24)", "--warmup", "10%"], "is not trained"),
        (["mlp", "mlp(24)", "--among", "darst"], "did you mean darts"),
        (["mlp", "99"], "0 to 23"),
        (["nothing.json"], "nothing.json"),
    ],
)
def test_mistakes_are_one_line(call, words, expected):
    assert expected in call("explain", *words, code=2).stderr
