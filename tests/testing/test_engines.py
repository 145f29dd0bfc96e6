"""The suite passes on every registered engine, and fails on engines that break one promise each."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time

import pytest

from foresee.errors import RunError
from foresee.runs.engines import Engine, Outcome, Processes, Serial, engines
from foresee.testing import EngineSuite

for _name in sorted({*engines.names()} - {"ray"}):  # it needs a cluster: tests/runs/engines/test_ray.py
    globals()[f"Test_{_name}"] = type(f"Test_{_name}", (EngineSuite,), {"engine": _name, "separate": _name != "serial"})


# -- the suite can fail -------------------------------------------------------------------------------------------------
class Checks(EngineSuite):
    __test__ = False


def suite(engine: type[Engine], separate: bool, patience: float = 60.0) -> EngineSuite:
    Checks.engine, Checks.separate, Checks.patience = engine, separate, patience
    return Checks()


class Forgets(Serial):
    def submit(self, job, payload):
        if job % 7 != 3:
            super().submit(job, payload)


class Hangs(Serial):
    def wait(self):
        if not self._queue:
            time.sleep(60)
        return super().wait()


class Repeats(Serial):
    last = None

    def wait(self):
        self.last = super().wait() if self.last is None else self.last
        return self.last


class Renames(Serial):
    def wait(self):
        one = super().wait()
        return Outcome(one.job + 1000, one.value)


class BareValues(Serial):
    def wait(self):
        return super().wait().value


class Invents(Serial):
    def wait(self):
        return super().wait() if self._queue else Outcome(0)


class Mixes(Serial):
    """The value of the job before."""

    before = None

    def wait(self):
        one = super().wait()
        mixed, self.before = Outcome(one.job, self.before), one.value
        return mixed


class AsText(Serial):
    def wait(self):
        one = super().wait()
        return Outcome(one.job, str(one.value), one.error)


class ShortErrors(Serial):
    def wait(self):
        one = super().wait()
        return Outcome(one.job, one.value, one.error and one.error.split(":")[0])


class Raises(Serial):
    def wait(self):
        job, payload = self._queue.popleft()
        return Outcome(job, self._work(payload))


class TriesErrorsAgain(Serial):
    def wait(self):
        one = super().wait()
        return Outcome(one.job, one.value, one.error, 2 if one.error else 1)


class StopsAtErrors(Serial):
    failed = None

    def wait(self):
        one = super().wait()
        self.failed = self.failed or one.error
        return Outcome(one.job, None, self.failed) if self.failed else one


class ValueBesideError(Serial):
    def wait(self):
        one = super().wait()
        return Outcome(one.job, 0.0, one.error) if one.error else one


class Boasts(Serial):
    workers = 2


class Idle(Serial):
    workers = 0


class Silent(Serial):
    summary = ""


class GivesUp(Processes):
    """The first death is the outcome."""

    def _bury(self, worker):
        how = worker.stop()
        self._ready.append(Outcome(worker.job[0], None, f"died ({how})", 1))


class Insists(Processes):
    """Tries three times."""

    def _bury(self, worker):
        (job, payload, tried), how = worker.job, worker.stop()
        if tried < 3:
            self._queue.appendleft((job, payload, tried + 1))
        else:
            self._ready.append(Outcome(job, None, f"died ({how})", tried))


class SaysNothing(Processes):
    """A job that dies again has no value, and no reason."""

    def wait(self):
        one = super().wait()
        return Outcome(one.job, one.value, None, one.attempts)


class Miscounts(Processes):
    def wait(self):
        one = super().wait()
        return Outcome(one.job, one.value, one.error, 1)


class DiesWhole(Processes):
    """One death fails all that is queued."""

    def _bury(self, worker):
        super()._bury(worker)
        self._ready.extend(Outcome(job, None, "the pool is broken") for job, _, tried in self._queue if tried == 1)
        self._queue = type(self._queue)(job for job in self._queue if job[2] > 1)


LEFT: list[Processes] = []


class StaysOn(Processes):
    def __exit__(self, *_):
        Checks.patience = 0.5  # from here on there is nothing to wait for
        LEFT.append(self)


class StaysBusy(StaysOn):
    def __exit__(self, *_):
        return super().__exit__() if self._busy else Processes.__exit__(self)


class Finishes(Serial):
    """Does at the end what is still queued."""

    def __exit__(self, *_):
        while self._queue:
            self._queue.popleft()
            self._work(0.0)


class Swallows(Serial):
    def __exit__(self, *_):
        super().__exit__()
        return True


class Lazy(Processes):
    """Begins nothing before it is waited for."""

    def submit(self, job, payload):
        self._queue.append((job, payload, 1))
        Checks.patience = 0.5 if payload == 600.0 else Checks.patience


@pytest.mark.parametrize(
    ("test", "broken", "message"),
    [
        ("declaration", Silent, "no summary"),
        ("declaration", Idle, "has 0 workers"),
        ("every_job_comes_back_once", Forgets, "did not come back: no job is queued"),
        ("every_job_comes_back_once", Repeats, "came back twice"),
        ("every_job_comes_back_once", Renames, "job 1100 came back, which was never submitted"),
        ("every_job_comes_back_once", BareValues, "came back instead of an outcome"),
        ("every_job_comes_back_once", Invents, "every job was done already"),
        ("every_job_comes_back_once", Hangs, "waiting without a job does not end"),
        ("every_job_comes_back_once", Mixes, "expected 0, got Outcome"),
        ("values_equal_those_of_doing_it_here", AsText, "payload None: .* done here"),
        ("values_equal_those_of_doing_it_here", ShortErrors, r"payload \('raise', 'no good'\)"),
        ("an_exception_is_an_outcome", TriesErrorsAgain, "was tried 2 times"),
        ("an_exception_is_an_outcome", StopsAtErrors, "job 2 suffers from another one's exception"),
        ("an_exception_is_an_outcome", ValueBesideError, "and yet a value: 0.0"),
        ("an_exception_is_an_outcome", ShortErrors, "expected 'ValueError: no good' as the error, got 'ValueError'"),
        ("as_many_at_once_as_it_says", Boasts, "2 workers, but not so many jobs run at once"),
        ("a_dead_worker_is_replaced_and_its_job_tried_again", GivesUp, "died once and was not tried again"),
        ("a_dead_worker_is_replaced_and_its_job_tried_again", Miscounts, "was tried 2 times, 1 were said"),
        ("who_dies_again_has_failed", Insists, "was tried 3 times, expected 2"),
        ("who_dies_again_has_failed", SaysNothing, "no reason is given"),
        ("who_dies_again_has_failed", Miscounts, "was tried 2 times, 1 were said"),
        ("who_dies_again_has_failed", DiesWhole, "suffers from another one's death: the pool is broken"),
        ("leaving_stops_everything", StaysBusy, "a busy worker is still there after the block"),
        ("leaving_stops_everything", StaysOn, "an idle worker is still there after the block"),
        ("leaving_stops_everything", Swallows, "must come out of it"),
        ("leaving_stops_everything", Finishes, "does jobs that nobody wants any more"),
        ("leaving_stops_everything", Lazy, "no worker begins a job that was submitted"),
    ],
)
def test_broken_promises_are_found(test, broken, message):
    separate = issubclass(broken, Processes)
    checks = suite(broken, separate, patience=60.0 if separate else 1.0)
    before = set(multiprocessing.active_children())  # of other tests in this process
    try:
        with pytest.raises(AssertionError, match=message):
            getattr(checks, f"test_{test}")()
    finally:
        for engine in LEFT:
            Processes.__exit__(engine)
        LEFT.clear()
    assert set(multiprocessing.active_children()) <= before


def test_an_exception_that_comes_out_of_wait_is_the_suites_too():
    with pytest.raises(ValueError, match="no good"):
        suite(Raises, separate=False).test_an_exception_is_an_outcome()


def test_an_engine_in_this_process_must_say_so():
    with pytest.raises(AssertionError, match="jobs are not done in other processes"):
        suite(Serial, separate=True).test_leaving_stops_everything()
    with pytest.raises(AssertionError, match="jobs are done in other processes"):
        suite(Processes, separate=False).test_leaving_stops_everything()


def test_the_suite_asks_for_an_engine():
    with pytest.raises(NotImplementedError, match="give the suite its engine"):
        EngineSuite().test_declaration()


def test_workers_need_no_torch():
    code = "import sys, foresee.testing.engines, foresee.testing.stores; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_nothing_queued_is_a_run_error():
    with Serial(len) as engine, pytest.raises(RunError, match="nothing to wait for"):
        engine.wait()
