"""Work that is killed, goes on, and is compared with work that nobody touched.

A test writes a script and runs it with `run_script`. The script's process has imported torch and never used it, so that it
forks a child in milliseconds that begins as a fresh process would:

    from tests.killing import at_moments, at_random, whole

    def work(folder, moment=None): ...            # goes on with what is in the folder; dies by itself at the moment

    length = whole(work, "whole")                 # undisturbed
    print(at_random(work, length, kills=10))      # in folders killed1, killed2, ...; says how many there are
    at_moments(work, "killed", moments)           # dies at one after the other, then is left alone
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def run_script(script: str, folder: Path, *arguments: str, timeout: float = 900.0) -> str:
    """What a script prints that is run in a folder, by one thread; where it fails, an AssertionError with its words."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
        timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- in the process of the script -------------------------------------------------------------------------------------
def forked(work: Callable[..., object], *given: Any) -> int:
    """The id of a process that works; it ends with 0, or says its error and ends with 1."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work(*given)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def ended(pid: int) -> int:
    """How a process ended."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def whole(work: Callable[[str], object], folder: str) -> float:
    """Work undisturbed; what it imported on its way is imported here, so that later ones need not. Seconds without that."""
    came, told = os.pipe()

    def telling(where: str) -> None:
        work(where)
        os.write(told, json.dumps(sorted(sys.modules)).encode())

    start = time.monotonic()
    pid = forked(telling, folder)
    os.close(told)
    with os.fdopen(came) as names:
        imported = names.read()
    assert ended(pid) == 0, "undisturbed, it failed"
    length = time.monotonic() - start
    start = time.monotonic()
    for name in json.loads(imported):
        with contextlib.suppress(Exception):  # a module that was made on the way
            importlib.import_module(name)
    return max(length / 5, length - (time.monotonic() - start))


def at_random(
    work: Callable[[str], object], length: float, *, kills: int, seed: int = 0, parts: Sequence[float] = (1.0,)
) -> int:
    """SIGKILL at random moments within `length` (or one of its `parts`), in one folder after the other: so many."""
    rng, dead, folders = random.Random(seed), 0, 0
    while dead < kills:
        folders += 1
        while True:
            pid = forked(work, f"killed{folders}")
            time.sleep(rng.uniform(0.0, length * rng.choice(parts)))
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                assert os.waitstatus_to_exitcode(status) == 0, status
                break
            os.kill(pid, signal.SIGKILL)
            dead += ended(pid) == -signal.SIGKILL
    return folders


def at_moments(work: Callable[..., object], folder: str, moments: Iterable[Any]) -> None:
    """Work that kills itself at each of the moments in turn; then it is left alone, and ends well."""
    for moment in moments:
        assert ended(forked(work, folder, moment)) == -signal.SIGKILL, f"it lived through {moment}"
    assert ended(forked(work, folder)) == 0, "left alone, it failed"


def die() -> None:
    """As the machine goes."""
    os.kill(os.getpid(), signal.SIGKILL)
