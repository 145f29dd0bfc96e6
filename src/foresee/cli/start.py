"""The first instructions of the command: what a signal does, and where code is looked for, before anything heavy is imported.

Only the standard library is imported here. Loading torch takes seconds, in which people press Ctrl-C: an exception that is
raised in the middle of an import may be swallowed or come out as another one, so while something is being imported (when
nothing is half done) the command leaves at once. At any other moment it is `KeyboardInterrupt`, and what was scored is kept.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

#: exit code of a command that was stopped
STOPPED = 130
#: the file name in which Python's import shows itself on the stack
_IMPORT = "<frozen importlib._bootstrap>"


class Signals:
    """What Ctrl-C and a polite kill do, whether there was one, and whether the person was told so."""

    seen = told = False

    @classmethod
    def install(cls) -> None:
        """From now on; a job that was started deaf to Ctrl-C stays so."""
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, cls.stop)

    @classmethod
    def ignore(cls) -> None:
        """The command is done: nothing is left that could be stopped."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)

    @classmethod
    def stop(cls, _: int, frame: FrameType | None) -> None:
        """Leave at once in the middle of an import, else by `KeyboardInterrupt`."""
        cls.seen = True
        while frame is not None:
            if frame.f_code.co_filename == _IMPORT:
                cls.leave()
            frame = frame.f_back
        raise KeyboardInterrupt

    @classmethod
    def leave(cls) -> NoReturn:
        """End at once, with a line if there was none."""
        shown = b"\x1b[?25h" if os.isatty(2) else b""  # a progress bar may have hidden the cursor
        os.write(2, shown + (b"" if cls.told else b"stopped\n"))
        os._exit(STOPPED)


def only_installed() -> None:
    """Nothing is imported because it lies in the current folder, here or in the processes that are started from here.

    Code that the person names is looked for there too, after all that is installed (`foresee.spaces.own`).
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    first = Path(sys.path[0] if sys.path else os.devnull).absolute()
    if sys.flags.safe_path or first != Path().absolute():
        return
    del sys.path[0]
    if Path(__file__).parents[2] == first:  # foresee itself is run from the folder of its source
        sys.path.append(str(first))


def main() -> NoReturn:
    """Entry point of the command."""
    Signals.install()
    only_installed()
    try:
        from foresee.cli.entry import guarded

        code = guarded()
        Signals.ignore()
    except KeyboardInterrupt:  # between the last word and the end, or while an interruption was being said
        Signals.leave()
    sys.exit(code)
