"""What every engine must keep, as tests.

    class TestMine(EngineSuite):
        engine = "mine"

pytest finds the tests in the subclass. Every assertion says what was expected of which job. An engine that does its jobs in
this process says `separate = False`: it cannot outlive a job that ends the process.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TypeVar

from foresee.errors import RunError
from foresee.runs.engines.base import ATTEMPTS, Engine, Outcome, Work, attempt, engines

T = TypeVar("T")

#: what goes over and comes back, each of a kind of its own
PAYLOADS: tuple[Any, ...] = (
    None,
    "",
    "ready",
    "Grüße, 建築 \U0001f3e0\0\n",
    b"\x00\xff" * 300_000,
    2**200,
    (0.1, -0.0, float("nan"), float("-inf")),
    {"texts": ["a", "b"], ("a", 1): {None: True}},
    ["|none~0|", "|skip~0|", "|conv~0|"],
    Outcome(7, {"inside": [1, 2]}),
    ValueError,
)


class EngineSuite:
    """Base class; a subclass names its `engine` and, where the defaults do not fit, the rest."""

    #: a registered name, or an engine that is not registered
    engine: ClassVar[str | type[Engine]]
    #: whether jobs are done outside this process
    separate: ClassVar[bool] = True
    #: how many jobs at once the engine is asked for; there will be more jobs than that
    workers: ClassVar[int] = 2
    #: seconds after which a job that has not come back counts as lost
    patience: ClassVar[float] = 60.0

    # -- what is tested -----------------------------------------------------------------------------------------------
    @property
    def kind(self) -> type[Engine]:
        """The engine under test."""
        if not hasattr(type(self), "engine"):
            raise NotImplementedError('give the suite its engine: engine = "name"')
        return engines[self.engine] if isinstance(self.engine, str) else self.engine

    def made(self, work: Work) -> Engine:
        """An engine for this work."""
        return self.kind(work, self.workers)

    def outcomes(self, engine: Engine, jobs: Iterable[tuple[int, Any]]) -> dict[int, Outcome]:
        """Submit all jobs at once and wait for as many outcomes; each must be that of another job."""
        jobs = list(jobs)
        for job, payload in jobs:
            engine.submit(job, payload)
        found: dict[int, Outcome] = {}
        for _ in jobs:
            missing = sorted({job for job, _ in jobs} - set(found))
            try:
                one = self._soon(engine.wait, f"jobs {missing} did not come back")
            except RunError as error:
                raise AssertionError(f"jobs {missing} did not come back: {error}") from error
            assert isinstance(one, Outcome), f"{one!r} came back instead of an outcome"
            assert one.job not in found, f"job {one.job} came back twice"
            assert one.job in missing, f"job {one.job} came back, which was never submitted"
            found[one.job] = one
        return found

    # -- jobs and values ----------------------------------------------------------------------------------------------
    def test_declaration(self) -> None:
        """It says where the work is done, makes do without a number of workers, and says how many it has."""
        assert self.kind.summary.strip(), f"{self.kind.__name__}: no summary; it says where the work is done"
        for asked in (None, self.workers):
            with self.kind(same, asked) as engine:
                assert engine.workers >= 1, f"asked for {asked}, the engine has {engine.workers} workers"

    def test_every_job_comes_back_once(self) -> None:
        """More jobs than workers, ids in any order, and again after all were done; then there is nothing to wait for."""
        with self.made(same) as engine:
            for first in (100, 0):
                jobs = [(first + 7 * number % 11, number) for number in range(11)]
                found = self.outcomes(engine, jobs)
                for job, payload in jobs:
                    assert found[job].value == payload, f"job {job}: expected {payload}, got {found[job]}"
            try:
                more = self._soon(engine.wait, "waiting without a job does not end, expected a RunError")
            except RunError:
                return
            raise AssertionError(f"{more} came back, but every job was done already")

    def test_values_equal_those_of_doing_it_here(self) -> None:
        """Payloads and values are what they were, in type and to the last bit; so is the text of an exception."""
        payloads = [*PAYLOADS, *(("raise", one) for one in ("no good", "", "Grüße"))]
        with self.made(mirror) as engine:
            found = self.outcomes(engine, enumerate(payloads))
        for job, payload in enumerate(payloads):
            here = attempt(mirror, job, payload)
            there = found[job]
            same = (repr(there.value), there.error) == (repr(here.value), here.error)
            assert same, f"payload {payload!r:.60}: {there!r:.200}, done here: {here!r:.200}"

    def test_an_exception_is_an_outcome(self) -> None:
        """With its text, at the first attempt, and the other jobs are done."""
        with self.made(mirror) as engine:
            found = self.outcomes(engine, [(0, "a"), (1, ("raise", "no good")), (2, "b")])
        text, tries = found[1].error, found[1].attempts
        assert text == "ValueError: no good", f"expected 'ValueError: no good' as the error, got {text!r}"
        assert found[1].value is None, f"an error, and yet a value: {found[1].value!r}"
        assert tries == 1, f"a job that raised was tried {tries} times; it will only raise again"
        for job in (0, 2):
            assert found[job].error is None, f"job {job} suffers from another one's exception: {found[job].error}"

    def test_as_many_at_once_as_it_says(self) -> None:
        """Jobs that wait for one another end only when they run at once."""
        with TemporaryDirectory() as folder, self.made(_Meet(folder, self.patience)) as engine:
            many = engine.workers
            found = self.outcomes(engine, [(number, many) for number in range(many)])
        errors = {one.error for one in found.values()} - {None}
        assert not errors, f"{many} workers, but not so many jobs run at once: {errors}"

    # -- death --------------------------------------------------------------------------------------------------------
    def test_a_dead_worker_is_replaced_and_its_job_tried_again(self) -> None:
        """However it died; the other jobs take no notice."""
        if not self.separate:
            return
        with TemporaryDirectory() as folder, self.made(_Die(folder, times=1)) as engine:
            found = self.outcomes(engine, enumerate(["a", "exit", "b", "kill", "c"]))
        for job, payload in enumerate(["a", "exit", "b", "kill", "c"]):
            one = found[job]
            assert one.error is None, f"{payload!r} died once and was not tried again: {one.error}"
            assert one.value == payload, f"expected {payload!r}, got {one.value!r}"
            expected = 2 if payload in ("exit", "kill") else 1
            assert one.attempts == expected, f"{payload!r} was tried {expected} times, {one.attempts} were said"

    def test_who_dies_again_has_failed(self) -> None:
        """A job that ends every worker is tried so often and no more; its outcome says why, and the others are done."""
        if not self.separate:
            return
        with TemporaryDirectory() as folder, self.made(_Die(folder, times=99)) as engine:
            found = self.outcomes(engine, enumerate(["a", "exit", "b", "kill", "c"]))
            tried = {payload: len(list(Path(folder).glob(f"{payload}.*"))) for payload in ("exit", "kill")}
        for job, payload in enumerate(["a", "exit", "b", "kill", "c"]):
            one = found[job]
            if payload not in tried:
                assert one.error is None, f"{payload!r} suffers from another one's death: {one.error}"
                continue
            assert (one.error or "").strip(), f"{payload!r} ended every worker, and no reason is given"
            assert one.value is None, f"{payload!r} ended every worker, and yet a value: {one.value!r}"
            assert tried[payload] == ATTEMPTS, f"{payload!r} was tried {tried[payload]} times, expected {ATTEMPTS}"
            assert one.attempts == ATTEMPTS, f"{payload!r} was tried {ATTEMPTS} times, {one.attempts} were said"

    # -- the end ------------------------------------------------------------------------------------------------------
    def test_leaving_stops_everything(self) -> None:
        """Jobs that run and jobs that wait, also when an exception leads out; no process is left, idle or busy."""
        for busy, error in ((False, None), (True, None), (True, KeyError("the user's own"))):
            with TemporaryDirectory() as folder:
                caught: BaseException | None = None
                try:
                    with self.made(_Note(folder)) as engine:
                        quick = 2 * self.workers
                        self.outcomes(engine, [(number, 0.0) for number in range(quick)])
                        for number in range(2 * self.workers if busy else 0):
                            engine.submit(quick + number, 600.0)
                        if self.separate and busy:
                            self._until(partial(_begun, folder, quick + 1), "no worker begins a job that was submitted")
                        if error is not None:
                            raise error
                except KeyError as passed:
                    caught = passed
                assert caught is error, f"an exception in the block must come out of it: {error!r} became {caught!r}"
                noted = _noted(folder)
                pids = {pid for pid in noted if pid != os.getpid()}
                assert bool(pids) == self.separate, f"jobs are {'not ' * self.separate}done in other processes"
                self._until(
                    partial(_gone, pids), f"{'a busy' if busy else 'an idle'} worker is still there after the block"
                )
                most = quick + self.workers if busy and self.separate else quick
                assert len(_noted(folder)) <= most, "leaving the block does jobs that nobody wants any more"

    # -- help ---------------------------------------------------------------------------------------------------------
    def _soon(self, call: Callable[[], T], complaint: str) -> T:
        """What `call` returns or raises, as long as it does so in time."""
        done: list[T] = []
        raised: list[BaseException] = []

        def go() -> None:
            try:
                done.append(call())
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=go, daemon=True)
        thread.start()
        thread.join(self.patience)
        assert not thread.is_alive(), f"{complaint} within {self.patience:g} s"
        if raised:
            raise raised[0]
        return done[0]

    def _until(self, true: Callable[[], bool], complaint: str) -> None:
        end = time.monotonic() + self.patience
        while not true():
            assert time.monotonic() < end, f"{complaint}, {self.patience:g} s later"
            time.sleep(0.01)


# -- the work: importable by any worker -------------------------------------------------------------------------------
def same(payload: Any) -> Any:
    """The payload."""
    return payload


def mirror(payload: Any) -> Any:
    """The payload with its repr beside it, as it was seen where the work is done; or an exception with a text."""
    if isinstance(payload, tuple) and payload[0] == "raise":
        raise ValueError(payload[1])
    return payload, repr(payload)


class _Die:
    """Ends the process for the payloads "exit" and "kill", so many times; each time leaves a mark."""

    def __init__(self, folder: str, times: int) -> None:
        self.folder, self.times = folder, times

    def __call__(self, payload: str) -> str:
        marks = len(list(Path(self.folder).glob(f"{payload}.*")))
        if payload in ("exit", "kill") and marks < self.times:
            (Path(self.folder) / f"{payload}.{marks}").touch()
            if payload == "exit":
                os._exit(3)
            os.kill(os.getpid(), signal.SIGKILL)
        return payload


class _Meet:
    """Ends when as many jobs as the payload says have begun."""

    def __init__(self, folder: str, patience: float) -> None:
        self.folder, self.patience = folder, patience

    def __call__(self, many: int) -> None:
        _note(self.folder)
        end = time.monotonic() + self.patience / 2
        while len(_noted(self.folder)) < many:
            if time.monotonic() > end:
                raise TimeoutError(f"{len(_noted(self.folder))} of {many} have begun")
            time.sleep(0.01)


class _Note:
    """Notes the process it is in, and sleeps as long as the payload says."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, seconds: float) -> None:
        _note(self.folder)
        time.sleep(seconds)


def _note(folder: str) -> None:
    (Path(folder) / f"{os.getpid()}.{time.monotonic_ns()}").touch()


def _noted(folder: str) -> Sequence[int]:
    """Processes of the jobs that have begun, one entry each."""
    return [int(path.name.split(".")[0]) for path in Path(folder).iterdir()]


def _begun(folder: str, many: int) -> bool:
    return len(_noted(folder)) >= many


def _gone(pids: Iterable[int]) -> bool:
    return not any(map(_alive, pids))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")  # a dead process is listed until its parent has taken note
    return not (status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] == "Z")
