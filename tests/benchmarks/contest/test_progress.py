"""How far a contest is."""

from __future__ import annotations

from foresee.benchmarks.contest.progress import Overall
from foresee.runs.events import Event


def test_candidates_are_counted_through_all_runs():
    seen: list[Event] = []
    overall = Overall([seen.append], 30, kept=10)
    first = overall.watching("random, seed 1")
    first(Event("started", 0, 10))
    first(Event("scored", 1, 10, 0, {"merit": 1.0}))
    first(Event("scored", 2, 10, 1, {"merit": 1.0, "replayed": True}))
    first(Event("step", 2, 10, None, {"name": "pool", "step": 1, "steps": 3, "replayed": True}))
    overall.finish(10)
    overall.watching("random, seed 2")(Event("failed", 4, 10, 3, {}))
    overall.finish(10)
    told = [(one.kind, one.done, one.total, one.details.get("doing", "")) for one in seen]
    assert told == [
        ("resumed", 10, 30, ""),
        ("scored", 11, 30, "random, seed 1"),
        ("step", 12, 30, "random, seed 1"),
        ("failed", 24, 30, "random, seed 2"),
        ("finished", 30, 30, ""),
    ]
