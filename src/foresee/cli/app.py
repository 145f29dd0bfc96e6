"""The command `foresee`: its options in common, and what a mistake looks like.

A user's mistake is one line and exit code 2, Ctrl-C is exit code 130, and only a mistake of ours shows a stack trace.
"""

from __future__ import annotations

import signal
import sys
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from foresee.errors import ForeseeError

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


def main() -> NoReturn:
    """Entry point of the command."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(run())


def run() -> int:
    """Run the command in `sys.argv` and return its exit code."""
    _register_commands()
    try:
        return app(standalone_mode=False) or 0
    except ForeseeError as error:
        return _say(str(error))
    except KeyboardInterrupt:
        err.print("[yellow]stopped[/yellow]")
        return 130
    except BrokenPipeError:  # the reader of a pipe went away: not worth a word
        sys.stderr.close()
        return 0
    except Exception as error:
        # Typer may carry its own copy of click, so its errors are known by what they can do, not by their class.
        if type(error).__name__ == "Abort":
            return _say("stopped", code=130)
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()  # type: ignore[attr-defined]
                return 2
            return _say(error.format_message())
        raise


def _say(message: str, code: int = 2) -> int:
    err.print("[red]foresee:[/red]", end=" ")
    err.print(" ".join(message.split()), markup=False, highlight=False, soft_wrap=True)
    return code


def _terminate(*_: Any) -> NoReturn:
    # A polite kill is treated as Ctrl-C: the run is marked and its report written.
    raise KeyboardInterrupt


def _register_commands() -> None:
    """Each command is one file; importing it registers it."""
    from foresee.cli import bench, calibrate, doctor, latency, listings, paper, report, score, search, table  # noqa: F401
