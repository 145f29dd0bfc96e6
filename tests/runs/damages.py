"""Ways in which a run file can be whole for SQLite and make no sense, by name; each changes an open database.

`damage_at_random` makes new ones from a seed, for a campaign.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

Change = Callable[[sqlite3.Connection], object]
DEEP = "[" * 100_000 + "]" * 100_000


def loosened(db: sqlite3.Connection, table: str) -> None:
    """Make a table again without types, keys and constraints: now anything can be in it."""
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    db.execute(f"ALTER TABLE {table} RENAME TO was")
    db.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
    db.execute(f"INSERT INTO {table} SELECT * FROM was")
    db.execute("DROP TABLE was")


def put(table: str, column: str, value: object) -> Change:
    """One value of one column, in every row."""

    def change(db: sqlite3.Connection) -> None:
        loosened(db, table)
        db.execute(f"UPDATE {table} SET {column}=?", (value,))

    return change


def tell(key: str, value: object) -> Change:
    """One fact of the run."""
    return lambda db: db.execute("INSERT OR REPLACE INTO run VALUES (?, ?)", (key, value))


def do(*statements: str) -> Change:
    """Plain SQL."""

    def change(db: sqlite3.Connection) -> None:
        for statement in statements:
            db.execute(statement)

    return change


def twice(table: str) -> Change:
    """Every row of a table a second time."""

    def change(db: sqlite3.Connection) -> None:
        loosened(db, table)
        db.execute(f"INSERT INTO {table} SELECT * FROM {table}")

    return change


#: each is refused by whoever opens the file, in one line
DAMAGES: Mapping[str, Change] = {
    **{f"no table {name}": do(f"DROP TABLE {name}") for name in ("run", "candidates", "scores", "steps", "events")},
    "no column": do("ALTER TABLE candidates DROP COLUMN counts"),
    "a column too many": do("ALTER TABLE scores ADD COLUMN more"),
    "another column's name": do("ALTER TABLE events RENAME COLUMN details TO detail"),
    "a view for a table": do("ALTER TABLE steps RENAME TO s", "CREATE VIEW steps AS SELECT * FROM s"),
    "a trigger": do("CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM candidates; END"),
    **{f"no {key}": do(f"DELETE FROM run WHERE key='{key}'") for key in ("kind", "status", "created", "settings")},
    "no facts": do("DELETE FROM run"),
    "facts twice": twice("run"),
    "a status of another world": tell("status", '"flying"'),
    "a status that is no text": tell("status", "[1]"),
    "settings that are a list": tell("settings", "[]"),
    "settings that are no JSON": tell("settings", "{"),
    "settings nested without end": tell("settings", DEEP),
    "settings with an endless number": tell("settings", '{"seed": ' + "1" * 5000 + "}"),
    "settings that are a blob": tell("settings", b"\x00" * 1000),
    "an environment that is a number": tell("environment", "3"),
    "objectives that are a text": tell("objectives", '"naswot"'),
    "an objective without a name": tell("objectives", '[{"direction": "higher"}]'),
    "an objective without a way": tell("objectives", '[{"name": "naswot", "direction": "sideways"}]'),
    "a title that is a list": tell("title", "[]"),
    "a time that is a text": tell("created", '"noon"'),
    "a latency that is a text": tell("latency:a", '"soon"'),
    "latencies that are a list": tell("latency", "[1]"),
    "a text that is no text": put("candidates", "architecture", None),
    "an architecture of bytes": put("candidates", "architecture", b"\xff\xfe"),
    "an architecture of broken characters": do("UPDATE candidates SET architecture=CAST(x'fffe' AS TEXT)"),
    "a huge blob": do("UPDATE candidates SET reason=zeroblob(50000000)"),
    "an id that is a text": put("candidates", "id", "zero"),
    "no id": put("candidates", "id", None),
    "candidates twice": twice("candidates"),
    "a candidate below 0": do("UPDATE candidates SET id=-5 WHERE id=(SELECT max(id) FROM candidates)"),
    "a cycle of parents": do("UPDATE candidates SET parent=1 - id WHERE id < 2"),
    "its own parent": do("UPDATE candidates SET parent=id"),
    "a parent that is not there": do("UPDATE candidates SET parent=-7 WHERE id=3"),
    "a parent that is a fraction": put("candidates", "parent", 0.5),
    "a candidate of another status": do("UPDATE candidates SET status='lost'"),
    "a merit that is a text": put("candidates", "merit", "good"),
    "asked and scored": do("UPDATE candidates SET status='asked', merit=NULL"),
    "counts that are a list": put("candidates", "counts", "[1]"),
    "counts that are texts": put("candidates", "counts", '{"params": "many"}'),
    "counts without end": put("candidates", "counts", '{"params": 1' + "0" * 400 + "}"),
    "counts that are nothing": put("candidates", "counts", None),
    "objectives that are broken": put("candidates", "objectives", '{"naswot": '),
    "objectives of nothing": put("candidates", "objectives", '{"naswot": null}'),
    "attempts that are a text": put("candidates", "attempts", "two"),
    "a score of nobody": do("UPDATE scores SET candidate=candidate + 1000"),
    "scores of the deleted": do(
        "DELETE FROM candidates WHERE id=(SELECT max(id) FROM candidates WHERE status='scored')"
    ),
    "scores twice": twice("scores"),
    "a value that is a text": put("scores", "value", "much"),
    "a value without its status": do("UPDATE scores SET status='nan'"),
    "a status without its value": do("UPDATE scores SET value=NULL"),
    "a score without a way": do("UPDATE scores SET direction='sideways'"),
    "parts that are broken": do("UPDATE scores SET parts='{]'"),
    "parts nested without end": lambda db: db.execute("UPDATE scores SET parts=?", (DEEP,)),
    "a seed that is a fraction": put("scores", "seed", 0.5),
    "an event that is broken": do("UPDATE events SET details='nothing'"),
    "an event that is a list": do("UPDATE events SET details='[]'"),
    "an event without a kind": put("events", "kind", None),
    "a step that is missing": do("INSERT INTO steps VALUES (1, 'a', '{}', 0.0, 0.0)"),
    "a step that is broken": do("INSERT INTO steps VALUES (0, 'a', '{', 0.0, 0.0)"),
    "a step that gave a list": do("INSERT INTO steps VALUES (0, 'a', '[]', 0.0, 0.0)"),
}

#: each can be read, or is refused in one line by whoever wants to do more than read
DOUBTFUL: Mapping[str, Change] = {
    "failures with merits": do("UPDATE candidates SET status='failed'"),
    "scored without a merit": do("UPDATE candidates SET merit=NULL"),
    "scored without objectives": do("UPDATE candidates SET objectives='{}'"),
    "scored without scores": do("DELETE FROM scores"),
    "merits without end": do("UPDATE candidates SET merit=9e999, objectives='{\"naswot\": Infinity}'"),
    "another architecture": do("UPDATE candidates SET architecture='{}' WHERE id=2"),
    "an empty architecture": do("UPDATE candidates SET architecture=''"),
    "another identity": do("UPDATE candidates SET identity='x'"),
    "a parent that was another": do("UPDATE candidates SET parent=0 WHERE id > 0"),
    "a gap": do("DELETE FROM scores WHERE candidate=2", "DELETE FROM candidates WHERE id=2"),
    "no candidates": do("DELETE FROM scores", "DELETE FROM candidates"),
    "candidates of a longer run": do(
        "INSERT INTO candidates SELECT 1000000, architecture, 'y', NULL, 'asked', '', NULL, '{}', 0, 0, 0, 0, '{}' "
        "FROM candidates LIMIT 1"
    ),
    "a negative count": do('UPDATE candidates SET counts=\'{"params": -7, "macs": -1e300}\''),
    "no counts": do("UPDATE candidates SET counts='{}'"),
    "seconds below 0": do("UPDATE candidates SET seconds=-1e308, started=-1e300, finished=1e300"),
    "no events": do("DELETE FROM events"),
    "events of nobody": do("UPDATE events SET candidate=-12345, kind='?', time=-1e300"),
    "no settings to speak of": tell("settings", "{}"),
    "settings of another shape": tell("settings", '{"space": [1], "proxies": 7, "seed": "x"}'),
    "settings with strangers": tell("settings", '{"space": "a", "colour": "red"}'),
    "an environment without its task": tell("environment", "{}"),
    "a task that is none": tell("environment", '{"task": {"inputs": "large"}}'),
    "another kind": tell("kind", '"bench"'),
    "no objectives": tell("objectives", "[]"),
    "other objectives": tell("objectives", '[{"name": "zico", "direction": "lower"}]'),
    "more steps than there can be": do("INSERT INTO steps VALUES (0, 'a', '{}', 0.0, 0.0)"),
}


def damage(path: Path, change: Change) -> None:
    """Change a run file that nobody has open."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        change(db)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def damage_at_random(db: sqlite3.Connection, rng: random.Random) -> str:
    """Put something into one cell, or take a row or a table away; says what was done."""
    table = rng.choice(["run", "candidates", "scores", "steps", "events"])
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    if rng.random() < 0.1:
        statement, values = f"DELETE FROM {table} WHERE length({columns[-1]}) % 3 = {rng.randrange(3)}", ()
    elif rng.random() < 0.05:
        statement, values = f"DROP TABLE {table}", ()
    else:
        loosened(db, table)
        column = rng.choice(columns)
        there = [row[0] for row in db.execute(f"SELECT {column} FROM {table}")]
        value = rng.choice([*_values(rng), *(there and [_spoilt(rng.choice(there), rng)])])
        where = f"{columns[0]} = (SELECT {columns[0]} FROM {table} LIMIT 1 OFFSET {rng.randrange(max(1, len(there)))})"
        statement, values = f"UPDATE {table} SET {column}=? WHERE {where}", (value,)
    db.execute(statement, values)
    return f"{statement} {values!r:.200}"


def _values(rng: random.Random) -> list[object]:
    return [
        None, 0, -1, 2**63 - 1, -(2**63), 0.5, float("inf"), "", "x", "[]", "{}", "null", "NaN", '"text"', "\0", b"\xff",
        json.dumps({"a": [None, {"b": 10**30}]}), "1" * 5000, DEEP, "x" * rng.randrange(100_000),
    ]  # fmt: skip


def _spoilt(value: object, rng: random.Random) -> object:
    """A value that was there, cut, doubled or with another character in it."""
    if not isinstance(value, str) or not value:
        return -value if isinstance(value, int | float) else "x"
    place = rng.randrange(len(value))
    return rng.choice([value[:place], value + value, value[:place] + rng.choice('"{}[],:09ax') + value[place + 1 :]])
