"""Real runs of schema 1: `finished` was closed, `killed` was killed after 13 of 30 scores, most of it still in its log."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from foresee.errors import RunError
from foresee.runs import CandidateRow, EventRow, Objective, ScoreRow, Store, read
from foresee.runs.schema import lay_out

FIXTURES = Path(__file__).parent / "schema1"
RUNS = ("finished", "killed")


@pytest.fixture(params=RUNS)
def folder(request, tmp_path):
    return Path(shutil.copytree(FIXTURES / request.param, tmp_path / request.param))


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def plainly(path: Path, scratch: Path) -> dict[str, list[tuple]]:
    """All tables, by sqlite3 alone; it is given a copy, since it folds the log into what it opens."""
    scratch.mkdir()
    for name in (path.name, f"{path.name}-wal"):
        if path.with_name(name).exists():
            shutil.copyfile(path.with_name(name), scratch / name)
    db = sqlite3.connect(scratch / path.name)
    tables = db.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
    found = {table: db.execute(f"SELECT * FROM {table}").fetchall() for (table,) in tables}
    found["version"] = db.execute("PRAGMA user_version").fetchall()
    db.close()
    return found


def expected(tables: dict[str, list[tuple]]) -> list[CandidateRow]:
    scores = {(row[0], row[1]): ScoreRow(*row[1:]) for row in tables["scores"]}
    made = []
    for row in tables["candidates"]:
        own = {proxy: score for (candidate, proxy), score in scores.items() if candidate == row[0]}
        sought = {"grad_norm": own["grad_norm"].value} if row[4] == "scored" else {}
        made.append(CandidateRow(*row[:7], json.loads(row[7]), *row[8:], sought, own))
    return made


def test_reading_shows_the_old_rows_and_changes_nothing(folder, tmp_path):
    before = files(folder)
    record = read(folder)
    assert files(folder) == before
    tables = plainly(folder / "run.sqlite", tmp_path / "plain")
    assert tables["version"] == [(1,)]
    assert list(record.candidates) == expected(tables)
    assert sum(row.status == "scored" for row in record.candidates) == (30 if folder.name == "finished" else 13)
    assert list(record.events) == [EventRow(*row[1:4], json.loads(row[4])) for row in tables["events"]]
    facts = {key: json.loads(value) for key, value in tables["run"]}
    assert (record.settings, record.environment) == (facts["settings"], facts["environment"])
    assert (record.status, record.created) == (facts["status"], facts["created"])
    assert record.objectives == (Objective("grad_norm", "higher"),)
    assert record.steps == ()
    assert record.front == (record.best,)


def test_what_is_only_read_cannot_be_written_to(folder):
    with Store.open(folder / "run.sqlite") as store, pytest.raises(RunError, match="cannot be opened for writing"):
        store.set("title", "mine")  # it would be lost with the memory it was written to


def test_writing_migrates_the_file_and_keeps_a_copy(folder, tmp_path):
    old = plainly(folder / "run.sqlite", tmp_path / "old")
    record = read(folder)
    with Store.open(folder / "run.sqlite", write=True) as store:
        assert store.record() == record
        store.add_candidate(30, architecture="new", identity="new", parent=3, counts={})
        store.add_step(0, kind="pool", outcome={}, seconds=0.0)
    kept = {"best.json"} if folder.name == "finished" else set()
    assert set(files(folder)) == {"run.schema1.sqlite", "run.sqlite", "settings.toml", *kept}
    assert plainly(folder / "run.schema1.sqlite", tmp_path / "copy") == old
    assert plainly(folder / "run.sqlite", tmp_path / "new")["version"] == [(2,)]
    assert read(folder).candidates[:-1] == record.candidates
    assert read(folder / "run.schema1.sqlite") == record
    before = files(folder)
    Store.open(folder / "run.sqlite", write=True).close()
    assert files(folder) == before


def test_a_copy_that_is_there_is_never_overwritten(folder):
    (folder / "run.schema1.sqlite").write_text("precious")
    Store.open(folder / "run.sqlite", write=True).close()
    assert (folder / "run.schema1.sqlite").read_text() == "precious"
    assert len(read(folder).candidates) in (20, 30)


def test_a_migrated_run_has_the_very_form_of_a_new_one(folder):
    Store.open(folder / "run.sqlite", write=True).close()
    migrated, new = sqlite3.connect(folder / "run.sqlite"), sqlite3.connect(":memory:", isolation_level=None)
    lay_out(new, {})
    forms = [set(db.execute("SELECT type, name, sql FROM sqlite_master")) for db in (migrated, new)]
    migrated.close()
    new.close()
    assert forms[0] == forms[1]


@pytest.mark.parametrize(
    ("settings", "change", "objectives", "measured"),
    [
        ({}, "", (), {}),
        ({"proxies": ["grad_norm"]}, "DELETE FROM scores", (Objective("grad_norm", "higher"),), {}),
        (
            {"proxies": ["grad-norm"]},
            "UPDATE scores SET direction='lower', value=1e999",
            (Objective("grad_norm", "lower"),),
            {"grad_norm": float("inf")},
        ),
        ({"proxies": ["grad_norm"]}, "UPDATE candidates SET status='failed'", (Objective("grad_norm", "higher"),), {}),
    ],
)
def test_objectives_are_found_in_settings_and_scores(tmp_path, settings, change, objectives, measured):
    shutil.copyfile(FIXTURES / "finished" / "run.sqlite", tmp_path / "run.sqlite")
    db = sqlite3.connect(tmp_path / "run.sqlite")
    db.execute("UPDATE run SET value=? WHERE key='settings'", (json.dumps(settings),))
    db.execute(change)
    db.commit()
    db.close()
    record = read(tmp_path)
    assert record.objectives == objectives
    assert record.candidates[0].objectives == measured


#: Forks a child for each moment at which a migration can be killed: at each statement, each page of the copy, each flush
#: and each renaming. Each child has a copy of the run of its own. Prints how many moments there are.
KILLER = """
    import os, shutil, signal, sqlite3, sys

    seen, limit = 0, 0

    def moment(*_):
        global seen
        seen += 1
        if seen == limit:
            os.kill(os.getpid(), signal.SIGKILL)

    class Watched(sqlite3.Connection):
        def backup(self, target):
            super().backup(target, pages=1, progress=moment)

    def connect(*args, real=sqlite3.connect, **more):
        made = real(*args, factory=Watched, **more)
        made.set_trace_callback(moment)
        return made

    def watched(real):
        def call(*args):
            moment()
            real(*args)
            moment()
        return call

    sqlite3.connect = connect
    os.replace, os.fsync = watched(os.replace), watched(os.fsync)
    from foresee.runs import Store

    while True:
        limit += 1
        folder = os.path.join(sys.argv[2], str(limit))
        shutil.copytree(sys.argv[1], folder)
        child = os.fork()
        if not child:
            store = Store.open(os.path.join(folder, "run.sqlite"), write=True)
            os._exit(0)
        _, how = os.waitpid(child, 0)
        if how != signal.SIGKILL:
            sys.exit(os.waitstatus_to_exitcode(how))
