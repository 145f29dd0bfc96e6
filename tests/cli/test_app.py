"""Where commands print: nothing in a text steers the terminal, and our own colours still do."""

from __future__ import annotations

import io

import pytest
from rich.table import Table
from rich.text import Text

from foresee.cli.app import Terminal, harmless


@pytest.fixture
def terminal() -> Terminal:
    return Terminal(file=io.StringIO(), force_terminal=True, color_system="standard", width=80)


def test_control_characters_are_written_out() -> None:
    assert harmless("a\x1b[2J\x07\x7f\x9b\u202e\ufeff\ud800") == "a\\x1b[2J\\x07\\x7f\\x9b\\u202e\\ufeff\\ud800"
    assert harmless("Größe – 5 µs\n\tüber 日本") == "Größe – 5 µs\n\tüber 日本"


@pytest.mark.parametrize("thing", ["a\x1b[2Jb", Text("a\x1b[2Jb")])
def test_whatever_is_printed_is_harmless(terminal: Terminal, thing: object) -> None:
    terminal.print(thing)
    grid = Table(title="t\x1b[2Jt")
    grid.add_column("c\x1b[2Jc")
    grid.add_row(thing)  # type: ignore[arg-type]
    terminal.print(grid)
    with terminal.status("s\x1b[2Js"):
        pass
    printed = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[2J" not in printed
    assert printed.count("\\x1b[2J") >= 4


def test_our_own_colours_stay(terminal: Terminal) -> None:
    terminal.print("[red]x[/red]")
    assert "\x1b[31mx\x1b[0m" in terminal.file.getvalue()  # type: ignore[attr-defined]


def test_a_column_is_as_wide_as_what_is_shown(terminal: Terminal) -> None:
    grid = Table(box=None)
    grid.add_column("name", no_wrap=True)
    grid.add_row("par\x1b[2Jams")
    terminal.print(grid)
    assert "par\\x1b[2Jams" in terminal.file.getvalue()  # type: ignore[attr-defined]
