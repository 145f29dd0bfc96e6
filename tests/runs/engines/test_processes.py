from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from tests.runs.dying import DieOnce

from foresee.errors import InputError, RunError
from foresee.runs import engines
from foresee.runs.engines import processes


@pytest.fixture(params=["spawn", "forkserver"], autouse=True)
def method(request, monkeypatch):
    """However workers are started, all of this holds."""
    monkeypatch.setattr(processes._Start, "method", request.param)
    return request.param


def square(payload):
    return payload * payload


def drain(engine, count):
    return {outcome.job: outcome for outcome in (engine.wait() for _ in range(count))}


def test_a_process_that_is_killed_while_a_worker_is_asked_for(monkeypatch):
    """What workers are forked from was killed: its answer ends before it has begun, and a new one is started."""
    real, deaths = processes._Worker, []

    def made(context, work):
        if not deaths:
            deaths.append(1)
            raise EOFError("unexpected EOF")
        return real(context, work)

    monkeypatch.setattr(processes, "_Worker", made)
    with engines.Processes(square, 1) as engine:
        engine.submit(0, 3)
        assert engine.wait().value == 9
    assert deaths


def test_a_dead_worker_is_replaced_and_its_job_tried_again(tmp_path):
    with engines.Processes(DieOnce(str(tmp_path)), 2) as engine:
        for job, payload in enumerate([3, -1, 5]):
            engine.submit(job, payload)
        found = drain(engine, 3)
    assert [found[job].value for job in range(3)] == [6, -2, 10]
    assert [found[job].attempts for job in range(3)] == [1, 2, 1]


def test_the_second_death_is_the_outcome(tmp_path):
    with engines.Processes(DieOnce(str(tmp_path), always=True), 1) as engine:
        engine.submit(0, -1)
        engine.submit(1, 4)
        found = drain(engine, 2)
    assert found[0].value is None
    assert found[0].error == "the worker died 2 times (signal SIGKILL)"
    assert found[1].value == 8


def test_workers_are_counted_and_at_least_one():
    assert engines.Processes(square).workers == (os.cpu_count() or 1)
    assert engines.Processes(square, 3).workers == 3
    with pytest.raises(InputError, match="workers 0: at least 1 is needed"):
        engines.Processes(square, 0)


class NotBack:
    """Goes over, and fails when it is built again."""

    def __reduce__(self):
        return fail, ("no way back",)


def fail(text):
    raise LookupError(text)


def values(payload):
    return {"function": lambda: 0, "not back": NotBack()}.get(payload, payload)


def test_what_cannot_be_handed_over_is_an_outcome_and_its_worker_goes_on():
    with engines.Processes(values, 1) as engine:
        for job, payload in enumerate(["function", "not back", lambda: 0, "good"]):
            engine.submit(job, payload)
        found = drain(engine, 4)
        assert len(engine._idle) == 1
    assert [found[job].attempts for job in range(4)] == [1, 1, 1, 1]
    assert found[0].error.startswith("the value cannot be handed back (")
    assert found[1].error == "the value cannot be read back (LookupError: no way back)"
    assert found[2].error.startswith("the payload cannot be handed over (")
    assert found[3].value == "good"


