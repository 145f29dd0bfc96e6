"""A run file as it is read: whole, in parts, or as plain values of one moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from sys import intern
from typing import Any

from foresee.errors import RunError
from foresee.runs.checking import fact, opened_mapping, opened_numbers
from foresee.runs.opening import translated
from foresee.runs.record import CandidateRow, EventRow, Objective, Record, ScoreRow, StepRow

#: no candidate has an id as great as this
MOST_ID = 2**62


class Reader:
    """What can be asked of an open run file."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection, self.path = connection, path

    def settle(self) -> None:
        """Write what waits to be written: nothing, by somebody who only reads."""

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

    def candidates(self, first: int = 0, before: int | None = None) -> tuple[CandidateRow, ...]:
        """All candidates with their scores, in order of id; or those from the first up to before another."""
        return self._candidates(
            *(() if first == 0 and before is None else (first, MOST_ID if before is None else before))
        )

    def best(self, many: int) -> tuple[CandidateRow, ...]:
        """So many candidates of the greatest merit, best first; the earlier one wins a tie."""
        with translated(self.path):
            rows = self._connection.execute(
                "SELECT id FROM candidates WHERE merit IS NOT NULL ORDER BY merit DESC, id LIMIT ?", (many,)
            ).fetchall()
        return tuple(self.candidate(row[0]) for row in rows)

    def numbers(self) -> tuple[int, int]:
        """How many candidates are scored or failed, and the greatest id of all; -1 where there is none."""
        with translated(self.path):
            found: tuple[int, int] = self._connection.execute(
                "SELECT count(*) FILTER (WHERE status <> 'asked'), coalesce(max(id), -1) FROM candidates"
            ).fetchone()
        return found

    def candidate(self, number: int) -> CandidateRow:
        """One candidate with its scores."""
        found = self._candidates(number, number + 1)
        if not found:
            raise RunError(f"{self.path}: candidate {number} is not in this run")
        return found[0]

    def _candidates(self, *some: int) -> tuple[CandidateRow, ...]:
        """All candidates, or those from one id up to before another."""
        with translated(self.path):
            scores: dict[int, dict[str, ScoreRow]] = {}
            of_some = " WHERE candidate>=? AND candidate<?" if some else ""
            for candidate, *fields in self._connection.execute(f"SELECT * FROM scores{of_some}", some):  # noqa: S608
                fields[-1] = opened_numbers(self.path, f"parts of {fields[0]} of candidate {candidate}", fields[-1])
                fields[0], fields[2], fields[4] = map(intern, (fields[0], fields[2], fields[4]))
                scores.setdefault(candidate, {})[fields[0]] = ScoreRow(*fields)
            of_some = " WHERE id>=? AND id<?" if some else ""
            rows = self._connection.execute(f"SELECT * FROM candidates{of_some} ORDER BY id", some)  # noqa: S608
            return tuple(self._candidate(row, scores) for row in rows)

    def _candidate(self, row: tuple[Any, ...], scores: Mapping[int, Mapping[str, ScoreRow]]) -> CandidateRow:
        number, text, identity, parent, status, reason, merit, counts, attempts, seconds, started, finished, sought = (
            row
        )
        return CandidateRow(
            id=number,
            architecture=text,
            identity=text if identity == text else identity,  # one text for both
            parent=parent,
            status=intern(status),
            reason=intern(reason),
            merit=merit,
            counts=opened_numbers(self.path, f"counts of candidate {number}", counts),
            attempts=attempts,
            seconds=seconds,
            started=started,
            finished=finished,
            objectives=opened_numbers(self.path, f"objectives of candidate {number}", sought),
            scores=scores.get(number, {}),
        )

    def steps(self) -> tuple[StepRow, ...]:
        """All steps in order."""
        with translated(self.path):
            rows = self._connection.execute("SELECT * FROM steps ORDER BY number").fetchall()
        return tuple(
            StepRow(step, kind, opened_mapping(self.path, f"outcome of step {step}", outcome), *when)
            for step, kind, outcome, *when in rows
        )

    def events(self, kind: str | None = None) -> tuple[EventRow, ...]:
        """All events in order, or those of one kind."""
        of_kind, one = ("", ()) if kind is None else (" WHERE kind=?", (kind,))
        with translated(self.path):
            rows = self._connection.execute(
                f"SELECT time, kind, candidate, details FROM events{of_kind} ORDER BY id",  # noqa: S608
                one,
            )
            return tuple(
                EventRow(
                    when, intern(what), candidate, opened_mapping(self.path, f"details of an event {what!r}", text)
                )
                for when, what, candidate, text in rows
            )

    def record(self) -> Record:
        """The whole run as plain values, as it is at one moment."""
        with self._moment():
            return self._record()

    @contextmanager
    def _moment(self) -> Iterator[None]:
        """All that is read in here is of one moment, also while another process writes."""
        self.settle()
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
