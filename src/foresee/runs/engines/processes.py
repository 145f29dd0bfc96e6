"""Several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from multiprocessing.connection import Connection, wait
from typing import Any

from foresee.errors import InputError, RunError
from foresee.runs.engines.base import ATTEMPTS, Engine, Outcome, Work, attempt, engines


@engines.register("processes")
class Processes(Engine):
    """Several processes of this machine, started afresh (spawn).

    A worker that dies (killed, out of memory, a crash in native code) is replaced and its job is tried once more; the second
    death is the job's outcome. Workers ignore Ctrl-C, which belongs to the parent, and end by themselves when the parent is
    gone, however it ended.
    """

    summary = "in several processes of this machine"

    def __init__(self, work: Work, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise InputError(f"workers {workers}: at least 1 is needed")
        self.workers = (os.cpu_count() or 1) if workers is None else workers
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
            worker.job = job, payload, tried = self._queue.popleft()
            try:
                worker.pipe.send(payload)
            except OSError:
                pass  # it died while idle: `_collect` sees the closed pipe and tries the job again
            except Exception as error:  # a payload that cannot be pickled may raise anything
                self._idle.append(worker)
                self._ready.append(Outcome(job, None, f"the payload cannot be handed over ({_named(error)})", tried))
                continue
            self._busy.append(worker)

    def _collect(self) -> None:
        ready = wait([worker.pipe for worker in self._busy])
        for worker in [worker for worker in self._busy if worker.pipe in ready]:
            job, _, tried = worker.job
            try:
                message = worker.pipe.recv()
            except (EOFError, OSError):
                self._busy.remove(worker)
                self._bury(worker)
                continue
            except Exception as error:  # all of the message is read, but the value cannot be built here
                message = None, f"the value cannot be read back ({_named(error)})"
            if message == _READY:
                worker.started = True
                continue
            self._busy.remove(worker)
            value, error_text = message
            self._ready.append(Outcome(job, value, error_text, tried))
            self._idle.append(worker)

    def _bury(self, worker: _Worker) -> None:
        (job, payload, tried), how = worker.job, worker.stop()
        if not worker.started:
            raise RunError(
                f"a worker could not start ({how}); in a script, call the search under `if __name__ == '__main__':`, "
                "or use the serial engine"
            )
        if tried < ATTEMPTS:
            self._queue.appendleft((job, payload, tried + 1))
        else:
            self._ready.append(Outcome(job, None, f"the worker died {tried} times ({how})", tried))

    def __exit__(self, *_: object) -> None:
        for worker in self._idle + self._busy:
            worker.stop()
        self._idle.clear()
        self._busy.clear()
        self._queue.clear()
        self._ready.clear()


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
            outcome = attempt(work, 0, payload)
            try:
                pipe.send((outcome.value, outcome.error))
            except OSError:
                return
            except Exception as error:  # nothing is sent of a value that cannot be pickled
                pipe.send((None, f"the value cannot be handed back ({_named(error)})"))
    except (EOFError, OSError):
        return  # the parent is gone or wants us gone


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
