"""Architectures in, jobs out, answers back: packed as the scorer likes it, nothing lost when a job dies."""

from __future__ import annotations

from collections import deque

import pytest

from foresee.proxies.base import Score
from foresee.runs.engines import Engine, Outcome, Serial
from foresee.scoring.desk import Desk
from foresee.scoring.scorer import Scored


def work(job):
    """Scores a text by its length; one that says so breaks the whole job, as a worker that dies does."""
    if any("kill" in text for text in job.texts):
        raise MemoryError("killed")
    return [Scored((Score("length", float(len(text)), seed=job.seed),)) for text in job.texts]


class Recording(Serial):
    """Serial, with the jobs it was given; several workers in name."""

    def __init__(self, workers=1):
        super().__init__(work)
        self.workers, self.jobs = workers, []

    def submit(self, job, payload):
        self.jobs.append(payload.texts)
        super().submit(job, payload)


class Backwards(Engine):
    """Answers the newest job first."""

    def __init__(self):
        self._queue = deque()

    def submit(self, job, payload):
        self._queue.append((job, payload))

    def wait(self):
        job, payload = self._queue.pop()
        return Outcome(job, work(payload))

    def __exit__(self, *_):
        pass


def answers(desk, count):
    found = [desk.wait() for _ in range(count)]
    return {one.ticket: one.scored.scores[0].value if one.scored.error is None else one.scored.error for one in found}


@pytest.mark.parametrize(
    ("together", "workers", "sizes"),
    [(1, 1, [1] * 7), (3, 1, [3, 3, 1]), (100, 1, [7]), (100, 2, [4, 3]), (2, 3, [2, 2, 2, 1]), (100, 9, [1] * 7)],
)
def test_jobs_are_as_large_as_is_liked_and_no_worker_is_idle(together, workers, sizes):
    engine = Recording(workers)
    desk = Desk(engine, together)
    for ticket in range(7):
        desk.submit(ticket, "x" * ticket, ("length",), 0)
    assert answers(desk, 7) == {ticket: float(ticket) for ticket in range(7)}
    assert [len(job) for job in engine.jobs] == sizes


def test_only_alike_ones_go_together():
    engine = Recording()
    desk = Desk(engine, 10)
    for ticket, (names, seed) in enumerate([(("a",), 0), (("a",), 1), (("b",), 0), (("a",), 0)]):
        desk.submit(ticket, str(ticket), names, seed)
    desk.submit(4, "4", ("a",), 0, {"channels": 4})
    answers(desk, 5)
    assert engine.jobs == [("0", "3"), ("1",), ("2",), ("4",)]


def test_a_killer_takes_no_other_with_it():
    engine = Recording()
    desk = Desk(engine, 10)
    for ticket, text in enumerate(["a", "kill", "bbb"]):
        desk.submit(ticket, text, ("length",), 0)
    assert answers(desk, 3) == {0: 1.0, 1: "MemoryError: killed", 2: 3.0}
    assert engine.jobs == [("a", "kill", "bbb"), ("a",), ("kill",), ("bbb",)]


@pytest.mark.parametrize("together", [1, 4])
def test_gathering_keeps_the_answers_of_others(together):
    desk = Desk(Backwards(), together)
    desk.submit(0, "first", ("length",), 0)
    desk.submit(1, "second", ("length",), 0)
    found = desk.gather(["a", "bb"], ("length",), 0)
    assert [one.scores[0].value for one in found] == [1.0, 2.0]
    assert answers(desk, 2) == {0: 5.0, 1: 6.0}
