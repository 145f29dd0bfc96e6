"""The memory of a run: one SQLite file in WAL mode, one writer, a schema version.

Each method that writes is one transaction, so a process killed at any moment leaves a file that holds everything that was
finished and nothing half done. A file that is not ours, newer than we are, or damaged is refused before anything is
written to it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foresee.errors import RunError
from foresee.runs.record import CandidateRow, EventRow, Record, ScoreRow

SCHEMA_VERSION = 1
APPLICATION_ID = 0x464F5253  # "FORS": tells our files from other programs' SQLite files

_SCHEMA = """
CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE candidates (
  id INTEGER PRIMARY KEY, architecture TEXT NOT NULL, identity TEXT NOT NULL, parent INTEGER,
  status TEXT NOT NULL, reason TEXT NOT NULL, merit REAL, counts TEXT NOT NULL, attempts INTEGER NOT NULL,
  seconds REAL NOT NULL, started REAL NOT NULL, finished REAL NOT NULL);
CREATE TABLE scores (
  candidate INTEGER NOT NULL REFERENCES candidates(id), proxy TEXT NOT NULL, value REAL, status TEXT NOT NULL,
  reason TEXT NOT NULL, direction TEXT NOT NULL, seconds REAL NOT NULL, peak_bytes INTEGER NOT NULL, seed INTEGER NOT NULL,
  PRIMARY KEY (candidate, proxy)) WITHOUT ROWID;
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, kind TEXT NOT NULL, candidate INTEGER, details TEXT NOT NULL);
"""


class Store:
    """An open run file. Make one with `create` or `open`; close it, or use it in a `with` block."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection, self.path = connection, path

    # -- opening ----------------------------------------------------------------------------------------------------------
    @classmethod
    def create(
        cls, path: str | Path, *, kind: str, settings: Mapping[str, Any], environment: Mapping[str, Any]
    ) -> Store:
        """A new store. The file appears whole or not at all; one that is there already is never touched."""
        first = {
            "kind": kind,
            "status": "running",
            "created": time.time(),
            "settings": settings,
            "environment": environment,
        }
        if str(path) == ":memory:":
            connection = sqlite3.connect(":memory:", isolation_level=None)
            _lay_out(connection, first)
            return cls(connection, ":memory:")
        path = Path(path)
        if path.exists():
            raise RunError(f"{path} exists already")
        fresh = path.with_name(path.name + ".new")
        with _translated(path):
            fresh.unlink(missing_ok=True)
            connection = sqlite3.connect(fresh, isolation_level=None)
            _lay_out(connection, first)
            connection.close()
            os.replace(fresh, path)
        return cls.open(path, write=True)

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False) -> Store:
        """An existing store, checked: ours, of a version we know, and whole."""
        path = Path(path)
        _check_header(path)
        with _translated(path):
            # Without a write-ahead log nobody is writing; read then so that no side files are left beside the store.
            quiet = not write and not path.with_name(path.name + "-wal").exists()
            mode = "rw" if write else "ro&immutable=1" if quiet else "ro"
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=30
            )
            try:
                if write:
                    connection.execute("PRAGMA journal_mode=WAL")
                    connection.execute("PRAGMA synchronous=FULL")
                verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if verdict != "ok":
                    raise RunError(f"{path} is damaged ({verdict}); restore it from a copy or start a new run")
            except BaseException:
                connection.close()
                raise
        return cls(connection, str(path))

    def close(self) -> None:
        """Close the file; a writer folds the write-ahead log back into it."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- writing ----------------------------------------------------------------------------------------------------------
    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with _translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def set(self, key: str, value: Any) -> None:
        """Set one fact about the run: its status, title, ..."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO run VALUES (?, ?)", (key, json.dumps(value)))

    def log(self, kind: str, candidate: int | None = None, **details: Any) -> None:
        """Append an event."""
        with self._transaction() as db:
            _insert_event(db, kind, candidate, details)

    def add_candidate(
        self,
        candidate: int,
        *,
        architecture: str,
        identity: str,
        parent: int | None,
        counts: Mapping[str, float],
    ) -> None:
        """A candidate was proposed."""
        with self._transaction() as db:
            row = (
                candidate,
                architecture,
                identity,
                parent,
                "asked",
                "",
                None,
                json.dumps(dict(counts)),
                0,
                0.0,
                time.time(),
                0.0,
            )
            db.execute(f"INSERT INTO candidates VALUES ({','.join('?' * len(row))})", row)  # noqa: S608

    def finish_candidate(
        self,
        candidate: int,
        *,
        status: str,
        reason: str = "",
        merit: float | None = None,
        attempts: int = 1,
        seconds: float = 0.0,
        scores: Iterable[ScoreRow] = (),
    ) -> None:
        """A candidate was scored, or failed; its scores and its event are written with it."""
        with self._transaction() as db:
            db.execute(
                "UPDATE candidates SET status=?, reason=?, merit=?, attempts=?, seconds=?, finished=? WHERE id=?",
                (status, reason, merit, attempts, seconds, time.time(), candidate),
            )
            for s in scores:
                row = (
                    candidate,
                    s.proxy,
                    s.value,
                    s.status,
                    s.reason,
                    s.direction,
                    s.seconds,
                    s.peak_bytes,
                    s.seed,
                )
                db.execute(f"INSERT INTO scores VALUES ({','.join('?' * len(row))})", row)  # noqa: S608
            _insert_event(db, status, candidate, {"reason": reason} if reason else {})

    # -- reading ----------------------------------------------------------------------------------------------------------
    def get(self, key: str, default: Any = None) -> Any:
        """One fact about the run."""
        with _translated(self.path):
            row = self._connection.execute("SELECT value FROM run WHERE key=?", (key,)).fetchone()
        return default if row is None else json.loads(row[0])

    def candidates(self) -> tuple[CandidateRow, ...]:
        """All candidates with their scores, in order of id."""
        with _translated(self.path):
            scores: dict[int, dict[str, ScoreRow]] = {}
            for candidate, *fields in self._connection.execute("SELECT * FROM scores"):
                scores.setdefault(candidate, {})[fields[0]] = ScoreRow(*fields)
            rows = self._connection.execute("SELECT * FROM candidates ORDER BY id").fetchall()
        names = [*CandidateRow.__dataclass_fields__][:-1]
        made = []
        for row in rows:
            fields = dict(zip(names, row, strict=True))
            fields["counts"] = json.loads(fields["counts"])
            made.append(CandidateRow(**fields, scores=scores.get(fields["id"], {})))
        return tuple(made)

    def events(self) -> tuple[EventRow, ...]:
        """All events in order."""
        with _translated(self.path):
            rows = self._connection.execute("SELECT time, kind, candidate, details FROM events ORDER BY id").fetchall()
        return tuple(EventRow(when, kind, candidate, json.loads(details)) for when, kind, candidate, details in rows)

    def record(self) -> Record:
        """The whole run as plain values."""
        return Record(
            kind=self.get("kind", "search"),
            status=self.get("status", "running"),
            created=self.get("created", 0.0),
            settings=self.get("settings", {}),
            environment=self.get("environment", {}),
            candidates=self.candidates(),
            events=self.events(),
            title=self.get("title", ""),
        )


