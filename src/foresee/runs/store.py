"""The memory of a run: one SQLite file in WAL mode, one writer, a schema version.

Each method that writes is one transaction, so a process killed at any moment leaves a file that holds everything that was
finished and nothing half done. A file that is not ours, newer than we are, or damaged is refused before anything is
written to it.
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
from foresee.runs.checking import check, fact, opened_mapping, opened_numbers
from foresee.runs.migrations import keep_copy, migrate
from foresee.runs.opening import beside, in_memory, reading, translated, which, writing
from foresee.runs.record import CandidateRow, EventRow, Objective, Record, ScoreRow, StepRow
from foresee.runs.schema import SCHEMA_VERSION, insert, lay_out, version
from foresee.runs.values import number, pack


class Store:
    """An open run file. Make one with `create` or `open`; close it, or use it in a `with` block."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection, self.path = connection, path
        self._file = which(path)

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
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- writing ----------------------------------------------------------------------------------------------------------
    @contextmanager
    def _transaction(self, *, lasting: bool = True) -> Iterator[sqlite3.Connection]:
        """All or nothing. One that is not `lasting` waits for no disk: should the power fail, it is lost with what came
        after it, and never before what lasts; a killed process loses neither.
        """
        with translated(self.path):
            if which(self.path) != self._file:  # SQLite would write to a file that nobody will ever find
                raise RunError(f"{self.path}: was deleted or replaced while the run went on; start a new run")
            self._connection.execute(f"PRAGMA synchronous={'FULL' if lasting else 'NORMAL'}")
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
        """A candidate was scored, or failed; its objectives, its scores and its event are written with it."""
        what = f"candidate {candidate}"
        rows = [_score(s, candidate) for s in scores]
        fields = (status, reason, number(merit, f"merit of {what}"), attempts, seconds, time.time())
        with self._transaction() as db:
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

    # -- reading ----------------------------------------------------------------------------------------------------------
    def get(self, key: str, default: Any = None) -> Any:
        """One fact about the run."""
        with translated(self.path):
            row = self._connection.execute("SELECT value FROM run WHERE key=?", (key,)).fetchone()
        return default if row is None else fact(self.path, key, row[0])

    def kept(self, key: str) -> dict[str, Any]:
        """All values that were kept under a key, by name; those of a run that wrote them as one fact come first."""
        found: dict[str, Any] = dict(self.get(key, {}))
        with translated(self.path):
            rows = self._connection.execute("SELECT key, value FROM run WHERE key GLOB ?", (f"{key}:*",)).fetchall()
        return found | {name.partition(":")[2]: fact(self.path, name, value) for name, value in rows}

    def objectives(self) -> tuple[Objective, ...]:
        """What the run seeks."""
        return tuple(Objective(**one) for one in self.get("objectives", []))

    def candidates(self) -> tuple[CandidateRow, ...]:
        """All candidates with their scores, in order of id."""
        return self._candidates()

    def candidate(self, number: int) -> CandidateRow:
        """One candidate with its scores."""
        found = self._candidates(number)
        if not found:
            raise RunError(f"{self.path}: candidate {number} is not in this run")
        return found[0]

    def _candidates(self, number: int | None = None) -> tuple[CandidateRow, ...]:
        one = () if number is None else (number,)
        with translated(self.path):
            scores: dict[int, dict[str, ScoreRow]] = {}
            of_one = " WHERE candidate=?" if one else ""
            for candidate, *fields in self._connection.execute(f"SELECT * FROM scores{of_one}", one):  # noqa: S608
                fields[-1] = opened_numbers(self.path, f"parts of {fields[0]} of candidate {candidate}", fields[-1])
                scores.setdefault(candidate, {})[fields[0]] = ScoreRow(*fields)
            of_one = " WHERE id=?" if one else " ORDER BY id"
            rows = self._connection.execute(f"SELECT * FROM candidates{of_one}", one).fetchall()  # noqa: S608
        names = [*CandidateRow.__dataclass_fields__][:-1]
        made = []
        for row in rows:
            found = dict(zip(names, row, strict=True))
            for name in ("counts", "objectives"):
                found[name] = opened_numbers(self.path, f"{name} of candidate {found['id']}", found[name])
            made.append(CandidateRow(**found, scores=scores.get(found["id"], {})))
        return tuple(made)

    def steps(self) -> tuple[StepRow, ...]:
        """All steps in order."""
        with translated(self.path):
            rows = self._connection.execute("SELECT * FROM steps ORDER BY number").fetchall()
        return tuple(
            StepRow(step, kind, opened_mapping(self.path, f"outcome of step {step}", outcome), *when)
            for step, kind, outcome, *when in rows
        )

    def events(self) -> tuple[EventRow, ...]:
        """All events in order."""
        with translated(self.path):
            rows = self._connection.execute("SELECT time, kind, candidate, details FROM events ORDER BY id").fetchall()
        return tuple(
            EventRow(when, kind, candidate, opened_mapping(self.path, f"details of an event {kind!r}", details))
            for when, kind, candidate, details in rows
        )

    def record(self) -> Record:
        """The whole run as plain values, as it is at one moment."""
        with self._moment():
            return self._record()

    @contextmanager
    def _moment(self) -> Iterator[None]:
        """All that is read in here is of one moment, also while another process writes."""
        with translated(self.path):
            self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    def _record(self) -> Record:
        return Record(
            kind=self.get("kind", "search"),
            status=self.get("status", "running"),
            created=self.get("created", 0.0),
            settings=self.get("settings", {}),
            environment=self.get("environment", {}),
            candidates=self.candidates(),
            events=self.events(),
            title=self.get("title", ""),
            objectives=self.objectives(),
            steps=self.steps(),
        )


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
