"""The way into the command: all commands found, and what a mistake looks like.

A user's mistake is one line and exit code 2, Ctrl-C is exit code 130, and only a mistake of ours shows a stack trace.
"""

from __future__ import annotations

import signal
import sys
from typing import Any, NoReturn

from foresee.cli.app import app, err
from foresee.errors import ForeseeError
from foresee.registry import import_all


def main() -> NoReturn:
    """Entry point of the command."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(run())


def run() -> int:
    """Run the command in `sys.argv` and return its exit code."""
    import_all("foresee.cli.commands")
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
