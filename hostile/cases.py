"""One case, in a process of its own: with a time limit, a memory limit, and nobody left behind.

A case is known by three things, the campaign's seed, its kind and its number: all that it draws comes from these. It is
forked from a process that has imported everything and used nothing, so a case costs milliseconds, and none sees another.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import NoReturn

from foresee.seeds import stream
from hostile import processes
from hostile.kind import Kind

#: exit code of a case that raised; what it raised is in its file of words
BROKEN = 99
#: how long what a case started may take to end after it
PATIENCE = 5.0


@dataclass(frozen=True)
class Case:
    """Which case: all that decides what is tried."""

    kind: Kind
    seed: int
    number: int

    @property
    def name(self) -> str:
        """A name for its files: `kills-0-17`."""
        return f"{self.kind.name}-{self.seed}-{self.number}"


@dataclass(frozen=True)
class Outcome:
    """What became of a case: nothing, or the words of the promise that broke; its folder is kept for whoever asked."""

    case: Case
    seconds: float
    folder: Path
    words: str = ""

    @property
    def held(self) -> bool:
        """Whether the promise held."""
        return not self.words

    @property
    def last_line(self) -> str:
        """What was raised, in a line."""
        lines = self.words.splitlines() or [""]
        raised = (line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception|Interrupt|Exit)\b", line))
        return next(raised, lines[0])[:300]


@dataclass
class Attempt:
    """A case that is being tried."""

    case: Case
    folder: Path = field(default_factory=lambda: Path(mkdtemp(prefix="hostile-")))
    started: float = field(default_factory=time.monotonic)
    pid: int = 0

    def __post_init__(self) -> None:
        (self.folder / "case").mkdir()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            _try(self.case, self.folder)

    def outcome(self) -> Outcome | None:
        """What became of it; None while it runs. One that ran out of time is ended, with all that it started."""
        ended, status = os.waitpid(self.pid, os.WNOHANG)
        seconds = time.monotonic() - self.started
        if not ended and seconds < self.case.kind.seconds:
            return None
        if not ended:
            self.end()
            return self._broken(
                seconds, f"a hang: still at it after the {self.case.kind.seconds:g} seconds it may take"
            )
        code = os.waitstatus_to_exitcode(status)
        words = self.folder / "words"
        if code == BROKEN and words.exists():
            return self._broken(seconds, words.read_text(errors="replace"))
        if code:
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            return self._broken(seconds, f"a crash: the process of the case ended with {how}")
        return Outcome(self.case, seconds, self.folder)

    def end(self) -> None:
        """Kill it and all that it started."""
        processes.send(self.pid, signal.SIGSTOP)  # so that it starts nothing more while its descendants are killed
        processes.end_all(self.pid)
        processes.send(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def _broken(self, seconds: float, words: str) -> Outcome:
        output = (self.folder / "output").read_text(errors="replace")[-4000:]
        return Outcome(self.case, seconds, self.folder, words + (f"\n\nit printed:\n{output}" if output else ""))


def _try(case: Case, folder: Path) -> NoReturn:
    """In the forked process: bounds, the case itself, and whether anybody is left."""
    words = ""
    try:
        os.setsid()
        processes.become_reaper()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a campaign in the background was told to ignore it
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # as in a program that was just started
        _quiet(folder / "output")
        limit = case.kind.mebibytes * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(folder / "case")
        case.kind.case(stream(case.seed, "hostile", case.kind.name, case.number), folder / "case")
        if left := processes.left_behind(os.getpid(), PATIENCE):
            words = f"processes left behind: {'; '.join(map(processes.command_line, left))}"
    except BaseException:
        words = traceback.format_exc()
    processes.end_all(os.getpid())
    if words:
        (folder / "words").write_text(words, errors="replace")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(BROKEN if words else 0)


def _quiet(path: Path) -> None:
    """What a case prints goes into a file; it reads nothing."""
    written = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for here, there in ((nothing, 0), (written, 1), (written, 2)):
        os.dup2(here, there)
    os.close(nothing)
    os.close(written)


def finished(attempt: Attempt) -> Outcome:
    """Wait for the outcome of a case."""
    while (outcome := attempt.outcome()) is None:
        time.sleep(0.01)
    return outcome
