from __future__ import annotations

import math
import os
import shutil
import sqlite3
from dataclasses import replace

import pytest

from foresee.errors import RunError
from foresee.runs import Objective, RunFolder, ScoreRow, Store, read

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


def test_everything_comes_back_as_it_was(tmp_path):
    objectives = (Objective("dextr", "higher"), Objective("latency", "lower"))
    store = Store.create(tmp_path / "run.sqlite", kind="search", settings={}, environment={}, objectives=objectives)
    store.add_candidate(0, architecture="a", identity="a", parent=None, counts={})
    store.add_candidate(1, architecture="b", identity="b", parent=0, counts={})
    score = ScoreRow("dextr", -0.0, "ok", "", "higher", 0.1, 5, 1, 3, 0.25, {"curvature": math.nan, "distance": 0.1})
    store.finish_candidate(
        0, status="scored", merit=-0.0, scores=[score], objectives={"dextr": -0.0, "latency": math.inf}
    )
    store.add_step(0, kind="epoch", outcome={"alpha": [[0.1, math.nan], [-math.inf, -0.0]]}, seconds=0.5)
    store.add_step(1, kind="epoch", outcome={}, seconds=0.25)
    store.close()
    record = read(tmp_path)
    assert record.objectives == objectives
    [first, second] = record.candidates
    assert repr(first.scores["dextr"]) == repr(score)
    assert repr((first.merit, first.objectives)) == "(-0.0, {'dextr': -0.0, 'latency': inf})"
    assert (second.parent, second.objectives, second.scores) == (0, {}, {})
    assert [(step.number, step.kind, repr(step.outcome), step.seconds) for step in record.steps] == [
        (0, "epoch", "{'alpha': [[0.1, nan], [-inf, -0.0]]}", 0.5),
        (1, "epoch", "{}", 0.25),
    ]
    assert [(event.kind, event.details) for event in record.events] == [
        ("scored", {}),
        ("step", {"number": 0, "kind": "epoch"}),
        ("step", {"number": 1, "kind": "epoch"}),
    ]
    assert record.events[1].time >= record.steps[0].time > record.created


@pytest.mark.parametrize("number", [-1, 0, 2])
def test_steps_come_in_order(tmp_path, number):
    with make(tmp_path / "run.sqlite") as store:
        store.add_step(0, kind="epoch", outcome={}, seconds=0.0)
        before = store.record()
        with pytest.raises(RunError, match=f"step {number} cannot be stored, the next one is 1"):
            store.add_step(number, kind="epoch", outcome={}, seconds=0.0)
        assert store.record() == before


@pytest.mark.parametrize("parent", [3, 4, 77, -1])
def test_a_parent_that_is_no_earlier_candidate_is_refused(tmp_path, parent):
    with make(tmp_path / "run.sqlite") as store:
        store.add_candidate(4, architecture="a", identity="4", parent=2, counts={})
        before = store.record()
        with pytest.raises(RunError, match=f"candidate 3 has the parent {parent}, which is not an earlier one"):
            store.add_candidate(3, architecture="a", identity="3", parent=parent, counts={})
        assert store.record() == before


SCORE = ScoreRow("dextr", 1.0, "ok", "", "higher", 0.1, 5, 1)


@pytest.mark.parametrize(
    ("candidate", "more", "message"),
    [
        (7, {}, "candidate 7 is not in this run"),
        (2, {"merit": math.nan}, "merit of candidate 2: NaN"),
        (2, {"scores": [replace(SCORE, value=math.nan)]}, "value of dextr of candidate 2: NaN"),
        (2, {"scores": [replace(SCORE, spread=math.nan)]}, "spread of dextr of candidate 2: NaN"),
        (2, {"scores": [replace(SCORE, seed=2**63)]}, "too large"),
        (2, {"scores": [replace(SCORE, parts={"a": object()})]}, "parts of dextr of candidate 2: cannot be stored"),
        (2, {"scores": [SCORE, SCORE]}, "UNIQUE"),
        (2, {"objectives": {1: 1.0}}, "objectives of candidate 2: key 1"),
        (2, {"reason": "\ud800"}, "surrogates not allowed"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_nothing_of_it_is_stored(tmp_path, candidate, more, message):
    with make(tmp_path / "run.sqlite") as store:
        before = store.record()
        with pytest.raises(RunError, match=message):
            store.finish_candidate(candidate, status="scored", **more)
        assert store.record() == before


# -- cheap results ------------------------------------------------------------------------------------------------------
def cheap(store, number, seconds=0.0, status="scored"):
    store.add_candidate(number, architecture=f"a{number}", identity=f"i{number}", parent=None, counts={})
    store.finish_candidate(number, status=status, merit=1.0, seconds=seconds)


def there(path):
    """What somebody else sees of it."""
    with Store.open(path) as other:
        return [row.id for row in other.candidates() if row.status == "scored"]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "run.sqlite"
    with Store.create(path, kind="search", settings={}, environment={}) as store:
        yield store, path


def test_cheap_results_are_written_together_and_dear_ones_at_once(file, monkeypatch):
    store, path = file
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    cheap(store, 0)
    cheap(store, 1)
    assert there(path) == []
    assert [row.id for row in store.candidates()] == [0, 1]  # the writer itself sees them
    cheap(store, 2, seconds=1.0)
    assert there(path) == [0, 1, 2]


def test_cheap_results_do_not_wait_for_long(file, monkeypatch):
    store, path = file
    now = iter([0.0, 0.1, 0.1, 0.3, 0.3, 0.3])
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    cheap(store, 0)  # opens it
    cheap(store, 1)
    assert there(path) == []
    cheap(store, 2)
    assert there(path) == [0, 1]


@pytest.mark.parametrize("what", ["set", "log", "record", "settle", "close"])
def test_whatever_comes_after_cheap_results_writes_them(file, monkeypatch, what):
    store, path = file
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    cheap(store, 0)
    {
        "set": lambda: store.set("status", "finished"),
        "log": lambda: store.log("noted"),
        "record": store.record,
        "settle": store.settle,
        "close": store.close,
    }[what]()
    assert there(path) == [0]


def test_a_call_that_is_refused_takes_no_cheap_result_with_it(file, monkeypatch):
    store, path = file
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    cheap(store, 0)
    with pytest.raises(RunError, match="not in this run"):
        store.finish_candidate(9, status="scored", merit=1.0)
    with pytest.raises(RunError, match="not in this run"):
        store.finish_candidate(9, status="scored", merit=1.0, seconds=5.0)
    cheap(store, 1)
    store.settle()
    assert there(path) == [0, 1]


def test_some_candidates_and_the_best(file):
    store, _ = file
    for number, merit in enumerate([3.0, 5.0, None, 5.0]):
        store.add_candidate(number, architecture="a", identity="i", parent=None, counts={})
        if merit is not None:
            store.finish_candidate(number, status="scored", merit=merit)
    assert [row.id for row in store.candidates(1, 3)] == [1, 2]
    assert [row.id for row in store.best(2)] == [1, 3] == [row.id for row in store.record().scored[:2]]
    assert store.numbers() == (3, 3)
    store.log("noted", 1, of="this")
    assert [event.details for event in store.events("noted")] == [{"of": "this"}]
