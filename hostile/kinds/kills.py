"""A search that is killed or stopped at any moment, and resumed until it is done, ends as if it had never been stopped.

A stopped one ends with 130 and one line, and no process outlives its parent by more than seconds.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from hostile import processes, searches
from hostile.commands import Running, Said

SECONDS = 300.0
#: files that appear in a run's folder, in this order: each begins another phase
PHASES = (
    "run.sqlite.new",
    "run.sqlite",
    "run.sqlite-wal",
    "settings.toml",
    "best.json",
    "report.html.new",
    "report.html",
)
#: how long a worker may outlive its parent
ORPHANED = 10.0


def case(rng: random.Random, folder: Path) -> None:
    """One search, stopped up to four times, beside the same one undisturbed."""
    argv = searches.drawn(rng)
    (folder / "whole").mkdir()
    start = time.monotonic()
    undisturbed = Running([*argv, "--engine", "serial", "--out", "run"], folder / "whole")
    undisturbed.wait(120).check((0,))
    length = time.monotonic() - start
    for _ in range(rng.randint(1, 4)):
        if _disturbed(rng, argv, folder, length).code == 0:
            break
    engine = rng.choice(["serial", "serial", "processes"])
    last = Running([*argv, *_engine(engine), "--out", "run", "--resume"], folder, cold=engine == "processes")
    last.wait(200).check((0,))
    searches.compare(folder / "run", folder / "whole" / "run")


def _disturbed(rng: random.Random, argv: list[str], folder: Path, length: float) -> Said:
    """One call that gets a signal at a drawn moment; what is promised of how it ends."""
    engine, cold = rng.choice([("serial", False), ("serial", False), ("serial", True), ("processes", True)])
    what = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGINT])
    call = Running([*argv, *_engine(engine), "--out", "run", "--resume"], folder, cold=cold)
    if what != signal.SIGKILL:  # before its first instruction a program cannot answer for anything
        _until(call, call.ready)
    if rng.random() < 0.5:
        phase = folder / "run" / rng.choice(PHASES)
        _until(call, phase.exists)
        time.sleep(rng.choice([0.0, rng.uniform(0, 0.05)]))
    else:
        time.sleep(rng.uniform(0, length * (4 if cold else 1)))
    if call.poll() is None:
        call.send(what)
    said = call.wait(60)
    left = processes.left_behind(os.getpid(), ORPHANED)
    assert not left, f"outlived its parent by {ORPHANED:g} s: {list(map(processes.command_line, left))}"
    if what == signal.SIGKILL:
        assert said.code in (0, -signal.SIGKILL), f"exit code {said.code} after a kill: {said.err}"
    else:
        said.check((0, 130))
    return said


def _engine(name: str) -> list[str]:
    return ["--engine", name, *(["--workers", "2"] if name == "processes" else [])]


def _until(call: Running, condition: object, patience: float = 60.0) -> None:
    deadline = time.monotonic() + patience
    while call.poll() is None and not condition() and time.monotonic() < deadline:  # type: ignore[operator]
        time.sleep(0.001)