def _lay_out(connection: sqlite3.Connection, facts: Mapping[str, Any]) -> None:
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    connection.executescript(_SCHEMA)
    connection.executemany("INSERT INTO run VALUES (?, ?)", [(key, json.dumps(value)) for key, value in facts.items()])


def _insert_event(db: sqlite3.Connection, kind: str, candidate: int | None, details: Mapping[str, Any]) -> None:
    db.execute(
        "INSERT INTO events (time, kind, candidate, details) VALUES (?, ?, ?, ?)",
        (time.time(), kind, candidate, json.dumps(dict(details))),
    )


def _check_header(path: Path) -> None:
    """Refuse by the first 100 bytes, before SQLite itself opens (and perhaps touches) the file."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
        size = path.stat().st_size
    except OSError as error:
        raise RunError(f"{path}: {error.strerror or error}") from error
    if len(header) < 100 or not header.startswith(b"SQLite format 3\x00"):
        raise RunError(f"{path} is not a run of foresee: not an SQLite file (damaged, or another program's)")
    number = int.from_bytes
    if number(header[68:72], "big") != APPLICATION_ID:
        raise RunError(f"{path} is an SQLite file of another program, not a run of foresee")
    version = number(header[60:64], "big")
    if version != SCHEMA_VERSION:
        hint = "it was made by a newer foresee: upgrade" if version > SCHEMA_VERSION else "it is from an older foresee"
        raise RunError(f"{path} has schema version {version}, this foresee reads {SCHEMA_VERSION}; {hint}")
    page = number(header[16:18], "big")
    page = 65536 if page == 1 else page
    pages = number(header[28:32], "big")
    log = path.with_name(path.name + "-wal")
    whole = size % page == 0 and (size >= pages * page or (log.exists() and log.stat().st_size > 0))
    if not whole:
        raise RunError(
            f"{path} is truncated ({size} bytes, {pages * page} expected); restore it from a copy or start a new run"
        )


@contextmanager
def _translated(path: str | Path) -> Iterator[None]:
    """SQLite's and the system's errors as ours, in words that say what to do."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        text = str(error)
        if "disk is full" in text or "No space left" in text or "disk I/O" in text:
            raise RunError(
                f"{path}: cannot be written, the disk is full or failing; what was scored before is kept"
            ) from error
        if "readonly" in text or "unable to open" in text or isinstance(error, PermissionError):
            raise RunError(f"{path}: cannot be opened for writing; check the folder's permissions") from error
        if "locked" in text:
            raise RunError(f"{path}: another process is writing to this run") from error
        raise RunError(f"{path}: {text}") from error
