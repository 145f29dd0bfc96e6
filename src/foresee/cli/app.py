"""The command `foresee` before it has commands: where they register, and where they print."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, ConsoleOptions
from rich.markup import escape
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from foresee import __version__
from foresee.cli.start import STOPPED, Signals

if TYPE_CHECKING:
    from foresee.grid import Grid

app = typer.Typer(
    name="foresee",
    help="Tells which neural network will do best before it is trained, and finds that network.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(asked: bool) -> None:
    if asked:
        print(f"foresee {__version__}")
        raise typer.Exit


@app.callback()
def everywhere(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_tell_version)
    ] = False,
) -> None:
    """What can be said before any command."""


#: what steers a terminal, turns the direction of writing or cannot be written at all; a line's end and a tab may stay
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


class Terminal(Console):
    """A console on which text steers nothing: names in a stranger's file are shown, never obeyed."""

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich reads it, once control characters are written out; so that their width is counted."""
        return super().render_str(harmless(text), **options)

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As rich renders it; also what was no plain text before."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(harmless(segment.text), segment.style)


def harmless(text: str) -> str:
    r"""Text with its control characters written out.

    >>> harmless("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


out = Terminal()
err = Terminal(stderr=True)


def stopped(words: str = "") -> int:
    """Say that the command was stopped, once, and give its exit code; the first to know says what became of the work."""
    if not Signals.told:
        err.print(f"[yellow]stopped[/yellow]{words}", highlight=False)
        Signals.told = True
    return STOPPED


def print_whole(grid: Table) -> None:
    """Print a table: fitted to a terminal, and elsewhere, where no screen is too narrow, as wide as it is."""
    wide = Measurement.get(out, out.options.update(max_width=1000), grid).maximum
    console = out if out.is_terminal else Terminal(width=max(wide, out.width))
    console.print(grid, highlight=False)


def print_grid(grid: Grid) -> None:
    """Print a result's own table and, below it, its notes."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in grid.columns:
        table.add_column(column.name, justify="left" if column.words else "right", overflow="fold")
    for row in grid.rows:
        table.add_row(*map(escape, row))
    print_whole(table)
    for note in grid.notes:
        out.print(f"[dim]{escape(note)}[/dim]", soft_wrap=True, highlight=False)
