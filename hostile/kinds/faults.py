"""A full disk, workers that are killed and a folder that is gone end in one line; what was scored is kept and resumed.

A search meets one of these faults; afterwards the same command, where its folder is still there, ends as undisturbed.
"""

from __future__ import annotations

import random
import resource
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

from foresee.runs import read
from hostile import disks, processes, searches
from hostile.commands import Running, Said

SECONDS = 300.0


def case(rng: random.Random, folder: Path) -> None:
    """One search and one fault."""
    argv = [*searches.drawn(rng, most=60), "--out", "run", "--resume"]
    rng.choice([_full_disk, _full_disk, _workers_killed, _folder_deleted])(rng, argv, folder)


def _undisturbed(argv: list[str], folder: Path) -> Path:
    whole = folder / "whole"
    whole.mkdir()
    Running([*argv, "--engine", "serial"], whole).wait(120).check((0,))
    return whole / "run"


def _full_disk(rng: random.Random, argv: list[str], folder: Path) -> None:
    """No byte more than so many: a bound on the size of files, or a small disk where the system lets us have one."""
    whole = _undisturbed(argv, folder)
    there, size = folder / "disk", rng.choice([4, 20, 40, 60, 100, 200])
    there.mkdir()
    if rng.random() < 0.5 and disks.mounted(there, size):
        said = Running([*argv, "--engine", "serial"], there, notes=folder).wait(120)  # words need room as well
        disks.resized(there, 100_000)
    else:
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size * 1024, usual[1]))
        try:
            said = Running([*argv, "--engine", "serial"], there).wait(120)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    said.check((0, 2))
    _resumed(argv, there, _kept(there / "run"))
    searches.compare(there / "run", whole)


def _workers_killed(rng: random.Random, argv: list[str], folder: Path) -> None:
    """Workers get SIGKILL at random moments, while they start too; others take their places."""
    whole = _undisturbed(argv, folder)
    call = Running([*argv, "--engine", "processes", "--workers", "2"], folder, cold=True)
    for _ in range(rng.randint(1, 3)):
        time.sleep(rng.choice([rng.uniform(0, 6), rng.uniform(0, 0.5)]))
        # also the process that workers are forked from
        workers = [pid for pid in processes.descendants(call.pid) if "forkserver" in processes.command_line(pid)]
        if workers and call.poll() is None:
            processes.send(rng.choice(workers), signal.SIGKILL)
    call.wait(200).check((0,))
    if not any(
        "died" in one.reason for one in read(folder / "run").candidates
    ):  # the same candidate hit twice has failed
        searches.compare(folder / "run", whole)


def _folder_deleted(rng: random.Random, argv: list[str], folder: Path) -> None:
    """The run's folder is deleted, or moved away, while the search is at it."""
    call = Running([*argv, "--engine", "serial"], folder)
    _wait(call, (folder / "run" / "run.sqlite").exists)
    time.sleep(rng.choice([0.0, rng.uniform(0, 0.5)]))
    moved = rng.random() < 0.5
    if (folder / "run").exists():
        (folder / "run").rename(folder / "moved")
    if not moved:
        shutil.rmtree(folder / "moved", ignore_errors=True)
    call.wait(120).check((0, 2))
    if moved and (folder / "moved" / "run.sqlite").exists():
        read(folder / "moved")


def _resumed(argv: list[str], folder: Path, kept: dict[int, float | None]) -> Said:
    """The same command again: it ends, and what was scored before is still there."""
    said = Running([*argv, "--engine", "serial"], folder).wait(120).check((0,))
    now = {one.id: one.merit for one in read(folder / "run").candidates}
    lost = {number: merit for number, merit in kept.items() if now.get(number) != merit}
    assert not lost, f"scored before, lost or changed afterwards: {lost}"
    return said


def _kept(run: Path) -> dict[int, float | None]:
    if not (run / "run.sqlite").exists():
        return {}
    return {one.id: one.merit for one in read(run).candidates if one.status != "asked"}


def _wait(call: Running, condition: Callable[[], bool], patience: float = 60.0) -> None:
    deadline = time.monotonic() + patience
    while call.poll() is None and not condition() and time.monotonic() < deadline:
        time.sleep(0.001)
