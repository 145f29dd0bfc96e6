# ruff: noqa: S608 (the names in these statements are those of our own tables)
"""A damaged run is a `RunError` in one line, or is read in the right types; reading changes no file.

Bytes of the store and of its log are damaged, and rows, cells and tables of it behind SQLite's back.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from foresee.report import render
from foresee.runs import Record, read
from foresee.searchers import run_search
from hostile import damage
from hostile.commands import foresee
from hostile.failures import ROOT
from hostile.promises import or_refused
from hostile.runs import SETTINGS, small_run

SECONDS = 120.0
STORES_PER_CASE = 3
#: runs of the first schema, one of them with the log of a killed writer
_OLD = [ROOT / "tests" / "runs" / "schema1" / name for name in ("finished", "killed")]


def case(rng: random.Random, folder: Path) -> None:
    """Some damaged copies of a run, read, reported and resumed."""
    sound = small_run(folder / "sound")
    for number in range(STORES_PER_CASE):
        source = rng.choice([sound, sound, *filter(Path.is_dir, _OLD)])
        damaged = folder / f"damaged{number}"
        shutil.copytree(source, damaged)
        damaged.joinpath("damage.txt").write_text(_hurt(rng, damaged), errors="backslashreplace")
        _read(damaged)
        if source == sound:
            _resume(rng, damaged)


def _read(folder: Path) -> None:
    before = _files(folder)
    with or_refused(folder.name):
        record = read(folder)
        _check(record)
        page = render(record, folder)
        assert page.lstrip().startswith("<!"), f"{folder.name}: the report is no page: {page[:100]!r}"
    after = _files(folder)
    changed = [name for name in before | after if before.get(name) != after.get(name)]
    assert not changed, f"{folder.name}: changed by reading: {changed}"


def _check(record: Record) -> None:
    """Everything is of the type that readers of a record count on."""
    assert record.status in ("running", "finished", "interrupted", "failed"), f"status {record.status!r}"
    ids = [one.id for one in record.candidates]
    assert ids == sorted(set(ids)), f"ids {ids}"
    for one in record.candidates:
        assert one.status in ("asked", "scored", "failed"), f"candidate {one.id}: status {one.status!r}"
        assert isinstance(one.architecture, str), f"candidate {one.id}: architecture {one.architecture!r}"
        assert isinstance(one.reason, str), f"candidate {one.id}: reason {one.reason!r}"
        assert one.merit is None or _is_number(one.merit), f"candidate {one.id}: merit {one.merit!r}"
        assert (one.merit is not None) == (one.status == "scored"), f"candidate {one.id}: {one.status}, {one.merit!r}"
        assert all(map(_is_number, one.counts.values())), f"candidate {one.id}: counts {one.counts!r}"
        for score in one.scores.values():
            fine = score.value is None or _is_number(score.value)
            assert fine, f"candidate {one.id}: {score.proxy} is {score.value!r}"
            assert (score.status == "ok") == (score.value is not None), f"candidate {one.id}: {score}"


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and value == value


def _resume(rng: random.Random, folder: Path) -> None:
    """It goes on, or is refused in a line, in Python and on the command line."""
    if rng.random() < 0.5:
        foresee(["report", str(folder)], folder.parent, patience=20).check((0, 2))
        return
    with or_refused(f"resuming {folder.name}"):
        run_search(SETTINGS, out=folder, resume=True)


def _files(folder: Path) -> dict[str, str]:
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in folder.iterdir() if one.name[0] != "."}


# -- damage ---------------------------------------------------------------------------------------------------------------
def _hurt(rng: random.Random, folder: Path) -> str:
    """Do something to the run; what was done, in words."""
    store = folder / "run.sqlite"
    log = folder / "run.sqlite-wal"
    draw = rng.random()
    if draw < 0.35 or (log.exists() and draw < 0.7):
        victim = rng.choice([store, log]) if log.exists() else store
        victim.write_bytes(damage.content(rng, victim.read_bytes()))
        return f"bytes of {victim.name}"
    if draw < 0.4:
        other = rng.choice([b"", b"x" * 200, rng.randbytes(5000), b"SQLite format 3\0" + rng.randbytes(8000)])
        store.write_bytes(other)
        return "another file"
    return _hurt_rows(rng, store)


def _hurt_rows(rng: random.Random, store: Path) -> str:
    done: list[str] = []
    with closing(sqlite3.connect(store, isolation_level=None)) as db:
        for _ in range(rng.choice([1, 1, 2, 4])):
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name")]
            ours = [one for one in tables if not one.startswith("sqlite_")]
            if not ours:
                break
            statement, values = _statement(rng, db, rng.choice(ours))
            done.append(f"{statement} {values!a}")
            try:
                db.execute(statement, values)
            except (sqlite3.Error, OverflowError, UnicodeEncodeError) as error:
                done.append(f"refused by SQLite: {error}")
    return "\n".join(done)


def _statement(rng: random.Random, db: sqlite3.Connection, table: str) -> tuple[str, tuple[Any, ...]]:
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    column, many = rng.choice(columns), db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    one = f"(SELECT {columns[0]} FROM {table} LIMIT 1 OFFSET {rng.randrange(max(1, many))})"
    return rng.choice(
        [
            (f"UPDATE {table} SET {column}=? WHERE {columns[0]}={one}", (_cell(rng),)),
            (f"UPDATE {table} SET {column}=? WHERE {columns[0]}={one}", (_cell(rng),)),
            (f"UPDATE {table} SET {column}=? WHERE {columns[0]}={one}", (_cell(rng),)),
            (f"UPDATE {table} SET {column}=?", (_cell(rng),)),
            (f"DELETE FROM {table} WHERE {columns[0]}={one}", ()),
            (f"DELETE FROM {table}", ()),
            (f"DROP TABLE {table}", ()),
            (f"ALTER TABLE {table} RENAME COLUMN {column} TO another", ()),
            (f"ALTER TABLE {table} ADD COLUMN more", ()),
            (f"PRAGMA user_version={rng.choice([0, 1, 2, 3, 99, -1])}", ()),
            (f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1", ()),
        ]
    )


def _cell(rng: random.Random) -> Any:
    """What a cell may hold that nobody of ours wrote."""
    return rng.choice(
        [
            None, 0, -1, 7, 2**62, 1.5, float("inf"), -1.7e308, "", "x", "[]", "{}", "null", "nan", '{"a": null}',
            '{"params": "many"}', "[" * 5000, '{"params": NaN}', '{"params": 1e999}', b"\xff\x00\xfe", "scored", "failed",
            "asked", "ok", '"text"', "9" * 5000, damage.word(rng),
        ]
    )  # fmt: skip
