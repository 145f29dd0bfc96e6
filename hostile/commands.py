"""`foresee` as people call it: started, interrupted, waited for, and what it may say.

A *warm* call is forked from this process, which has imported everything: many can be tried, and the same code runs from the
entry on. A *cold* one is a fresh interpreter, for what happens while things are imported.
"""

from __future__ import annotations

import atexit
import os
import shlex
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from hostile import processes

#: the codes that a command may end with
CODES = (0, 1, 2, 130)
#: how long a command may take to end after it was asked to
POLITE = 20.0

#: how lines begin that tell no mistake and no end
_NEWS = ("resuming: ", "every feasible architecture of the space has been proposed")
_COLD = [sys.executable, "-P", "-c", "from foresee.cli import main; main()"]


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it printed."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str
    interrupted: bool = False

    @property
    def lines(self) -> list[str]:
        """What stands on stderr, without empty lines and without the news of a run that goes on well."""
        return [line for line in self.err.splitlines() if line.strip() and not line.startswith(_NEWS)]

    def check(self, codes: Sequence[int] = CODES) -> Said:
        """What is promised of every call: a known code, no traceback, and one line where it was refused or stopped."""
        where = f"foresee {shlex.join(self.argv)[:2000]!a}\n{self.err[-3000:]}"
        assert "Traceback (most recent call last)" not in self.out + self.err, f"a traceback\n{where}"
        last = self.lines[-1][:200] if self.lines else "and not a word"
        assert self.code in codes, f"exit code {self.code}: {last}\n{where}"
        assert self.interrupted or self.code != 130, f"130, and nobody stopped it\n{where}"
        helped = "Usage:" in self.out + self.err  # a command without arguments explains itself
        if self.code in (2, 130) and not helped:
            assert len(self.lines) == 1, f"{len(self.lines)} lines instead of one with exit code {self.code}\n{where}"
        return self


class Running:
    """A command that was started in a folder; what it says, and what was done to it, is noted there or elsewhere."""

    def __init__(self, argv: Sequence[str], folder: Path, *, cold: bool = False, notes: Path | None = None) -> None:
        self.argv, self.folder, self.notes = tuple(argv), folder, notes or folder
        self.started, self.interrupted = time.monotonic(), False
        count = sum(1 for _ in self.notes.glob("said-*.out"))
        self._files = [self.notes / f"said-{count}.{end}" for end in ("out", "err")]
        self._note(f"{'cold' if cold else 'warm'}: foresee {shlex.join(self.argv)}")
        self.pid = self._cold() if cold else self._warm()
        self._code: int | None = None

    def _cold(self) -> int:
        out, err = (path.open("wb") for path in self._files)
        with out, err:
            started = subprocess.Popen(  # noqa: S603
                [*_COLD, *self.argv], cwd=self.folder, env=_environment(self.folder), stdout=out, stderr=err
            )
        started.returncode = 0  # it is waited for here, by its number
        return started.pid

    def _warm(self) -> int:
        pid = os.fork()
        if pid == 0:
            _be_foresee(self.argv, self.folder, self._files)
        return pid

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        if self._code is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if ended else None
        return self._code

    def send(self, what: signal.Signals) -> None:
        """Send a signal; noted, so that a run that ends by it is not blamed."""
        self.interrupted = True
        self._note(f"  {what.name} after {time.monotonic() - self.started:.3f} s")
        processes.send(self.pid, what)

    def ready(self) -> bool:
        """Whether its first instructions were done: it has taken signals into its own hands."""
        return processes.catches(self.pid, signal.SIGTERM)

    def wait(self, patience: float) -> Said:
        """What it said when it ended; after `patience` seconds it is asked to, and has to within seconds."""
        if not self._ends_within(patience):
            self.send(signal.SIGINT)
            if not self._ends_within(POLITE):
                processes.send(self.pid, signal.SIGKILL)
                self._ends_within(POLITE)
                raise AssertionError(f"Ctrl-C was not heard for {POLITE:g} s\nforesee {shlex.join(self.argv)[:2000]!a}")
        assert self._code is not None
        out, err = (path.read_text(errors="replace") for path in self._files)
        return Said(self.argv, self._code, out, err, self.interrupted)

    def _note(self, line: str) -> None:
        with (self.notes / "steps.txt").open("a", errors="backslashreplace") as steps:
            steps.write(f"{line}\n")

    def _ends_within(self, patience: float) -> bool:
        deadline = time.monotonic() + patience
        while self.poll() is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True


def foresee(argv: Sequence[str], folder: Path, *, cold: bool = False, patience: float = 30.0) -> Said:
    """Call it and wait for what it says; see `Running.wait`."""
    return Running(argv, folder, cold=cold).wait(patience)


def _environment(folder: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("FORESEE_", "HOSTILE_"))}
    return {**kept, "HOME": str(folder), "NO_COLOR": "1", "TERM": "dumb"}


def _be_foresee(argv: Sequence[str], folder: Path, files: Sequence[Path]) -> NoReturn:
    """In the forked process: become the command, and end as an interpreter does."""
    code = 1
    try:
        for path, there in zip(files, (1, 2), strict=True):
            os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY), there)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(_environment(folder))
        sys.argv = ["foresee", *argv]
        from foresee.cli import main

        main()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else bool(error.code)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
