"""Blows at a search and at its workers, at chosen moments; resumed until it is done, it ends as if never touched.

    kill_once(seed)                        # raises AssertionError, with the command that repeats the case
    python -m tests.searchers.kills 17     # the case of seed 17, in a folder of its own

A case draws a searcher and, for each session of the run, an engine and a blow: who is hit (the search or one of its workers),
by which signal, and when: at an event, at a statement of the store, or after some time. The first two are the same in every
repetition. The process that deals the blows has imported torch and never used it, so that it can fork a search in
milliseconds.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.searchers.stepping import Stepping

from foresee.runs import Store, opening, read
from foresee.runs.events import Event
from foresee.searchers import SearchSettings, run_search
from foresee.searchers.base import searchers
from foresee.testing.searchers import essence

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {"random": {}, "evolution": {"population": 6, "sample": 3}, "stepping": {"pool": 8, "rounds": 2}}
EVALUATIONS = 20
#: exit codes of a search that was stopped politely
STOPPED = 130
#: seconds within which workers end after their parent, and a search after a blow
PATIENCE, LONGEST = 15.0, 300.0


@dataclass(frozen=True)
class Blow:
    """Who is hit by what, and when: at event or statement number `at`, or `at` seconds after the beginning."""

    victim: str  # "search", "worker"
    signals: tuple[str, ...]
    phase: str  # "event", "statement", "time"
    at: float

    @classmethod
    def drawn(cls, rng: random.Random, engine: str, length: float) -> Blow:
        """Any of them."""
        victim = rng.choice(["search", "worker"]) if engine == "processes" else "search"
        signals = rng.choice([("SIGKILL",), ("SIGKILL",), ("SIGTERM",), ("SIGINT",), ("SIGINT", "SIGTERM")])
        phases = ["event", "time"] if victim == "search" else ["event"]
        phase = rng.choice([*phases, "statement"] if signals == ("SIGKILL",) and victim == "search" else phases)
        most = {"event": 3 * EVALUATIONS, "statement": 12 * EVALUATIONS, "time": length}[phase]
        return cls(victim, signals[: 1 if victim == "worker" else 2], phase, round(rng.uniform(0, most), 3))

    def fall(self) -> None:
        """From inside the search; a worker is hit once at most, so that no candidate loses two of them."""
        if self.victim == "search":
            victims = [os.getpid()]
        else:
            victims = [one.pid for one in multiprocessing.active_children() if one.pid is not None][:1]
        for pid in victims:
            for name in self.signals:
                os.kill(pid, getattr(signal, name))


# -- the search, in a process of its own ------------------------------------------------------------------------------
def search(out: Path, searcher: str, engine: str, blow: Blow | None = None) -> None:
    """Go on with the run in a folder, or begin it."""
    seen = 0

    def count(event: Event) -> None:
        nonlocal seen
        seen += 1
        workers = [f"{one.pid}" for one in multiprocessing.active_children()]
        (out.parent / f"{out.name}.workers").write_text(" ".join(workers))
        if blow is not None and blow.phase == "event" and seen == int(blow.at) + 1:
            blow.fall()

    if blow is not None and blow.phase == "statement":
        _count_statements(blow)
    searchers.names()
    searchers._things["stepping"] = Stepping
    settings = SearchSettings.from_json({
        "space": "nasbench201", "space_settings": {"channels": 2, "cells": 1}, "proxies": ["naswot", "params"],
        "searcher": searcher, "searcher_settings": SETTINGS[searcher], "evaluations": EVALUATIONS, "seed": 5,
        "data": "synthetic", "inputs": [3, 8, 8], "outputs": 4, "batch_size": 4, "limits": {"params": {"max": 2500}},
        "window": 4,
    })  # fmt: skip
    run_search(settings, out=out, resume=True, engine=engine, workers=2, observers=[count])


def _count_statements(blow: Blow) -> None:
    plain, done = opening._connect, 0

    def trace(statement: str) -> None:
        nonlocal done
        done += 1
        if done == int(blow.at) + 1:
            blow.fall()

    def connect(path: Path, mode: str) -> Any:
        connection = plain(path, mode)
        connection.set_trace_callback(trace)
        return connection

    opening._connect = connect


def begin(out: Path, searcher: str, engine: str, blow: Blow | None = None) -> int:
    """The id of a process that searches."""
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        search(out, searcher, engine, blow)
        multiprocessing.util._exit_function()  # what a process does that ends by itself
        os._exit(0)
    except KeyboardInterrupt:
        os._exit(STOPPED)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def end(pid: int) -> int:
    """How the process ended."""
    deadline = time.monotonic() + LONGEST
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            raise AssertionError(f"the search did not end within {LONGEST:g} s")
        time.sleep(0.005)


# -- the case ---------------------------------------------------------------------------------------------------------
def case(seed: int, folder: Path) -> None:
    """One run with several blows, compared with one without."""
    rng = random.Random(f"kills {seed}")
    searcher = rng.choice(list(SETTINGS))
    start = time.monotonic()
    assert end(begin(folder / "whole", searcher, "serial")) == 0, "the run without a blow failed"
    length, out = time.monotonic() - start, folder / "hit"
    for _ in range(rng.randint(2, 5)):
        engine = rng.choice(["serial", "serial", "processes"])
        blow = Blow.drawn(rng, engine, length)
        print(f"{searcher}, {engine}: {blow}", file=sys.stderr)
        hit(out, searcher, engine, blow)
    code = end(begin(out, searcher, rng.choice(["serial", "processes"])))
    assert code == 0, f"undisturbed at last, the search ended with {code}"
    found, expected = (told(one) for one in (out, folder / "whole"))
    assert found == expected, f"the run is another one: {found}\nexpected: {expected}"


def hit(out: Path, searcher: str, engine: str, blow: Blow) -> None:
    """One session with its blow: it ends as it should, its workers with it, and the run can be read."""
    pid = begin(out, searcher, engine, blow)
    if blow.phase == "time":
        time.sleep(blow.at)
        for name in blow.signals:
            os.kill(pid, getattr(signal, name))  # not waited for yet, so it is still ours
    code = end(pid)
    allowed = {0}  # it may have been done before
    if blow.victim == "search":
        allowed |= {-signal.SIGKILL} if blow.signals == ("SIGKILL",) else {STOPPED, -signal.SIGINT, -signal.SIGTERM}
    assert code in allowed, f"exit code {code}, expected one of {sorted(allowed)}"
    workers = out.parent / f"{out.name}.workers"
    _gone([int(one) for one in workers.read_text().split()] if workers.exists() else [])
    if (out / "run.sqlite").exists():
        status = read(out).status
        assert status != "failed", "the run says that it failed"
        assert code or status == "finished", f"the search ended well, the run is {status}"


def _gone(pids: Sequence[int]) -> None:
    deadline = time.monotonic() + PATIENCE
    while left := [pid for pid in pids if _alive(pid)]:
        assert time.monotonic() < deadline, f"workers {left} are there {PATIENCE:g} s after their search"
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return status != "Z" and b"multiprocessing" in command  # not another one that got the number


def told(folder: Path) -> Any:
    """All of a run that must not depend on blows."""
    with Store.open(folder / "run.sqlite") as store:
        record, state = store.record(), store.get("searcher_state")
    return essence(record, state), record.status, (folder / "best.json").read_text()


def kill_once(seed: int, timeout: float = 900.0) -> None:
    """The case of a seed, in a process of its own; what is broken is an AssertionError that says how to repeat it."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "tests.searchers.kills", f"{seed}"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stderr[-4000:]}\nrepeat it: python -m tests.searchers.kills {seed}"


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        with TemporaryDirectory() as place:
            case(int(asked), Path(place))
