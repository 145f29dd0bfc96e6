"""Imported first by the process that workers are forked from: from then on it ends when its parent does.

By itself it would see that only after all of its imports, which take seconds. Elsewhere importing this file does nothing.
"""

from __future__ import annotations

import signal
import sys

#: of Linux: the signal to get when the parent ends
PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Ask the system for the signal; where it cannot be asked, all is as before."""
    import ctypes

    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        return


if "multiprocessing.forkserver" in sys.modules and sys.argv[:1] == ["-c"]:
    end_with_parent()
