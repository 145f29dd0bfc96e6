"""Many machines: the processes of a Ray cluster."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from foresee.errors import InputError, RunError, said
from foresee.runs.engines.base import ATTEMPTS, Engine, Outcome, Work, device_of, engines
from foresee.runs.engines.cluster import Cluster, home, worker_class
from foresee.runs.engines.sealed import opened, sealed

#: seconds of work that one call should hold, and the most jobs
CALL, MOST = 0.25, 256
#: so many machines may go away under a job before it is to blame
LOSSES = 5
#: so many workers in a row that cannot start are enough to stop starting others
STARTS = 3
#: seconds between two looks at the cluster, and without room for a single worker until that is an error
LOOK, PATIENCE = 5.0, 60.0


@dataclass(eq=False)
class _Task:
    """A job on its way: workers that died of it, machines that went away under it."""

    job: int
    payload: bytes
    deaths: int = 0
    losses: int = 0
    #: it was in a group that died: next time nobody goes with it
    alone: bool = False

    @property
    def ended(self) -> int:
        """How often it was begun in vain."""
        return self.deaths + self.losses


@dataclass(eq=False)
class _Hand:
    """A worker, what it is asked for, and the tasks that are in it."""

    actor: Any
    call: Any
    tasks: list[_Task] = field(default_factory=list)
    started: bool = False


@engines.register("ray")
class Ray(Engine):
    """The processes of a Ray cluster, one for each core, or for each card where the work computes on `cuda`.

    A worker is given the work once and keeps what that makes for itself (spaces, data). Small jobs travel in groups, as
    many as take a quarter of a second by what was measured, fewer towards the end. A worker that dies is replaced and
    its job tried once more; the second death is the job's outcome. When a group dies nobody is blamed, and its jobs are done
    one by one. A machine that goes away costs nobody an attempt, as long as it does not happen to one job again and again.
    Machines that join are used, unless the number of workers was said.
    """

    summary = "on a Ray cluster of many machines (RAY_ADDRESS), or of this one; extra ray"

    def __init__(self, work: Work, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise InputError(f"workers {workers}: at least 1 is needed")
        self._work, self._asked = work, workers
        self._cluster = Cluster(workers, device_of(work))
        self._queue: deque[_Task] = deque()
        self._idle: list[_Hand] = []
        self._busy: list[_Hand] = []  # also those that are still starting
        self._ready: deque[Outcome] = deque()
        self._stillborn = 0  # workers in a row that could not start
        self._why = ""
        self._kind: Any = None  # a function from nothing to an actor that is starting, and the call it has begun with
        self._pace: float | None = None  # seconds of a job
        self._counted, self._places, self._hopeless = 0.0, 0, 0.0

    @property
    def workers(self) -> int:  # type: ignore[override]
        """How many jobs can run at once: as many as were asked for, or as the cluster has room for now."""
        if self._asked is not None:
            return self._asked
        if not self._places or time.monotonic() > self._counted + LOOK:
            self._places, self._counted = max(1, self._cluster.places), time.monotonic()
        return self._places

    def submit(self, job: int, payload: Any) -> None:
        """Queue a job, and start it if a worker is free."""
        try:
            self._queue.append(_Task(job, sealed(payload)))
        except Exception as error:  # what cannot be pickled may raise anything
            self._ready.append(Outcome(job, None, f"the payload cannot be handed over ({said(error)})"))
            return
        self._dispatch()

    def wait(self) -> Outcome:
        """Block until any job is finished."""
        while not self._ready:
            self._dispatch()
            if not self._queue and not any(hand.tasks for hand in self._busy):
                raise RunError("no job is running: nothing to wait for")
            self._collect()
        return self._ready.popleft()

    # -- out --------------------------------------------------------------------------------------------------------------
    def _dispatch(self) -> None:
        while self._queue and self._idle:
            hand, tasks = self._idle.pop(), self._group()
            hand.tasks, hand.call = tasks, hand.actor.do.remote([task.payload for task in tasks])
            self._busy.append(hand)
        coming = sum(not hand.started for hand in self._busy)
        while coming < len(self._queue) and len(self._busy) < self.workers and self._stillborn < STARTS:
            self._busy.append(self._start())
            coming += 1
        if self._queue and not self._busy:
            raise RunError(
                f"{self._stillborn} workers in a row could not start (the last: {self._why}); foresee and what it needs must "
                "be installed on every machine of the cluster, in one version"
            )

    def _group(self) -> list[_Task]:
        """The next tasks for one call: a short while of work, and never so many that others would go without."""
        size = 1 if self._pace is None else int(CALL / max(self._pace, CALL / MOST))
        size = min(size, len(self._queue) // (2 * self.workers))
        tasks = [self._queue.popleft()]
        while len(tasks) < size and not tasks[0].alone and not self._queue[0].alone:
            tasks.append(self._queue.popleft())
        return tasks

    def _start(self) -> _Hand:
        if self._kind is None:
            ray = self._cluster.join()
            try:
                work = ray.put(sealed(self._work))
            except Exception as error:  # pickling may raise anything
                raise RunError(f"the work cannot be handed to other machines ({said(error)})") from error
            actors = ray.remote(worker_class()).options(max_restarts=0, **self._cluster.needs)

            def start() -> tuple[Any, Any]:
                actor = actors.remote(*home())
                return actor, actor.begin.remote(work)

            self._kind = start
        return _Hand(*self._kind())

    # -- back -------------------------------------------------------------------------------------------------------------
    def _collect(self) -> None:
        ray = self._cluster.ray
        hands = {hand.call: hand for hand in self._busy}
        done, _ = ray.wait(list(hands), num_returns=1, timeout=LOOK)
        if not done:
            self._hope()
            return
        self._hopeless = 0.0
        more, _ = ray.wait(list(hands), num_returns=len(hands), timeout=0)
        for call in more or done:
            hand = hands[call]
            self._busy.remove(hand)
            try:
                found = ray.get(call)
            except ray.exceptions.RayError as error:  # it is dead, out of reach, or so is what it has to say
                self._bury(hand, error)
                continue
            if hand.started:
                self._take(hand, *found)
            elif found:  # it is there, and cannot have the work
                self._stillborn, self._why = self._stillborn + 1, found
                self._end(hand)
            else:
                hand.started, self._stillborn = True, 0
                self._idle.append(hand)

    def _take(self, hand: _Hand, seconds: float, found: list[tuple[bytes | None, str | None]]) -> None:
        took = seconds / len(found)
        self._pace = took if self._pace is None else (self._pace + took) / 2
        for task, (value, error) in zip(hand.tasks, found, strict=True):
            try:
                got = None if value is None else opened(value)
            except Exception as problem:  # all of it is here, but it cannot be built
                got, error = None, f"the value cannot be read back ({said(problem)})"
            self._ready.append(Outcome(task.job, got, error, task.ended + 1))
        hand.tasks = []
        self._idle.append(hand)

    def _bury(self, hand: _Hand, error: BaseException) -> None:
        """Its tasks are done again, by others; what killed twice is not."""
        self._end(hand)
        how, machine = _cause(error), _machine(error)
        if not hand.started:
            if not machine:
                self._stillborn, self._why = self._stillborn + 1, how
            return
        self._stillborn = 0  # a place has become free: another may well start
        for task in reversed(hand.tasks):
            if machine:
                task.losses += 1
            elif len(hand.tasks) > 1:
                task.alone = True
            else:
                task.deaths += 1
            if task.deaths >= ATTEMPTS or task.losses >= LOSSES:
                self._ready.append(Outcome(task.job, None, f"the worker died {task.ended} times ({how})", task.ended))
            else:
                self._queue.appendleft(task)

    def _hope(self) -> None:
        """Somebody works, or there is room for somebody; a cluster may lose its last machine and get another."""
        if any(hand.started for hand in self._busy) or self._cluster.places:
            self._hopeless = 0.0
            return
        self._hopeless = self._hopeless or time.monotonic()
        if time.monotonic() > self._hopeless + PATIENCE:
            what = "GPU" if self._cluster.gpus else "core"
            raise RunError(f"no machine of the cluster has a {what} for a worker ({self._cluster.in_words()})")

    # -- the end ----------------------------------------------------------------------------------------------------------
    def _end(self, hand: _Hand) -> None:
        with suppress(Exception):  # whatever is left of it; the cluster may be gone as well
            self._cluster.ray.kill(hand.actor)

    def __exit__(self, *_: object) -> None:
        for hand in self._idle + self._busy:
            self._end(hand)
        for held in (self._idle, self._busy, self._queue, self._ready):
            held.clear()
        self._kind = None
        self._cluster.leave()


def _machine(error: BaseException) -> bool:
    """Whether it was not the worker that ended, but its machine, or the way to it."""
    return (
        type(error).__name__ != "ActorDiedError" or "node has died" in str(error) or getattr(error, "preempted", False)
    )


def _cause(error: BaseException) -> str:
    """What Ray says about an end, without the numbers of things that are gone."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
    return " ".join(" ".join(lines[1:] or lines or [type(error).__name__]).split())[:300]
