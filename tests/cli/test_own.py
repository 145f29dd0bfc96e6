"""Own spaces at the terminal: searched, stopped, given up, and reported."""

from __future__ import annotations

import pytest
from tests.cli.test_cli import foresee  # noqa: F401 - the command as a fixture

from foresee.runs import read

NETS = """
from torch import nn

def make_net(pick):
    depth = pick.int("depth", 1, 40)
    if depth % 7 == 0:
        raise RuntimeError("seven")
    width = pick("width", [4, 6, 8])
    if width % pick("heads", [1, 2, 3]):
        pick.reject("heads must divide the width")
    return nn.Sequential(nn.Flatten(), nn.Linear(192, width), nn.ReLU(), nn.Linear(width, 4))

def hopeless(pick):
    depth = pick.int("depth", 1, 40)
    if depth > 1:
        raise RuntimeError("too deep")
    return nn.Sequential(nn.Flatten(), nn.Linear(192, 4))
"""
QUICK = ["--proxy", "synflow", "--data", "synthetic", "--input", "3x8x8", "--outputs", "4", "--engine", "serial", "-q"]


@pytest.fixture
def nets(foresee):  # noqa: F811
    (foresee.folder / "nets.py").write_text(NETS)
    return foresee


def test_a_search_goes_on_over_failures_and_its_report_has_everything(nets):
    done = nets("search", "nets.py:make_net", "--evaluations", "24", "--searcher", "random", "--out", "r", *QUICK)
    assert "% of all draws were rejected by the space" in done.stdout
    assert " failed" in done.stdout
    record = read(nets.folder / "r")
    assert len(record.candidates) == 24
    assert {row.reason for row in record.candidates} == {"", "nets.py:make_net failed: RuntimeError: seven"}
    page = (nets.folder / "r" / "report.html").read_text()
    assert page.count('<svg class="net"') == 5
    assert "Which picks moved the score" in page
    nets("report", "r")  # from the store alone
    assert (nets.folder / "r" / "report.html").read_text().count('<svg class="net"') == 5
    nets("report", "r", "--space", "nets.py:make_net")
    assert (nets.folder / "r" / "report.html").read_text().count('<svg class="net"') == 5


def test_a_search_in_which_nearly_all_fail_is_one_line_and_a_report(nets):
    done = nets(
        "search", "nets.py:hopeless", "--evaluations", "40", "--searcher", "random", "--out", "h", *QUICK, code=2
    )
    assert "candidates failed; all" in done.stderr
    assert "RuntimeError: too deep" in done.stderr
    assert "all reasons are in h/report.html" in done.stderr
    assert "The search was given up" in (nets.folder / "h" / "report.html").read_text()
    assert read(nets.folder / "h").status == "failed"


def test_where_all_of_a_few_fail_the_reason_is_said(nets):
    done = nets(
        "search", "nets.py:hopeless", "--evaluations", "2", "--searcher", "random", "--out", "f", *QUICK, code=2
    )
    assert "none of 2 candidates could be scored (nets.py:hopeless failed: RuntimeError: too deep)" in done.stderr
