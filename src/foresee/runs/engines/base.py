"""Engines: where jobs are done. Whichever is used, the results are the same.

An engine gets one picklable callable `work` and, for each job, an id and a payload; `wait` hands back one finished job. It
knows nothing of what the work is.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from foresee.errors import InputError, RunError, UnknownNameError

Work = Callable[[Any], Any]

#: a job whose worker dies is tried once more
ATTEMPTS = 2


@dataclass(frozen=True)
class Outcome:
    """A finished job: its value, or the error that ended it, and how often it was tried."""

    job: int
    value: Any = None
    error: str | None = None
    attempts: int = 1


class Engine(ABC):
    """Does jobs. Used in a `with` block; leaving it stops everything that still runs."""

    #: how many jobs can run at once
    workers: int = 1

    @abstractmethod
    def submit(self, job: int, payload: Any) -> None:
        """Queue a job."""

    @abstractmethod
    def wait(self) -> Outcome:
        """Block until any job is finished and hand it over."""

    def __enter__(self) -> Engine:
        return self

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...


class Serial(Engine):
    """One job after another, in this process."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._queue: deque[tuple[int, Any]] = deque()

    def submit(self, job: int, payload: Any) -> None:
        """Queue a job."""
        self._queue.append((job, payload))

    def wait(self) -> Outcome:
        """Do the oldest job now."""
        job, payload = self._queue.popleft()
        return _attempt(self._work, job, payload)

    def __exit__(self, *_: object) -> None:
        self._queue.clear()


class Processes(Engine):
    """Several processes of this machine, started afresh (spawn).

    A worker that dies (killed, out of memory, a crash in native code) is replaced and its job is tried once more; the second
    death is the job's outcome. Workers ignore Ctrl-C, which belongs to the parent, and end by themselves when the parent is
    gone, however it ended.
    """

    def __init__(self, work: Work, workers: int) -> None:
        if workers < 1:
            raise InputError(f"workers {workers}: at least 1 is needed")
        self.workers = workers
        self._work = work
        self._context = multiprocessing.get_context("spawn")
        self._queue: deque[tuple[int, Any, int]] = deque()
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []
        self._ready: deque[Outcome] = deque()

    def submit(self, job: int, payload: Any) -> None:
        """Queue a job, and start it if a worker is free."""
        self._queue.append((job, payload, 1))
        self._dispatch()

    def wait(self) -> Outcome:
        """Block until any job is finished."""
        while not self._ready:
            self._dispatch()
            if not self._busy:
                raise RunError("no job is running: nothing to wait for")
            self._collect()
        return self._ready.popleft()

    def _dispatch(self) -> None:
        while self._queue and len(self._busy) < self.workers:
            worker = self._idle.pop() if self._idle else _Worker(self._context, self._work)
            worker.job = self._queue.popleft()
            with suppress(OSError):  # it died while idle: `_collect` sees the closed pipe and tries the job again
                worker.pipe.send(worker.job[1])
            self._busy.append(worker)

    def _collect(self) -> None:
        ready = wait([worker.pipe for worker in self._busy])
        for worker in [worker for worker in self._busy if worker.pipe in ready]:
            job, payload, attempt = worker.job
            try:
                message = worker.pipe.recv()
            except (EOFError, OSError):
                self._busy.remove(worker)
                self._bury(worker, job, payload, attempt)
                continue
            if message == _READY:
                worker.started = True
                continue
            self._busy.remove(worker)
            value, error = message
            self._ready.append(Outcome(job, value, error, attempt))
            self._idle.append(worker)

    def _bury(self, worker: _Worker, job: int, payload: Any, attempt: int) -> None:
        how = worker.stop()
        if not worker.started:
            raise RunError(
                f"a worker could not start ({how}); in a script, call the search under `if __name__ == '__main__':`, "
                "or use the serial engine"
            )
        if attempt < ATTEMPTS:
            self._queue.appendleft((job, payload, attempt + 1))
        else:
            self._ready.append(Outcome(job, None, f"the worker died {attempt} times ({how})", attempt))

    def __exit__(self, *_: object) -> None:
        for worker in self._idle + self._busy:
            worker.stop()
        self._idle.clear()
        self._busy.clear()
        self._queue.clear()


_READY = "ready"


class _Worker:
    """A process and our end of its pipe."""

    def __init__(self, context: Any, work: Work) -> None:
        self.pipe: Connection
        self.pipe, theirs = context.Pipe()
        self.started = False
        self.job: tuple[int, Any, int] = (-1, None, 0)
        self.process = context.Process(target=_serve, args=(theirs, work, os.getpid()), daemon=True)
        self.process.start()
        theirs.close()  # only the child holds it now, so its death closes the pipe

    def stop(self) -> str:
        """End the process and say how it ended."""
        self.pipe.close()
        self.process.join(0.2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        code = self.process.exitcode
        return f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit code {code}"


def _serve(pipe: Connection, work: Work, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pipe.send(_READY)
        while os.getppid() == parent:
            payload = pipe.recv()
            outcome = _attempt(work, 0, payload)
            pipe.send((outcome.value, outcome.error))
    except (EOFError, OSError):
        return  # the parent is gone or wants us gone


def _attempt(work: Work, job: int, payload: Any) -> Outcome:
    try:
        return Outcome(job, work(payload))
    except Exception as error:
        return Outcome(job, error=f"{type(error).__name__}: {error}")


ENGINES = {"serial": "in this process", "processes": "in several processes of this machine"}


def make(name: str, work: Work, workers: int | None = None) -> Engine:
    """An engine by name."""
    if name == "serial":
        return Serial(work)
    if name == "processes":
        return Processes(work, (os.cpu_count() or 1) if workers is None else workers)
    raise UnknownNameError("engine", name, ENGINES)
