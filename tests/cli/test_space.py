"""`foresee space`: the inside of a space, at the terminal."""

from __future__ import annotations

import json

import pytest
from tests.cli.test_cli import foresee  # noqa: F401 - the command as a fixture

NETS = """
from torch import nn

def make_net(pick, task):
    width = pick("width", [4, 6, 8])
    heads = pick("heads", [1, 2, 3])
    if width % heads:
        pick.reject("heads must divide the width")
    if pick("deep", [False, True]):
        pick.int("depth", 1, 3)
    if width == 6:
        raise RuntimeError("six [bold]")
    return nn.Linear(task.inputs[0], width)
"""


@pytest.fixture
def nets(foresee):  # noqa: F811
    (foresee.folder / "nets.py").write_text(NETS)
    return foresee


def test_an_own_space(nets):
    shown = nets("space", "nets.py:make_net", "--input", "12").stdout
    for part in ("28 architectures, all of them listed", "6.7 % of the ways", "└── depth  1, 2, 3 when deep is true"):
        assert part in shown, shown
    assert shown.count('"width":') == 10
    assert "make_net failed for inputs 12: RuntimeError: six [bold]" in shown


def test_as_json(nets):
    plain = json.loads(nets("space", "nets.py:make_net", "--input", "12", "--json", "--samples", "3").stdout)
    assert [one["name"] for one in plain["choices"]] == ["width", "heads", "deep", "depth"]
    assert len(plain["samples"]) == 3
    assert {one["params"] for one in plain["samples"]} <= {4 * 13, 8 * 13, None}


def test_a_registered_space(foresee):  # noqa: F811
    shown = foresee("space", "nasbench201", "--samples", "2").stdout
    assert "15,625 architectures" in shown
    assert "channels=16" in shown
    assert shown.count("|+|") == 4
    assert "channels=4" in foresee("space", "nasbench201", "--set", "space.channels=4", "--samples", "0").stdout


def test_mistakes_are_one_line(nets):
    assert "did you mean nasbench201" in nets("space", "nasbench20", code=2).stderr
    assert "did you mean make_net" in nets("space", "nets.py:make_nt", code=2).stderr
    assert "expected 0 to 1000" in nets("space", "nasbench201", "--samples", "-1", code=2).stderr