def test_workers_end_when_the_parent_is_killed(tmp_path, method):
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, time
            from foresee.runs import engines

            def slow(payload):
                with open(payload, "w") as file:
                    file.write(str(os.getpid()))
                time.sleep(600)

            if __name__ == "__main__":
                if os.environ["METHOD"] == "forkserver":
                    engines.get_ready("foresee.scoring.ready")
                with engines.Processes(slow, 1) as engine:
                    engine.submit(0, os.environ["MARK"])
                    engine.wait()
            """
        )
    )
    mark = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, str(script)], env={**os.environ, "MARK": str(mark), "METHOD": method})
    deadline = time.monotonic() + 60
    while not (mark.exists() and mark.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    worker = int(mark.read_text())
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 15  # in the middle of a job of ten minutes
    while time.monotonic() < deadline:
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        with open(f"/proc/{worker}/stat") as file:
            if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                return
        time.sleep(0.05)
    pytest.fail("the worker outlived its parent")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_killed_while_it_starts_is_replaced_at_nobodys_cost(workers):
    with engines.Processes(square, workers) as engine:
        for job in range(3):
            engine.submit(job, job)
        engine._busy[0].process.kill()
        found = drain(engine, 3)
    assert [(found[job].value, found[job].attempts) for job in range(3)] == [(0, 1), (1, 1), (4, 1)]


class Stillborn:
    """Ends every process it is sent to, but for the first `good` ones."""

    def __init__(self, folder, good=0):
        self.folder, self.good = folder, good

    def __reduce__(self):
        return arrive, (self.folder, self.good)


def arrive(folder, good):
    for number in range(good):
        try:
            os.close(os.open(os.path.join(folder, f"{number}"), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        return square
    os._exit(7)


def test_where_none_can_start_the_reason_is_said(tmp_path):
    with engines.Processes(Stillborn(str(tmp_path)), 1) as engine:
        engine.submit(0, 1)
        with pytest.raises(RunError, match=r"3 workers in a row could not start \(the last: exit code 7\)"):
            engine.wait()


def test_those_that_work_go_on_without_those_that_cannot_start(tmp_path):
    with engines.Processes(Stillborn(str(tmp_path), good=1), 2) as engine:
        for job in range(6):
            engine.submit(job, job)
        found = drain(engine, 6)
    assert [found[job].value for job in range(6)] == [0, 1, 4, 9, 16, 25]
    assert {one.attempts for one in found.values()} == {1}


def test_work_that_cannot_be_sent_is_said():
    said = r"the work cannot be handed to other processes .* a lambda has to be a function .* or use the serial engine"
    with engines.Processes(lambda payload: payload, 1) as engine, pytest.raises(RunError, match=said):
        engine.submit(0, 1)


def test_a_system_without_room_for_another_process_is_said(monkeypatch):
    def full(self):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with engines.Processes(square, 2) as engine:
        monkeypatch.setattr(engine._context.Process, "start", full)
        with pytest.raises(RunError, match=r"3 workers in a row could not start .*temporarily unavailable"):
            engine.submit(0, 1)


def test_workers_do_not_hear_ctrl_c_from_their_first_instruction(capfd):
    with engines.Processes(square, 1) as engine:
        engine.submit(0, 3)
        pid = engine._busy[0].process.pid
        while not engine._busy[0].pipe.poll(0.005):  # it has not said yet that it is there
            os.kill(pid, signal.SIGINT)
        os.kill(pid, signal.SIGINT)
        [found] = drain(engine, 1).values()
    assert (found.value, found.attempts) == (9, 1)
    assert capfd.readouterr().err == ""


def test_our_own_ctrl_c_is_heard_after_a_worker_was_started(monkeypatch):
    with engines.Processes(square, 1) as engine:
        process = engine._context.Process
        plain = process.start

        def interrupted(self):
            os.kill(os.getpid(), signal.SIGINT)
            plain(self)

        monkeypatch.setattr(process, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.submit(0, 3)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_script_without_its_guard_is_told_so(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        textwrap.dedent(
            """
            from foresee.runs import engines

            def work(payload):
                return payload

            with engines.Processes(work, 1) as engine:
                engine.submit(0, 1)
                engine.wait()
            """
        )
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "if __name__ == '__main__'" in done.stderr


def test_workers_are_forked_from_a_process_that_has_imported_what_they_need(tmp_path):
    """In a program of its own: the process that workers are forked from lives as long as the one that asked for it."""
    script = tmp_path / "ready.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys
            from foresee.runs import engines

            def loaded(payload):
                return payload in sys.modules

            if __name__ == "__main__":
                for ready in (False, True):
                    if ready:
                        engines.get_ready("wave")
                    with engines.Processes(loaded, 2) as engine:
                        for job in range(3):
                            engine.submit(job, "wave")
                        print([engine.wait().value for _ in range(3)])
            """
        )
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[False, False, False]", "[True, True, True]"]
