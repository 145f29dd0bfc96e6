"""Rows of every kind, what a store must refuse, and a writer that is killed: what `StoreSuite` works with."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from foresee.runs.record import CandidateRow, EventRow, Objective, Record, ScoreRow, StepRow
from foresee.runs.store import Store

#: what a text column must keep
TEXTS = ("", "|none~0|", "Grüße, 建築 \U0001f3e0", "a\0b\r\n\t'\";--", "x" * 100_000)
#: what a number must keep: ends of the range, signs of zero, a sum that is no short decimal
NUMBERS = (0.0, -0.0, 0.1 + 0.2, -1e-308, 5e-324, 1.7976931348623157e308, math.inf, -math.inf)
#: what plain values (settings, counts, parts, outcomes, details) must keep besides
PLAIN: Mapping[str, Any] = {
    "none": None,
    "yes": True,
    "whole": [0, -1, 2**63, 10**40],
    "numbers": [*NUMBERS, math.nan],
    "texts": [*TEXTS, "\ud800"],
    "Maß": {"": [{"deep": [[], {}, ""]}]},
}
OBJECTIVES = (Objective("Güte", "higher"), Objective("latency", "lower"))
SCORE = ScoreRow("dextr", 1.0, "ok", "", "higher", 0.1, 5, 1)
#: whole numbers that a column of its own must keep: 64 bits with a sign
LARGEST, SMALLEST = 2**63 - 1, -(2**63)


# -- writing ----------------------------------------------------------------------------------------------------------
def made(kind: type[Store], place: Path | str) -> Store:
    """A new run with values of every kind in its settings."""
    return kind.create(place, kind="search", settings=PLAIN, environment={"torch": "ä"}, objectives=OBJECTIVES)


def add(store: Store, candidate: int, parent: int | None = None) -> None:
    """A candidate of which nothing matters but its ids."""
    store.add_candidate(candidate, architecture="a", identity=f"{candidate}", parent=parent, counts={})


def fill(store: Store) -> Record:
    """Write values of every kind into every row of a new run, and say what must be read; times are 1 where there is one.

    Candidate 2 stays asked, candidate 3 has failed.
    """
    rows: list[CandidateRow] = []
    steps: list[StepRow] = []
    events: list[EventRow] = []
    for number, (text, value) in enumerate(zip(itertools.cycle(TEXTS), NUMBERS, strict=False)):
        parent, counts = number - 1 if number else None, {"params": number, "macs": 2**70, "latency": value}
        store.add_candidate(number, architecture=text, identity=f"{number}{text}", parent=parent, counts=counts)
        row = CandidateRow(number, text, f"{number}{text}", parent, "asked", "", None, counts, 0, 0.0, 1.0, 0.0)
        rows.append(row)
        if number == 2:
            continue
        parts = {"a": value, "b": math.nan}
        scores = (
            ScoreRow(f"{text}!", value, "ok", text, "lower", value, LARGEST, SMALLEST, 3, value, parts),
            ScoreRow("zico", None, "nan", "why", "higher", 0.0, 0, 0),
        )
        failed = number == 3
        status, merit = ("failed", None) if failed else ("scored", value)
        sought = {} if failed else {"Güte": value, "latency": math.nan}
        store.finish_candidate(
            number, status=status, reason=text, merit=merit, attempts=2, seconds=value, objectives=sought, scores=scores
        )
        rows[-1] = replace(
            row, status=status, reason=text, merit=merit, attempts=2, seconds=value, finished=1.0, objectives=sought,
            scores={score.proxy: score for score in scores},
        )  # fmt: skip
        events.append(EventRow(1.0, status, number, {"reason": text} if text else {}))
        step = StepRow(len(steps), text, {**PLAIN, "value": value}, value, 1.0)
        store.add_step(step.number, kind=step.kind, outcome=step.outcome, seconds=step.seconds)
        steps.append(step)
        events.append(EventRow(1.0, "step", None, {"number": step.number, "kind": step.kind}))
    store.log("note", 1, **PLAIN)
    events.append(EventRow(1.0, "note", 1, PLAIN))
    for title in ("before", TEXTS[3]):
        store.set("title", title)
    return Record(
        "search", "running", 1.0, PLAIN, {"torch": "ä"}, tuple(rows), tuple(events), TEXTS[3], OBJECTIVES, tuple(steps)
    )


def plan(store: Store) -> Iterator[Callable[[], None]]:
    """Calls without end, each a transaction of its own."""
    for number in itertools.count():
        yield partial(add, store, number, number - 1 if number else None)
        scores = [replace(SCORE, proxy=proxy, parts={"a": 0.1}) for proxy in ("a", "b", "c")]
        yield partial(
            store.finish_candidate,
            number,
            status="scored",
            reason="why",
            merit=1.0,
            objectives={"a": 1.0},
            scores=scores,
        )
        yield partial(store.add_step, number, kind="epoch", outcome={"a": [0.1] * 100}, seconds=0.1)
        yield partial(store.set, "title", f"{number}")
        yield partial(store.log, "note", number, more="x" * 100)


def killed(kind: type[Store], place: Path | str, after: int) -> int:
    """Have another process go by the plan, kill it when so many calls are done, and say how many it had reported."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    writer = context.Process(target=_write, args=(kind, place, theirs), daemon=True)
    writer.start()
    theirs.close()
    done = 0
    try:
        while done < after:
            assert ours.poll(120), f"the writer hangs after {done} calls"
            done = ours.recv()
        writer.kill()
        while True:
            done = ours.recv()
    except EOFError:
        writer.join()
    assert writer.exitcode == -signal.SIGKILL, f"the writer ended by itself after {done} calls"
    return done


