"""Scores already computed: one SQLite file that many benches may share.

A score depends on the architecture, the proxy with its settings, the seed and what was looked at, and on nothing else; a
digest of exactly these is its key. Each `put` is one transaction, so whatever was put is there after a kill. Accidents
(a network that raised, memory that ran out) are not kept: they are tried again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import UnionType
from typing import Any

from foresee.errors import RunError, storable
from foresee.proxies.base import Score
from foresee.runs.checking import is_numbers
from foresee.runs.opening import which

APPLICATION_ID = 0x464F5243  # "FORC": tells our files from other programs' SQLite files
SCHEMA_VERSION = 1
#: how long a bench waits for another one's transaction
WAIT_SECONDS = 60
#: statuses that say something about the architecture, not about the machine
KEPT = ("ok", "nan", "rank_deficient", "unsupported", "partial")

_SCHEMA = """
CREATE TABLE scores (
  key TEXT PRIMARY KEY, architecture TEXT NOT NULL, proxy TEXT NOT NULL, seed INTEGER NOT NULL, value REAL,
  status TEXT NOT NULL, reason TEXT NOT NULL, direction TEXT NOT NULL, seconds REAL NOT NULL, peak_bytes INTEGER NOT NULL,
  parts TEXT NOT NULL, made REAL NOT NULL) WITHOUT ROWID;
"""
#: of a score, in the order of the columns, with the types of what was put there
_FIELDS: Mapping[str, type | UnionType] = {
    **{"proxy": str, "seed": int, "value": float | None, "status": str, "reason": str, "direction": str},
    **{"seconds": float, "peak_bytes": int},
}
_COLUMNS = ", ".join(("key", *_FIELDS, "parts"))


class Cache:
    """Scores by key. Without a path they live in memory. Close it, or use it in a `with` block.

    >>> with Cache() as cache:
    ...     cache.put("an architecture", {"a key": Score("params", 8.0)})
    ...     cache.get(["a key", "another"])["a key"].value, len(cache)
    (8.0, 1)
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        with self._translated():
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            # The file is only ever written by this process's main thread; other benches wait for each transaction.
            self._connection = sqlite3.connect(self.path or ":memory:", isolation_level=None, timeout=WAIT_SECONDS)
            try:
                self._open()
            except BaseException:
                self._connection.close()
                raise
            self._file = None if self.path is None else which(self.path)

    def _open(self) -> None:
        db = self._connection
        with db:  # one transaction: another bench that opens the same new file waits, and sees all of it or nothing
            db.execute("BEGIN IMMEDIATE")
            names = ("application_id", "user_version")
            identity, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
            filled = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if filled and identity != APPLICATION_ID:
                raise RunError(f"{self.path} is an SQLite file of another program, not a cache of scores")
            if filled and version != SCHEMA_VERSION:
                raise RunError(
                    f"{self.path} is a cache of another version of foresee ({version}); choose another --cache"
                )
            if not filled:
                db.execute(f"PRAGMA application_id={APPLICATION_ID}")
                db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
                db.execute(_SCHEMA)
        self._write_ahead()
        db.execute("PRAGMA synchronous=NORMAL")  # a killed process loses nothing; a power cut loses the last moments

    def _write_ahead(self) -> None:
        """Readers and the writer do not wait for each other. SQLite does not wait by itself for this switch, so we do."""
        for patience in range(WAIT_SECONDS * 20, -1, -1):
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError:  # another bench is opening the file at this moment
                if not patience:
                    raise
                time.sleep(0.05)
            else:
                return

    def get(self, keys: Iterable[str]) -> dict[str, Score]:
        """Those of the keys that are known, with their scores."""
        found: dict[str, Score] = {}
        with self._translated():
            wanted = list(keys)
            for start in range(0, len(wanted), 500):
                some = wanted[start : start + 500]
                marks = ",".join("?" * len(some))
                query = f"SELECT {_COLUMNS} FROM scores WHERE key IN ({marks})"  # noqa: S608 - only question marks
                found |= {row[0]: _score(row) for row in self._connection.execute(query, some)}
        return found

    def put(self, architecture: str, scores: Mapping[str, Score]) -> None:
        """Keep the scores of one architecture, by key, in one transaction."""
        now = time.time()
        rows = [
            (
                key,
                architecture,
                *(getattr(replace(one, reason=storable(one.reason)), name) for name in _FIELDS),
                json.dumps(dict(one.parts)),
                now,
            )
            for key, one in scores.items()
            if one.status in KEPT
        ]
        if not rows:
            return
        if self.path is not None and which(self.path) != self._file:  # what is written now would never be found
            raise RunError(f"{self.path}: was deleted or replaced while scores were made; start again")
        with self._translated(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(f"INSERT OR REPLACE INTO scores VALUES ({','.join('?' * 12)})", rows)  # noqa: S608

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM scores").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, OverflowError, RecursionError) as error:
            raise RunError(
                f"{self.path}: cannot be used as a cache of scores ({error}); choose another --cache"
            ) from error


def _score(row: Sequence[Any]) -> Score:
    _, *values, parts = row
    fields, found = dict(zip(_FIELDS, values, strict=True)), json.loads(parts if isinstance(parts, str) else "")
    wrong = [name for name, kind in _FIELDS.items() if not isinstance(fields[name], kind)]
    if wrong or not is_numbers(found) or (fields["status"] == "ok") != (fields["value"] is not None):
        raise ValueError(f"a score makes no sense: {', '.join(wrong) or 'its status or its parts'}")
    return Score(**fields, parts=found)
