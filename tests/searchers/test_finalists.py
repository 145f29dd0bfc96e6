"""The finals at the end of a search: stored as they come, resumed exactly, the same under every engine."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from tests.searchers.test_search import essence, go
from torch import nn

import foresee as fs
from foresee.runs import Event, read
from foresee.scoring.scorer import Job, Scorer

SEEDED = {"proxies": ["grad_norm"], "batch_size": 4, "evaluations": 9, "searcher": "random", "searcher_settings": {}}


class Moody(nn.Module):
    """Works or not by its weights, so by the seed."""

    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(12, width)

    def forward(self, x):
        last = self.layer.weight.flatten()[-1]
        if not last.is_meta and last > 0.2:
            raise RuntimeError("not with these weights")
        return self.layer(x.flatten(1))[:, :2]


def moody_net(pick):
    return Moody(pick("width", [2, 3, 4, 5, 6, 7, 8, 9]))


def held(run):
    """What the finals gave, by candidate."""
    return {one.candidate: one.values for one in run.record.finals.ranked}, run.record.finals.lead


def test_the_best_five_are_scored_again_under_four_seeds_and_the_first_of_them_is_the_best():
    run = go(**SEEDED)
    found = run.record.finals
    assert found.chosen == tuple(row.id for row in run.record.scored[:5])
    assert [len(one.values) for one in found.ranked] == [4] * 5
    means = [sum(one.values) / 4 for one in found.ranked]
    assert means == sorted(means, reverse=True)
    assert str(run.best.architecture) == run.record.candidates[found.ranked[0].candidate].architecture


def test_a_fresh_score_is_the_score_under_that_seed():
    run = go(**SEEDED)
    event = next(event for event in run.record.events if event.kind == "finalist")
    row = run.record.candidates[event.candidate]
    scoring = replace(run._settings.scoring, seed=event.details["seed"])
    (again,) = Scorer(run._settings.space, scoring)(Job((row.architecture,), ("grad_norm",), scoring.seed))
    assert again.scores[0].value == event.details["value"]
    assert again.scores[0].value != row.scores["grad_norm"].value


def test_the_search_itself_is_what_it_was_without_finals():
    without = go(**SEEDED, finalists=0)
    assert essence(without.record) == essence(go(**SEEDED).record)
    assert without.record.finals is None
    assert without.record.best == without.record.scored[0]
    assert "finalist" not in {event.kind for event in without.record.events}


@pytest.mark.parametrize("after", [1, 8, 19])
def test_stopped_in_the_finals_it_goes_on_there_and_ends_the_same(tmp_path, after):
    whole = go(tmp_path / "whole", **SEEDED)
    events: list[Event] = []

    def interrupt(event):
        events.append(event)
        if [one.kind for one in events].count("finalist") == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "r", **SEEDED, observers=[interrupt])
    half = read(tmp_path / "r")
    assert (half.status, half.finals, half.best) == ("interrupted", None, half.scored[0])
    seen: list[Event] = []
    resumed = go(tmp_path / "r", **SEEDED, resume=True, observers=[seen.append])
    assert [one.kind for one in seen].count("finalist") == 20 - after
    assert held(resumed) == held(whole)
    assert json.loads((tmp_path / "r" / "best.json").read_text()) == json.loads(
        (tmp_path / "whole" / "best.json").read_text()
    )


def test_processes_give_what_serial_gives():
    assert held(go(**SEEDED)) == held(go(**SEEDED, engine="processes", workers=2))


def test_fewer_where_fewer_were_scored():
    run = go(**{**SEEDED, "evaluations": 2})
    assert len(run.record.finals.ranked) == 2
    alone = go(**{**SEEDED, "evaluations": 1})
    assert (alone.record.finals.lead, alone.record.finals.verdict) == (None, "")


@pytest.mark.parametrize("objectives", [["grad_norm", "params"], ["params"]])
def test_no_finals_where_no_single_one_is_first_or_no_seed_changes_anything(objectives):
    run = go(**SEEDED, objectives=objectives)
    assert run.record.finals is None
    assert run.best


def test_one_that_fails_under_a_fresh_seed_is_no_winner():
    run = go(**{**SEEDED, "space": f"{__name__}:moody_net"}, finalist_seeds=3, seed=1)
    ranked = run.record.finals.ranked
    failed = [bool(one.reason) for one in ranked]
    assert failed == sorted(failed)
    assert any(failed)
    assert not all(failed)
    assert "not with these weights" in ranked[-1].reason


def test_what_depends_on_no_seed_is_told_apart_by_its_value():
    run = go()
    assert run.record.finals.lead.low == run.record.finals.lead.high
    assert run.record.best == run.record.scored[0]


def test_a_search_in_memory_has_finals_too():
    run = fs.search(
        "nasbench201", "grad_norm", "random", evaluations=3, finalists=2, data="synthetic", inputs=[3, 8, 8], outputs=4,
        space_settings={"channels": 2, "cells": 1}, batch_size=4,
    )  # fmt: skip
    assert len(run.record.finals.ranked) == 2
    assert run.best.build()(torch.zeros(2, 3, 8, 8)).shape == (2, 4)
