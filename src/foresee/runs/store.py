"""The memory of a run: one SQLite file in WAL mode, one writer, a schema version.

Each method that writes is a transaction that waits for the disk, so a process killed at any moment leaves a file that holds
everything that was finished and nothing half done. Results that took no time to make (a count, say) come thousands a second:
they share a transaction with those of the next fifth of a second, and what a kill can cost is that much work. A file that
is not ours, newer than we are, or damaged is refused before anything is written to it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from foresee.errors import RunError
from foresee.runs.checking import check
from foresee.runs.migrations import keep_copy, migrate
from foresee.runs.opening import beside, in_memory, reading, translated, which, writing
from foresee.runs.reader import Reader
from foresee.runs.record import Objective, ScoreRow
from foresee.runs.schema import SCHEMA_VERSION, insert, lay_out, version
from foresee.runs.values import number, pack

#: a result that took fewer seconds than this to make may wait with others, for so many seconds, to be written
CHEAP, WAIT = 0.002, 0.2


class Store(Reader):
    """An open run file. Make one with `create` or `open`; close it, or use it in a `with` block."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        super().__init__(connection, path)
        self._file = which(path)
        #: since when a transaction that several share is open; None: there is none
        self._since: float | None = None

    # -- opening ----------------------------------------------------------------------------------------------------------
    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        kind: str,
        settings: Mapping[str, Any],
        environment: Mapping[str, Any],
        objectives: Iterable[Objective] = (),
    ) -> Store:
        """A new store. The file appears whole or not at all; one that is there already is never touched."""
        first = {
            "kind": kind,
            "status": "running",
            "created": time.time(),
            "settings": settings,
            "environment": environment,
            "objectives": [asdict(one) for one in objectives],
        }
        if str(path) == ":memory:":
            connection = sqlite3.connect(":memory:", isolation_level=None)
            lay_out(connection, first)
            return cls(connection, ":memory:")
        path = Path(path)
        if path.exists():
            raise RunError(f"{path} exists already")
        fresh = beside(path, ".new")
        with translated(path):
            fresh.unlink(missing_ok=True)
            connection = sqlite3.connect(fresh, isolation_level=None)
            lay_out(connection, first)
            connection.close()
            os.replace(fresh, path)
        return cls.open(path, write=True)

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False) -> Store:
        """An existing store, checked: ours, of a version we know, and whole.

        A run of an older schema is migrated: the file itself where it is opened for writing, with a copy of the old one
        kept beside it, and otherwise in memory only.
        """
        path = Path(path)
        with translated(path), ExitStack() as stack:
            found = stack.enter_context(closing(reading(path)))
            old = version(found) < SCHEMA_VERSION
            seen = stack.enter_context(closing(in_memory(found))) if old else found
            if old:
                migrate(seen, path)
            check(seen, path)
            seen.execute("PRAGMA query_only=ON")
            if not write:
                stack.pop_all()
                if old:
                    found.close()
                return cls(seen, str(path))
            cls(seen, str(path)).record()  # every value can be read: only then is anything written
            if old:
                keep_copy(found, path)
        with translated(path):
            connection = writing(path)
            try:
                if old:
                    migrate(connection, path)
            except BaseException:
                connection.close()
                raise
        return cls(connection, str(path))

    def close(self) -> None:
        """Close the file; a writer folds the write-ahead log back into it."""
        try:
            self.settle()
        finally:
            self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- writing ----------------------------------------------------------------------------------------------------------
    @contextmanager
    def _transaction(self, *, lasting: bool = True, waits: bool = False) -> Iterator[sqlite3.Connection]:
        """All or nothing. One that is not `lasting` waits for no disk: should the power fail, it is lost with what came
        after it, and never before what lasts; a killed process loses neither. One that `waits` is committed with those that
        follow it within `WAIT` seconds, or with the next that lasts.
        """
        with translated(self.path):
            if self._since is None:
                self._begin(lasting or waits)
            else:
                self._connection.execute("SAVEPOINT one")
            try:
                yield self._connection
                if self._since is not None:
                    self._connection.execute("RELEASE one")
            except BaseException:
                self._take_back()
                raise
            waits = waits or (self._since is not None and not lasting)
            if not waits:
                self._settle()
            elif self._since is None:
                self._since = time.monotonic()
            elif time.monotonic() - self._since >= WAIT:
                self._settle()

    def _begin(self, lasting: bool) -> None:
        if which(self.path) != self._file:  # SQLite would write to a file that nobody will ever find
            raise RunError(f"{self.path}: was deleted or replaced while the run went on; start a new run")
        self._connection.execute(f"PRAGMA synchronous={'FULL' if lasting else 'NORMAL'}")
        self._connection.execute("BEGIN IMMEDIATE")

    def _take_back(self) -> None:
        """Undo the last one; those that wait for their transaction are not to blame."""
        if not self._connection.in_transaction:  # SQLite has undone it all: the disk is full
            self._since = None
        elif self._since is None:
            self._connection.execute("ROLLBACK")
        else:
            self._connection.execute("ROLLBACK TO one")
            self._connection.execute("RELEASE one")

    def settle(self) -> None:
        """Write what waits to be written."""
        if self._since is not None:
            with translated(self.path):
                self._settle()

    def _settle(self) -> None:
        self._since = None
        try:
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def set(self, key: str, value: Any) -> None:
        """Set one fact about the run: its status, title, ..."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO run VALUES (?, ?)", (key, pack(value, key)))

    def keep(self, key: str, name: str, value: Any) -> None:
        """Add one value, by name, to those kept under a key; each is written once, however many there are."""
        self.set(f"{key}:{name}", value)

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
        """A candidate was proposed. Its parent is an earlier candidate of the run, or None."""
        packed = pack(counts, f"counts of candidate {candidate}")
        with self._transaction(lasting=False) as db:  # a resumed run would propose it again
            known = parent is None or db.execute("SELECT 1 FROM candidates WHERE id=?", (parent,)).fetchone()
            if not known or (parent is not None and parent >= candidate):
                raise RunError(
                    f"{self.path}: candidate {candidate} has the parent {parent}, which is not an earlier one"
                )
            row = (candidate, architecture, identity, parent, "asked", "", None, packed, 0, 0.0, time.time(), 0.0, "{}")
            insert(db, "candidates", row)

    def finish_candidate(
        self,
        candidate: int,
        *,
        status: str,
        reason: str = "",
        merit: float | None = None,
        attempts: int = 1,
        seconds: float = 0.0,
        objectives: Mapping[str, float] = MappingProxyType({}),
        scores: Iterable[ScoreRow] = (),
    ) -> None:
        """A candidate was scored, or failed; its objectives, its scores and its event are written with it.

        One that took less than `CHEAP` seconds may be written a moment later, with others.
        """
        what = f"candidate {candidate}"
        rows = [_score(s, candidate) for s in scores]
        fields = (status, reason, number(merit, f"merit of {what}"), attempts, seconds, time.time())
        with self._transaction(waits=seconds < CHEAP and not reason) as db:
            done = db.execute(
                "UPDATE candidates SET status=?, reason=?, merit=?, attempts=?, seconds=?, finished=?, objectives=?"
                " WHERE id=?",
                (*fields, pack(objectives, f"objectives of {what}"), candidate),
            )
            if not done.rowcount:
                raise RunError(f"{self.path}: {what} is not in this run")
            insert(db, "scores", *rows)
            _insert_event(db, status, candidate, {"reason": reason} if reason else {})

    def add_step(self, number: int, *, kind: str, outcome: Mapping[str, Any], seconds: float) -> None:
        """A step was done; its event is written with it. Steps are numbered 0, 1, 2, ... and come in this order."""
        packed = pack(outcome, f"outcome of step {number}")
        with self._transaction() as db:
            due = db.execute("SELECT coalesce(max(number) + 1, 0) FROM steps").fetchone()[0]
            if number != due:
                raise RunError(f"{self.path}: step {number} cannot be stored, the next one is {due}")
            insert(db, "steps", (number, kind, packed, seconds, time.time()))
            _insert_event(db, "step", None, {"number": number, "kind": kind})


def _score(row: ScoreRow, candidate: int) -> tuple[Any, ...]:
    """The row as a row of the table."""
    what = f"{row.proxy} of candidate {candidate}"
    number(row.value, f"value of {what}")
    number(row.spread, f"spread of {what}")
    fields = [getattr(row, name) for name in ScoreRow.__dataclass_fields__]
    return (candidate, *fields[:-1], pack(row.parts, f"parts of {what}"))


def _insert_event(db: sqlite3.Connection, kind: str, candidate: int | None, details: Mapping[str, Any]) -> None:
    db.execute(
        "INSERT INTO events (time, kind, candidate, details) VALUES (?, ?, ?, ?)",
        (time.time(), kind, candidate, pack(details, f"details of {kind}")),
    )