def _write(kind: type[Store], place: Path | str, reports: Connection) -> None:
    store = made(kind, place)
    for done, call in enumerate(plan(store), 1):
        call()
        reports.send(done)


# -- comparing --------------------------------------------------------------------------------------------------------
def difference(found: Any, expected: Any, where: str = "record") -> str:
    """Where two records first differ and how, numbers to the last bit; "" where they do not.

    Of times it matters only whether there is one.
    """
    if is_dataclass(expected) and type(found) is type(expected):
        pairs = {f".{one.name}": (getattr(found, one.name), getattr(expected, one.name)) for one in fields(expected)}
        for name in _TIMES & set(pairs):
            pairs[name] = tuple(when > 0 for when in pairs[name])
    elif isinstance(expected, Mapping) and isinstance(found, Mapping) and set(found) == set(expected):
        pairs = {f"[{key!r}]": (found[key], expected[key]) for key in expected}
    elif isinstance(expected, list | tuple) and type(found) is type(expected) and len(found) == len(expected):
        pairs = {f"[{number}]": pair for number, pair in enumerate(zip(found, expected, strict=True))}
    else:
        same = repr(found) == repr(expected)
        return "" if same else f"{where} is {found!r:.100}, expected {expected!r:.100}"
    return next((text for name, pair in pairs.items() if (text := difference(*pair, f"{where}{name}"))), "")


_TIMES = {".created", ".started", ".finished", ".time"}


# -- refusing ---------------------------------------------------------------------------------------------------------
def _finish(store: Store, record: Record, **more: Any) -> Record:
    """Finish candidate 2, and say what must be read if that is not refused."""
    store.finish_candidate(2, status="scored", **more)
    given = {**more, "scores": {score.proxy: score for score in more.get("scores", ())}}
    row = replace(record.candidates[2], status="scored", attempts=1, finished=1.0, **given)
    rows = (*record.candidates[:2], row, *record.candidates[3:])
    return replace(record, candidates=rows, events=(*record.events, EventRow(1.0, "scored", 2, {})))


def _step(store: Store, record: Record, outcome: Mapping[Any, Any]) -> Record:
    step = StepRow(len(record.steps), "epoch", outcome, 0.1, 1.0)
    store.add_step(step.number, kind=step.kind, outcome=step.outcome, seconds=step.seconds)
    event = EventRow(1.0, "step", None, {"number": step.number, "kind": step.kind})
    return replace(record, steps=(*record.steps, step), events=(*record.events, event))


#: what a store may keep exactly or refuse with a reason: write it to a filled store, and say what must be read then
DOUBTFUL: Mapping[str, Callable[[Store, Record], Record]] = {
    "a merit of NaN": partial(_finish, merit=math.nan),
    "a value of NaN": partial(_finish, scores=[replace(SCORE, value=math.nan)]),
    "a spread of NaN": partial(_finish, scores=[replace(SCORE, spread=math.nan)]),
    "a seed of 64 bits": partial(_finish, scores=[replace(SCORE, seed=LARGEST + 1)]),
    "a key that is no text": partial(_step, outcome={1: 2}),
    "a value that is not plain": partial(_step, outcome={"a": object()}),
}


def _foreign(path: Path) -> None:
    path.unlink()
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE candidates (id)")
    database.commit()
    database.close()


#: ways in which a file is none of ours, or no more
SPOILT: Mapping[str, Callable[[Path], Any]] = {
    "that is empty": lambda path: path.write_bytes(b""),
    "that is text": lambda path: path.write_text("hello " * 1000),
    "of another program": _foreign,
    "cut in half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "cut by one byte": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "with nothing inside": lambda path: path.write_bytes(path.read_bytes()[:100] + bytes(path.stat().st_size - 100)),
}
