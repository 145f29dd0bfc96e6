"""The command `foresee` before it has commands: where they register, and where they print."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

app = typer.Typer(
    name="foresee",
    help="Tells which neural network will do best before it is trained, and finds that network.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

out = Console()
err = Console(stderr=True)


def print_whole(grid: Table) -> None:
    """Print a table: fitted to a terminal, and elsewhere, where no screen is too narrow, as wide as it is."""
    wide = Measurement.get(out, out.options.update(max_width=1000), grid).maximum
    console = out if out.is_terminal else Console(width=max(wide, out.width))
    console.print(grid, highlight=False)
