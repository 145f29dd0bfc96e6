from __future__ import annotations

import os
import shutil
import sqlite3

import pytest

from foresee.errors import RunError
from foresee.runs import RunFolder, ScoreRow, Store, read

SETTINGS = {"space": "nasbench201", "seed": 1}


def make(path, finished=2):
    store = Store.create(path, kind="search", settings=SETTINGS, environment={"torch": "x"})
    for candidate in range(3):
        store.add_candidate(
            candidate, architecture=f"a{candidate}", identity=f"i{candidate}", parent=None, counts={"params": 7}
        )
    for candidate in range(finished):
        score = ScoreRow("dextr", 1.5 + candidate, "ok", "", "higher", 0.1, 5, 1)
        store.finish_candidate(candidate, status="scored", merit=1.5 + candidate, seconds=0.1, scores=[score])
    return store


def test_what_is_written_is_read_back(tmp_path):
    make(tmp_path / "run.sqlite").close()
    record = read(tmp_path)
    assert [row.status for row in record.candidates] == ["scored", "scored", "asked"]
    assert record.best.id == 1
    assert record.best.scores["dextr"].value == 2.5
    assert record.settings == SETTINGS
    assert record.candidates[0].counts == {"params": 7}
    assert [event.kind for event in record.events] == ["scored", "scored"]


def test_a_tie_goes_to_the_earlier_candidate():
    with Store.create(":memory:", kind="search", settings={}, environment={}) as store:
        for candidate in (0, 1):
            store.add_candidate(candidate, architecture="a", identity=str(candidate), parent=None, counts={})
            store.finish_candidate(candidate, status="scored", merit=1.0)
        assert store.record().best.id == 0


def test_an_existing_file_is_never_touched(tmp_path):
    path = tmp_path / "run.sqlite"
    path.write_text("precious")
    with pytest.raises(RunError, match="exists"):
        Store.create(path, kind="search", settings={}, environment={})
    assert path.read_text() == "precious"


def spoil(path, offset, value):
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(value)


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda p: p.write_bytes(b""), "not an SQLite file"),
        (lambda p: p.write_text("hello " * 100), "not an SQLite file"),
        (lambda p: p.write_bytes(p.read_bytes()[:5000]), "truncated"),
        (lambda p: p.write_bytes(p.read_bytes()[:8192]), "truncated"),
        (lambda p: spoil(p, 60, (99).to_bytes(4, "big")), "newer foresee"),
        (lambda p: spoil(p, 68, b"\0\0\0\0"), "another program"),
    ],
)
def test_foreign_newer_and_truncated_files_are_refused_untouched(tmp_path, damage, message, write):
    path = tmp_path / "run.sqlite"
    make(path).close()
    damage(path)
    before = path.read_bytes()
    with pytest.raises(RunError, match=message):
        Store.open(path, write=write)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["run.sqlite"]


def test_garbage_inside_is_reported(tmp_path):
    path = tmp_path / "run.sqlite"
    make(path).close()
    size = path.stat().st_size
    spoil(path, 4096, os.urandom(size - 4096))
    with pytest.raises(RunError, match=r"damaged|malformed|run\.sqlite"):
        Store.open(path)


def test_another_programs_database_is_left_alone(tmp_path):
    path = tmp_path / "run.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE t (x)")
    other.commit()
    other.close()
    with pytest.raises(RunError, match="another program"):
        read(tmp_path)


def test_a_reader_sees_a_run_that_is_being_written(tmp_path):
    store = make(tmp_path / "run.sqlite")
    assert len(read(tmp_path).candidates) == 3
    store.finish_candidate(2, status="failed", reason="why")
    assert read(tmp_path).candidates[2].reason == "why"
    store.close()


def test_nothing_is_lost_without_closing(tmp_path):
    """What a kill leaves behind: the file and its log, copied while the writer is open."""
    (tmp_path / "live").mkdir()
    store = make(tmp_path / "live" / "run.sqlite")
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    assert read(tmp_path / "killed").candidates == store.candidates()
    store.close()


def test_a_full_disk_is_said_in_one_line(tmp_path):
    store = make(tmp_path / "run.sqlite")
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count={pages}")

    def fill():
        for candidate in range(3, 5000):
            store.add_candidate(candidate, architecture="a" * 100, identity=str(candidate), parent=None, counts={})

    with pytest.raises(RunError, match="disk is full"):
        fill()
    kept = len(store.candidates())
    assert kept >= 3
    store.close()
    assert len(read(tmp_path).candidates) == kept


def test_one_writer_at_a_time(tmp_path):
    first, second = RunFolder(tmp_path / "r"), RunFolder(tmp_path / "r")
    first.hold()
    with pytest.raises(RunError, match="another process"):
        second.hold()
    first.release()
    second.hold()
    second.release()
    assert os.listdir(tmp_path / "r") == []


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be used"):
        RunFolder(tmp_path / "file" / "run").hold()


def test_no_run_here(tmp_path):
    with pytest.raises(RunError, match="no run here"):
        read(tmp_path)
