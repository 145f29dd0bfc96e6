"""Whether what is in a run file can be what foresee wrote: its tables, its facts, and the values of every row.

A file can be whole for SQLite and yet make no sense: a table lost, a number where a text was, a parent that comes later. That
is found when the file is opened, before anything is made of it, and said in one line. Types and relations are asked of
SQLite, so that a blob of gigabytes is refused without being read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from foresee.errors import RunError
from foresee.runs.values import is_number, unpack

_WHOLE, _NUMBER, _TEXT = ("integer",), ("integer", "real"), ("text",)
_NONE = ("null",)

#: the columns of every table in their order, with the types of values that may be in them
COLUMNS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "run": {"key": _TEXT, "value": _TEXT},
    "candidates": {
        **{"id": _WHOLE, "architecture": _TEXT, "identity": _TEXT, "parent": _WHOLE + _NONE, "status": _TEXT},
        **{"reason": _TEXT, "merit": _NUMBER + _NONE, "counts": _TEXT, "attempts": _WHOLE, "seconds": _NUMBER},
        **{"started": _NUMBER, "finished": _NUMBER, "objectives": _TEXT},
    },
    "scores": {
        **{"candidate": _WHOLE, "proxy": _TEXT, "value": _NUMBER + _NONE, "status": _TEXT, "reason": _TEXT},
        **{"direction": _TEXT, "seconds": _NUMBER, "peak_bytes": _WHOLE, "seed": _WHOLE, "repeats": _WHOLE},
        **{"spread": _NUMBER + _NONE, "parts": _TEXT},
    },
    "steps": {"number": _WHOLE, "kind": _TEXT, "outcome": _TEXT, "seconds": _NUMBER, "time": _NUMBER},
    "events": {"id": _WHOLE, "time": _NUMBER, "kind": _TEXT, "candidate": _WHOLE + _NONE, "details": _TEXT},
}

#: what must not be found, by what is to be said of it
CONTRADICTIONS: Mapping[str, str] = {
    "candidate {} is there twice": "SELECT id FROM candidates GROUP BY id HAVING count(*) > 1",
    "candidate {} is below 0": "SELECT id FROM candidates WHERE id < 0",
    "candidate {} is {!r}, which is neither asked, scored nor failed": (
        "SELECT id, status FROM candidates WHERE status NOT IN ('asked', 'scored', 'failed')"
    ),
    "candidate {} has the parent {}, which is not an earlier one": (
        "SELECT id, parent FROM candidates WHERE parent >= id OR parent NOT IN (SELECT id FROM candidates)"
    ),
    "there is a score of candidate {}, which is not in the run": (
        "SELECT candidate FROM scores WHERE candidate NOT IN (SELECT id FROM candidates)"
    ),
    "candidate {} has scores, and was not scored yet": (
        "SELECT id FROM candidates WHERE status = 'asked' AND id IN (SELECT candidate FROM scores)"
    ),
    "candidate {} is scored by {} twice": (
        "SELECT candidate, proxy FROM scores GROUP BY candidate, proxy HAVING count(*) > 1"
    ),
    "candidate {} by {}: status {}, which does not go with its value": (
        "SELECT candidate, proxy, status FROM scores WHERE (status = 'ok') <> (value IS NOT NULL)"
    ),
    "candidate {} by {}: {!r} is no direction": (
        "SELECT candidate, proxy, direction FROM scores WHERE direction NOT IN ('higher', 'lower')"
    ),
    "step {} is there, and {} are": (
        "SELECT max(number), count(*) FROM steps HAVING count(DISTINCT number) <> count(*) "
        "OR (count(*) > 0 AND (min(number) <> 0 OR max(number) <> count(*) - 1))"
    ),
    "the fact {} is there twice": "SELECT key FROM run GROUP BY key HAVING count(*) > 1",
}


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _is_objectives(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and set(one) == {"name", "direction"}
        and isinstance(one["name"], str)
        and one["direction"] in ("higher", "lower")
        for one in value
    )


def is_numbers(value: Any) -> bool:
    """Whether a value is a mapping to numbers."""
    return isinstance(value, dict) and all(map(is_number, value.values()))


#: the facts of a run that everybody reads, and what they must be; those of the first line are always there
NEEDED: Mapping[str, Callable[[Any], bool]] = {
    "kind": lambda value: isinstance(value, str),
    "status": lambda value: value in ("running", "finished", "interrupted", "failed"),
    "created": is_number,
    "settings": _is_mapping,
    "environment": _is_mapping,
}
FACTS: Mapping[str, Callable[[Any], bool]] = {
    **NEEDED,
    "objectives": _is_objectives,
    "title": lambda value: isinstance(value, str),
    "latency": is_numbers,
}

#: what is kept one by one, as `latency:...`
KEPT: Mapping[str, Callable[[Any], bool]] = {"latency": is_number}


def damaged(path: str | Path, what: str) -> RunError:
    """The error to raise where a run makes no sense."""
    return RunError(f"{path} is damaged: {what}; restore it from a copy or start a new run")


def check(connection: sqlite3.Connection, path: str | Path) -> None:
    """Refuse a run (of the schema of today) that foresee cannot have written."""
    kinds = dict(connection.execute("SELECT name, type FROM sqlite_master").fetchall())
    for name, kind in kinds.items():
        if kind in ("trigger", "view"):
            raise damaged(path, f"it has the {kind} {name!r}")
    for table, columns in COLUMNS.items():
        found = [row[1] for row in connection.execute(f"PRAGMA table_xinfo({table})")]
        if found != list(columns):
            wrong = sorted(set(found) ^ set(columns)) or ["their order"]
            raise damaged(path, f"table {table} is missing" if not found else f"columns of {table}: {', '.join(wrong)}")
        wrong = connection.execute(_strangers(table, columns)).fetchone()
        if wrong is not None:
            raise damaged(path, f"{wrong[0]} of a row of {table} is {wrong[1]}")
    for message, query in CONTRADICTIONS.items():
        row = connection.execute(query).fetchone()
        if row is not None:
            raise damaged(path, message.format(*row))
    facts = dict(connection.execute("SELECT key, value FROM run").fetchall())
    for key in NEEDED:
        if key not in facts:
            raise damaged(path, f"its {key} is missing")
    for key, text in facts.items():
        fact(path, key, text)


def fact(path: str | Path, key: str, text: str) -> Any:
    """One fact about the run, checked where it is one that everybody reads."""
    value = opened(path, key, text)
    rule = FACTS.get(key) or KEPT.get(key.partition(":")[0])
    if rule is not None and not rule(value):
        raise damaged(path, f"its {key} is {value!r:.60}")
    return value


def opened(path: str | Path, what: str, text: str, fits: Callable[[Any], bool] = lambda value: True) -> Any:
    """A packed value; `what` names it where it is broken or does not fit."""
    try:
        value = unpack(text)
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"{what}: no JSON ({str(error)[:100]})") from error
    if not fits(value):
        raise damaged(path, f"{what}: {value!r:.60}")
    return value


def opened_numbers(path: str | Path, what: str, text: str) -> dict[str, float]:
    """Packed numbers by name."""
    found: dict[str, float] = opened(path, what, text, is_numbers)
    return found


def opened_mapping(path: str | Path, what: str, text: str) -> dict[str, Any]:
    """Packed values by name."""
    found: dict[str, Any] = opened(path, what, text, _is_mapping)
    return found


def _strangers(table: str, columns: Mapping[str, tuple[str, ...]]) -> str:
    """A query for the first value of a type that its column never has."""
    cases = " ".join(
        f"WHEN typeof({name}) NOT IN ({', '.join(map(repr, types))}) THEN '{name}'" for name, types in columns.items()
    )
    types = " ".join(f"WHEN '{name}' THEN typeof({name})" for name in columns)
    return f"SELECT bad, CASE bad {types} END FROM (SELECT *, CASE {cases} END AS bad FROM {table}) WHERE bad NOT NULL"  # noqa: S608
