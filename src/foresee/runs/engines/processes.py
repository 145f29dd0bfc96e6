"""Several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

from foresee.errors import InputError, RunError, said
from foresee.runs.engines.base import ATTEMPTS, Engine, Outcome, Work, attempt, engines

#: so many workers in a row that cannot start are enough to stop starting others
STARTS = 3
#: seconds between two looks of a worker for its parent, where nothing tells it
LOOK = 1.0


@engines.register("processes")
class Processes(Engine):
    """Several processes of this machine, started afresh (spawn), or after `get_ready` forked from one that has only imported.

    A worker that dies (killed, out of memory, a crash in native code) is replaced and its job is tried once more; the second
    death is the job's outcome. One that dies before it has begun is replaced as well, at nobody's cost; when several in a row
    cannot start, those that work go on without, and where none does the reason is said. Workers ignore Ctrl-C, which belongs
    to the parent, from their first instruction, and end by themselves when the parent is gone, however it ended and whatever
    they are doing.
    """

    summary = "in several processes of this machine"

    def __init__(self, work: Work, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise InputError(f"workers {workers}: at least 1 is needed")
        self.workers = (os.cpu_count() or 1) if workers is None else workers
        self._work = work
        self._context = multiprocessing.get_context(_Start.method)
        self._queue: deque[tuple[int, Any, int]] = deque()
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []
        self._ready: deque[Outcome] = deque()
        self._stillborn = 0  # workers in a row that could not start
        self._why = ""

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
            worker = self._idle.pop() if self._idle else self._start()
            if worker is None:
                return
            worker.job = job, payload, tried = self._queue.popleft()
            try:
                worker.pipe.send(payload)
            except OSError:
                pass  # it died while idle: `_collect` sees the closed pipe and tries the job again
            except Exception as error:  # a payload that cannot be pickled may raise anything
                self._idle.append(worker)
                self._ready.append(Outcome(job, None, f"the payload cannot be handed over ({said(error)})", tried))
                continue
            self._busy.append(worker)

    def _start(self) -> _Worker | None:
        """A new worker; None where several could not start and others are at work. Where none is, that is the end."""
        while self._stillborn < STARTS:
            try:
                return _Worker(self._context, self._work)
            except (OSError, EOFError) as error:  # no process, memory or file left; what forks them was killed
                self._stillborn, self._why = self._stillborn + 1, said(error)
            except Exception as error:  # pickling may raise anything
                raise RunError(
                    f"the work cannot be handed to other processes ({said(error)}); a lambda has to be a function at the "
                    "top of a module for that, or use the serial engine"
                ) from error
        if self._busy:
            return None
        raise RunError(
            f"{self._stillborn} workers in a row could not start (the last: {self._why}); in a script, call the search "
            "under `if __name__ == '__main__':`, or use the serial engine"
        )

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
                message = None, f"the value cannot be read back ({said(error)})"
            if message == _READY:
                worker.started, self._stillborn = True, 0
                continue
            self._busy.remove(worker)
            value, error_text = message
            self._ready.append(Outcome(job, value, error_text, tried))
            self._idle.append(worker)

    def _bury(self, worker: _Worker) -> None:
        (job, payload, tried), how = worker.job, worker.stop()
        if not worker.started:
            self._stillborn, self._why = self._stillborn + 1, how
            self._queue.appendleft((job, payload, tried))
            return
        self._stillborn = 0  # a place has become free: another may well start
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


class _Start:
    """How workers are started in this process."""

    method = "spawn"


def get_ready(*modules: str) -> None:
    """Let a process import these modules from now on, beside us; workers are then forked from it instead of started afresh.

    A library such as torch takes seconds to import: so it is imported once for all workers, while this process imports it
    too. That process imports and does nothing else, so a worker forked from it is like one that was started afresh. For
    programs that end when the work is done, such as the command `foresee`: it lives as long as this process.
    """
    if sys.platform != "linux":  # elsewhere system libraries do not bear being forked
        return
    from multiprocessing import forkserver

    _Start.method = "forkserver"
    forkserver.set_forkserver_preload(["foresee.runs.orphans", *modules])
    with _deaf():
        forkserver.ensure_running()


class _Worker:
    """A process and our end of its pipe."""

    def __init__(self, context: Any, work: Work) -> None:
        self.pipe: Connection
        self.pipe, theirs = context.Pipe()
        self.started = False
        self.job: tuple[int, Any, int] = (-1, None, 0)
        forked = context.get_start_method() == "forkserver"
        args = (theirs, work, None if forked else os.getpid())
        self.process = context.Process(target=_serve, args=args, daemon=True)
        try:
            with _deaf():
                self.process.start()
        except BaseException:
            self.pipe.close()
            raise
        finally:
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


@contextmanager
def _deaf() -> Iterator[None]:
    """A process that is started in here does not hear Ctrl-C; ours hears it as soon as we are out.

    A signal mask is inherited, also by another program: so the child is deaf from its first instruction, long before it can
    say by itself that it wants to be.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # it is started with the first process, and would undo the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _watch(parent: int) -> None:
    """End this process when its parent is gone, in the middle of whatever it does."""
    known = multiprocessing.parent_process()
    while os.getppid() == parent and not (known and wait([known.sentinel], LOOK)):
        pass
    os._exit(1)


def _serve(pipe: Connection, work: Work, parent: int | None) -> None:
    """Do one payload after another. The parent of a forked worker is the process it was forked from, which ends with ours."""
    parent = os.getppid() if parent is None else parent
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # ignored from here on, so it need not be held back any more
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
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
                pipe.send((None, f"the value cannot be handed back ({said(error)})"))
    except (EOFError, OSError):
        return  # the parent is gone or wants us gone
