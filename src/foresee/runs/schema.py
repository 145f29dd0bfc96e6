"""The form of a run file: its tables, and the two numbers in its header by which it is known.

Columns of measured numbers have no type: a `REAL` column would lose the sign of a negative zero.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from foresee.runs.values import pack

SCHEMA_VERSION = 2
APPLICATION_ID = 0x464F5253  # "FORS": tells our files from other programs' SQLite files

TABLES: Mapping[str, str] = {
    "run": "CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "candidates": """CREATE TABLE candidates (
  id INTEGER PRIMARY KEY, architecture TEXT NOT NULL, identity TEXT NOT NULL, parent INTEGER,
  status TEXT NOT NULL, reason TEXT NOT NULL, merit, counts TEXT NOT NULL, attempts INTEGER NOT NULL,
  seconds NOT NULL, started NOT NULL, finished NOT NULL, objectives TEXT NOT NULL)""",
    "scores": """CREATE TABLE scores (
  candidate INTEGER NOT NULL REFERENCES candidates(id), proxy TEXT NOT NULL, value, status TEXT NOT NULL,
  reason TEXT NOT NULL, direction TEXT NOT NULL, seconds NOT NULL, peak_bytes INTEGER NOT NULL, seed INTEGER NOT NULL,
  repeats INTEGER NOT NULL, spread, parts TEXT NOT NULL, PRIMARY KEY (candidate, proxy)) WITHOUT ROWID""",
    "steps": """CREATE TABLE steps (
  number INTEGER PRIMARY KEY, kind TEXT NOT NULL, outcome TEXT NOT NULL, seconds NOT NULL, time NOT NULL)""",
    "events": """CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, kind TEXT NOT NULL, candidate INTEGER, details TEXT NOT NULL)""",
}


def lay_out(connection: sqlite3.Connection, facts: Mapping[str, Any]) -> None:
    """Make an empty file a run that knows these facts about itself."""
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    connection.execute("BEGIN")
    for table in TABLES.values():
        connection.execute(table)
    insert(connection, "run", *((key, pack(value, key)) for key, value in facts.items()))
    connection.execute("COMMIT")


def insert(connection: sqlite3.Connection, table: str, *rows: tuple[Any, ...]) -> None:
    """Append whole rows, with values for all columns in their order."""
    for row in rows:
        connection.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)  # noqa: S608


def version(connection: sqlite3.Connection) -> int:
    """The schema version as the write-ahead log has it; the file's header may be behind."""
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found
