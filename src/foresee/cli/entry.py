"""The way into the command: all commands found, and what a mistake looks like.

A user's mistake is one line and exit code 2, Ctrl-C is exit code 130. A mistake of ours is one line too, and exit code 70;
with FORESEE_TRACE=1 it shows its trace.
"""

from __future__ import annotations

import os
import sys
import traceback

from foresee.cli.app import app, err, stopped
from foresee.cli.start import STOPPED, Signals
from foresee.errors import ForeseeError
from foresee.registry import import_all

#: exit code of a mistake of ours, as sysexits.h has it for internal errors
OURS = 70
#: the most characters of a message
LINE = 1000
#: asks for the trace of a mistake of ours
TRACE = "FORESEE_TRACE"


def guarded() -> int:
    """Run the command in `sys.argv`; whatever it did not expect becomes one line."""
    try:
        return run()
    except KeyboardInterrupt:
        return stopped()
    except Exception as error:
        if Signals.seen:  # in native code an interruption may come out as something else
            return stopped()
        if os.environ.get(TRACE):
            traceback.print_exc()
            return OURS
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return _say(f"unexpected {what[:500]} (a mistake of ours; {TRACE}=1 shows where)", OURS)


def run() -> int:
    """Run the command in `sys.argv` and return its exit code; what is not expected is raised."""
    import_all("foresee.cli.commands")
    Signals.told = False
    try:
        code = app(standalone_mode=False) or 0
        return stopped() if code == STOPPED else code  # typer makes a silent 130 of an interruption
    except ForeseeError as error:
        return stopped() if Signals.seen else _say(str(error))
    except KeyboardInterrupt:
        return stopped()
    except BrokenPipeError:  # the reader of a pipe went away: not worth a word
        sys.stderr.close()
        return 0
    except OSError as error:  # a path that cannot be read or written, wherever it was met
        if os.environ.get(TRACE):
            raise
        return _say(f"{error.filename}: {error.strerror}" if error.filename is not None else str(error))
    except Exception as error:
        # Typer may carry its own copy of click, so its errors are known by what they can do, not by their class.
        if type(error).__name__ == "Abort":
            return stopped()
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()  # type: ignore[attr-defined]
                return 2
            return _say(error.format_message())
        raise


def _say(message: str, code: int = 2) -> int:
    line = " ".join(message.split())
    if len(line) > LINE:  # what was typed may be long; what was expected stands at the end
        line = f"{line[: LINE // 2]} ... {line[-LINE // 2 :]}"
    err.print("[red]foresee:[/red]", end=" ")
    err.print(line, markup=False, highlight=False, soft_wrap=True)
    return code
