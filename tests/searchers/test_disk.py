"""The disk fails, or the store goes away, while a search is running: one line, and what was scored before is kept."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from subprocess import PIPE

import pytest
from tests.searchers.test_search import essence, go

from foresee.errors import RunError
from foresee.runs import RunFolder, Store, read

# A file cannot grow beyond a limit: as on a full disk, at a place that can be chosen to the byte.
FULL = """
import resource, sys
from tests.searchers.test_search import go
from foresee.errors import ForeseeError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    go(sys.argv[1], resume=True)
except ForeseeError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_room(tmp_path):
    whole = go()
    for room in (100, 5_000, 45_000, 90_000):
        out = tmp_path / f"r{room}"
        done = subprocess.run([sys.executable, "-c", FULL, out, f"{room}"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr[-2000:]
        [said] = done.stdout.splitlines()
        assert "cannot be written" in said, said
        assert essence(go(out, resume=True).record) == essence(whole.record), f"room for {room} bytes"


class Failing:
    """A connection on which everything that writes fails from some call on."""

    def __init__(self, connection, calls, message):
        self.connection, self.calls, self.message = connection, calls, message

    def execute(self, statement, *values):
        if statement.startswith(("INSERT", "UPDATE", "COMMIT")):
            self.calls -= 1
            if self.calls < 0:
                raise sqlite3.OperationalError(self.message)
        return self.connection.execute(statement, *values)

    def __getattr__(self, name):
        return getattr(self.connection, name)


@pytest.mark.parametrize("calls", [0, 1, 2, 7, 30])
@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("attempt to write a readonly database", "check the folder's permissions"),
        ("disk I/O error", "the disk is full or failing; what was scored before is kept"),
        ("database or disk is full", "the disk is full or failing; what was scored before is kept"),
    ],
)
def test_a_disk_that_fails_in_the_middle(tmp_path, monkeypatch, calls, message, said):
    whole = go()
    plain = Store.open.__func__

    def opened(cls, path, *, write=False):
        store = plain(cls, path, write=write)
        if write:
            store._connection = Failing(store._connection, calls, message)
        return store

    with monkeypatch.context() as patch:
        patch.setattr(Store, "open", classmethod(opened))
        with pytest.raises(RunError, match=said):
            go(tmp_path / "r", resume=True)
    read(tmp_path / "r")
    assert essence(go(tmp_path / "r", resume=True).record) == essence(whole.record)


@pytest.mark.parametrize("way", ["deleted", "replaced", "its folder deleted", "its folder moved"])
def test_a_store_that_goes_away_is_noticed_at_once(tmp_path, way):
    folder, done = tmp_path / "r", []

    def meddle(event):
        if event.kind == "scored":
            done.append(event.candidate)
        if event.kind != "scored" or event.done != 3:
            return
        store = folder / "run.sqlite"
        if way == "deleted":
            store.unlink()
        elif way == "replaced":
            os.replace(shutil.copy(store, folder / "copy"), store)
        elif way == "its folder deleted":
            shutil.rmtree(folder)
        else:
            folder.rename(tmp_path / "elsewhere")

    with pytest.raises(RunError, match=r"run\.sqlite: was deleted or replaced while the run went on"):
        go(folder, observers=[meddle])
    assert done == [0, 1, 2]


TWO = """
import sys
from tests.searchers.test_search import go
from foresee.errors import ForeseeError
print("ready", flush=True)
sys.stdin.readline()
try:
    go(sys.argv[1], resume=True)
    print("finished")
except ForeseeError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("begun", [False, True])
def test_two_that_resume_at_once(tmp_path, begun):
    """One does the work, or both do, one after the other; the run is as if there had been one."""
    if begun:

        def interrupt(event):
            if event.kind == "scored" and event.done >= 4:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            go(tmp_path / "r", observers=[interrupt])
    both = [
        subprocess.Popen([sys.executable, "-c", TWO, tmp_path / "r"], stdin=PIPE, stdout=PIPE, text=True)
        for _ in range(2)
    ]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    for one in both:
        one.stdin.write("\n")
        one.stdin.flush()
    said = [one.communicate(timeout=120)[0].strip() for one in both]
    assert "finished" in said
    assert all(one == "finished" or "another process is at work in this folder" in one for one in said), said
    assert essence(read(tmp_path / "r")) == essence(go().record)


def test_a_run_that_another_holds_is_not_touched(tmp_path):
    go(tmp_path / "r")
    before = (tmp_path / "r" / "run.sqlite").read_bytes()
    held = RunFolder(tmp_path / "r")
    held.hold()
    try:
        with pytest.raises(RunError, match="another process is at work"):
            go(tmp_path / "r", resume=True)
    finally:
        held.release()
    assert (tmp_path / "r" / "run.sqlite").read_bytes() == before
