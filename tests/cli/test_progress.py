"""What is said while it goes on: of candidates, of a searcher's steps, of what was there already."""

from __future__ import annotations

import pytest
from rich.console import Console

from foresee.cli import progress
from foresee.cli.progress import Stages, Watch
from foresee.runs.events import Event


@pytest.fixture
def screen(monkeypatch):
    """What is printed where there is no terminal, and a clock that goes on by itself."""
    console = Console(record=True, width=200, force_terminal=False, file=open("/dev/null", "w"))  # noqa: SIM115
    clock = iter(range(0, 100_000, 10))
    monkeypatch.setattr(progress, "err", console)
    monkeypatch.setattr("foresee.cli.app.err", console)
    monkeypatch.setattr("foresee.cli.start.Signals.told", False)
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    return lambda: console.export_text().splitlines()


def test_candidates_and_their_rate(screen):
    with Watch("searching", show=True) as watch:
        watch.observe(Event("started", 0, 3))
        watch.observe(Event("asked", 0, 3, 0))
        watch.observe(Event("best", 0, 3, 0, {"merit": 1.25}))
        watch.observe(Event("scored", 1, 3, 0, {"merit": 1.25}))
        watch.observe(Event("failed", 2, 3, 1))
        watch.observe(Event("finished", 3, 3))
    lines = screen()
    assert lines[0].startswith("1/3 scored, best 1.25, ")
    assert "/s" in lines[0]
    assert "1 failed" in lines[1]
    assert "left" not in lines[-1]


def test_what_is_not_scored_is_called_otherwise(screen):
    with Watch("judging", show=True, done="trained") as watch:
        watch.observe(Event("resumed", 1, 2, details={"kept": 1}))
        watch.observe(Event("scored", 2, 2, 0))
    assert [line.split(",")[0] for line in screen()] == ["resuming: 1 of 2 are trained already", "2/2 trained"]


def test_the_time_that_is_left_is_told_after_a_few_results(screen):
    with Watch("searching", show=True) as watch:
        watch.observe(Event("started", 0, 9))
        for done in range(1, 5):
            watch.observe(Event("scored", done, 9, done))
    assert ["left" in line for line in screen()] == [False, False, True, True]


def test_what_is_replayed_is_not_work(screen):
    with Watch(show=True) as watch:
        watch.observe(Event("resumed", 0, 5, details={"kept": 2, "steps": 4}))
        watch.observe(Event("scored", 1, 5, 0, {"replayed": True}))
        watch.observe(Event("exhausted", 1, 5))
    assert screen() == [
        "resuming: 2 of 5 are scored already, and 4 steps are done",
        "every feasible architecture of the space has been proposed",
    ]


def test_steps_are_called_by_their_name(screen):
    with Watch(show=True) as watch:
        watch.observe(Event("step", 0, 5, details={"name": "rounds", "step": 1, "steps": 3, "replayed": True}))
        watch.observe(Event("step", 0, 5, details={"name": "rounds", "step": 2, "steps": 3, "replayed": False}))
        watch.observe(Event("step", 0, 5, details={"name": "rounds", "step": 3, "steps": 3, "replayed": False}))
    assert screen() == ["rounds: 2/3", "rounds: 3/3"]


def test_quiet_is_quiet_and_stopping_says_where(screen):
    watch = Watch(show=False)
    with watch:
        watch.observe(Event("started", 0, 4))
        watch.observe(Event("scored", 3, 4, 0))
    watch.stopped()
    assert screen() == ["stopped after 3 of 4; the same command goes on from there"]


def test_stages_of_ensembles_in_words(screen):
    step = {"name": "epoch 1/2", "step": 3, "steps": 8, "replayed": False}
    with Stages(show=True) as watch:
        watch.observe(Event("started", details={"name": "mc"}))
        watch.observe(Event("step", 3, 8, details={**step, "name": "supernet"}))
        watch.observe(Event("chosen", 2, 2, details={"name": "members chosen"}))
        watch.observe(Event("started", 0, 8, details={**step, "name": "epoch 0/2"}))  # of a training
        watch.observe(Event("step", 3, 8, details=step))
        watch.observe(Event("member", 1, 2, 0))
        watch.observe(Event("step", 3, 8, details=step))
        watch.observe(Event("compared", 1, 4, details={"name": "mc, seed 0", "reason": ""}))
        watch.observe(Event("compared", 2, 4, details={"name": "mc, seed 1", "reason": "no memory"}))
        watch.close()
    assert screen() == [
        "mc: supernet: 3/8",
        "mc: 2 members are chosen",
        "mc: member 1 of 2: epoch 1/2: 3/8",
        "mc: member 1 of 2 is trained",
        "mc: member 2 of 2: epoch 1/2: 3/8",
        "mc, seed 0: measured, 1 of 4",
        "mc, seed 1: failed, no memory, 2 of 4",
    ]