"""


@pytest.mark.parametrize("name", RUNS)
def test_killed_at_any_moment_of_a_migration_nothing_is_lost(name, tmp_path):
    record = read(FIXTURES / name)
    old = plainly(FIXTURES / name / "run.sqlite", tmp_path / "old")
    (tmp_path / "killed").mkdir()
    script = [sys.executable, "-c", textwrap.dedent(KILLER), str(FIXTURES / name), str(tmp_path / "killed")]
    subprocess.run(script, check=True, timeout=300)
    folders = sorted((tmp_path / "killed").iterdir(), key=lambda path: int(path.name))
    left = set()
    for folder in folders:
        [(version,)] = plainly(folder / "run.sqlite", folder / "plain")["version"]
        left.add((version, (folder / "run.schema1.sqlite").exists()))
        assert read(folder) == record, folder.name
        with Store.open(folder / "run.sqlite", write=True) as store:
            assert store.record() == record, folder.name
        assert read(folder) == record, folder.name
        assert plainly(folder / "run.schema1.sqlite", folder / "copy") == old, folder.name
        assert not (folder / "run.schema1.sqlite.new").exists(), folder.name
    assert left == {(1, False), (1, True), (2, True)}  # killed before the copy, after it, and after the transaction


def test_a_full_disk_in_a_migration_leaves_the_old_run(tmp_path, monkeypatch):
    folder = Path(shutil.copytree(FIXTURES / "finished", tmp_path / "run"))
    before = files(folder)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("foresee.runs.migrations.os.fsync", full)
    with pytest.raises(RunError, match="disk is full"):
        Store.open(folder / "run.sqlite", write=True)
    monkeypatch.undo()
    assert (folder / "run.sqlite").read_bytes() == before["run.sqlite"]
    assert len(read(folder).candidates) == 30
