"""The table: red where a ratio got worse or a promise broke, in a terminal, in Markdown and on a page."""

from __future__ import annotations

import pytest
from perf.harness import Row
from perf.harness.history import Run
from perf.harness.table import END, HEAD, RED, lines, markdown, page, terminal

ROWS = {
    "proxies": [
        Row("steady", 1.0, 2.0, "plain loops", 0.6, 0.25),
        Row("worse", 1.0, 2.0),
        Row("broken", 3.0, 2.0, at_most=1.0, unit="MB", note="a <note> | here"),
    ]
}
PAST = {"proxies/steady": 0.45, "proxies/worse": 0.4, "proxies/broken": 1.5}
RUNS = [Run("", "", "", "", {"proxies/worse": ratio}) for ratio in (0.3, 0.35, 0.4)]


@pytest.fixture
def table():
    return list(lines(ROWS, {"proxies": "what proxies cost"}, PAST, RUNS, {"broken_file": "Killed"}))


def of(table, name):
    return next(line for line in table if line.cells and line.cells[0] == name)


def test_what_is_red(table):
    assert {line.cells[0]: line.red for line in table if line.cells} == {
        "steady": False,
        "worse": True,
        "broken": True,
        "failed: Killed": True,
    }
    assert "25 % worse" in of(table, "worse").cells[-1]
    assert "more than promised" in of(table, "broken").cells[-1]


def test_what_is_in_a_row(table):
    cells = dict(zip(HEAD[1:-1], of(table, "steady").cells[1:-1], strict=True))
    assert cells == {
        "takes": "1 s",
        "straightforward": "2 s (plain loops)",
        "ratio": "0.5",
        "promised": "≤ 0.6",
        "before": "0.45",
        "floor": "250 ms (4 x)",
        "earlier ratios": "",
    }
    assert of(table, "worse").cells[-2] == "0.3 0.35 0.4"


def test_a_terminal_shows_red(table):
    shown = terminal(table).splitlines()
    red = [line for line in shown if line.startswith(RED) and line.endswith(END)]
    assert len(red) == 3
    assert RED not in terminal(table, colour=False)
    assert any(line.startswith("proxies: what proxies cost") for line in shown)


def test_markdown_and_a_page_escape_and_show_red(table):
    text = markdown(table, "cpu")
    assert text.count("color:red")
    assert "a &lt;note&gt; \\| here" in text
    for line in text.splitlines():
        if line.startswith("| ") and "\\|" not in line:
            assert line.count("|") == len(HEAD) + 1
    made = page(table, "cpu & more")
    assert "<title>cpu &amp; more</title>" in made
    assert "a &lt;note&gt; | here" in made
    assert made.count('<td class="red">') == 3 * len(HEAD)
