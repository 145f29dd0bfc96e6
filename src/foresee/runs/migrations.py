"""Old runs in the form of today.

A run that is to be written to is copied first (`run.schema1.sqlite` beside `run.sqlite`, complete before anything is changed)
and then changed in one transaction: killed at any moment, it is either the old run or the new one. A run that is only read
is changed in memory, and its folder not at all.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path

from foresee.registry import tidy
from foresee.runs.checking import damaged
from foresee.runs.opening import beside
from foresee.runs.schema import SCHEMA_VERSION, TABLES, insert, version
from foresee.runs.values import pack, unpack


def migrate(connection: sqlite3.Connection, path: str | Path) -> None:
    """Bring an old run to the schema of today, in one transaction; one that makes no sense is refused."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for old in range(version(connection), SCHEMA_VERSION):
            STEPS[old](connection)
            connection.execute(f"PRAGMA user_version={old + 1}")
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, ValueError | TypeError | AttributeError | LookupError):
            raise damaged(path, f"its settings cannot be read ({error})") from error
        raise


def keep_copy(source: sqlite3.Connection, path: Path) -> Path:
    """What `source` sees of the run at `path`, its write-ahead log included, in a file beside it.

    The file appears whole or not at all. One that is there already is left alone.
    """
    kept = path.with_name(f"{path.stem}.schema{version(source)}{path.suffix}")
    if kept.exists():
        return kept
    fresh = beside(kept, ".new")
    fresh.unlink(missing_ok=True)  # of a process that was killed in the middle of this
    with closing(sqlite3.connect(fresh, isolation_level=None)) as copy:
        copy.execute("PRAGMA journal_mode=OFF")  # a half-made copy is thrown away, never rolled back
        source.backup(copy)
    _flush(fresh)
    os.replace(fresh, kept)
    with suppress(OSError):  # not every system lets a folder be flushed
        _flush(kept.parent)
    return kept


def _flush(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _to_2(db: sqlite3.Connection) -> None:
    """Scores get repeats, spreads and parts, candidates their objectives, and there are steps.

    A schema-1 run sought what the first of its proxies says. (These tables are those of schema 2: when there is a third,
    this function keeps the second's.)
    """
    for table in ("candidates", "scores"):
        db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    for table in ("candidates", "scores", "steps"):
        db.execute(TABLES[table])
    settings = db.execute("SELECT value FROM run WHERE key='settings'").fetchone()
    proxies = unpack(settings[0]).get("proxies", []) if settings else []
    values: dict[int, float] = {}
    if proxies:
        name = tidy(proxies[0])
        found = db.execute("SELECT direction FROM old_scores WHERE proxy=? LIMIT 1", (name,)).fetchone()
        objective = {"name": name, "direction": found[0] if found else "higher"}
        values = dict(db.execute("SELECT candidate, value FROM old_scores WHERE proxy=? AND value NOT NULL", (name,)))
    facts = [objective] if proxies else []
    db.execute("INSERT OR REPLACE INTO run VALUES ('objectives', ?)", (pack(facts, "objectives"),))
    for row in db.execute("SELECT * FROM old_candidates").fetchall():
        number, status = row[0], row[4]
        measured = {name: values[number]} if status == "scored" and number in values else {}
        insert(db, "candidates", (*row, pack(measured, "objectives")))
    db.execute("INSERT INTO scores SELECT *, 1, NULL, '{}' FROM old_scores")
    for table in ("scores", "candidates"):
        db.execute(f"DROP TABLE old_{table}")


#: from this schema to the next
STEPS: Mapping[int, Callable[[sqlite3.Connection], None]] = {1: _to_2}
