"""The foremost of a search, trained: who they are, that they go on, and who is named."""

from __future__ import annotations

import json

import numpy
import pytest
import torch

import foresee as fs
from foresee.cli.progress import Epochs
from foresee.errors import InputError, RunError, TrainingError
from foresee.searchers import foremost as module
from foresee.searchers.foremost import foremost, summary, train_best
from foresee.training.recipe import recipe

SPACE = {"channels": 2, "cells": 1}
FAST = recipe("fast", epochs=1, batch=32)


@pytest.fixture(scope="module")
def data():
    draws = torch.Generator().manual_seed(0)
    labels = torch.arange(64) % 3
    return torch.randn(64, 3, 8, 8, generator=draws) + labels.view(-1, 1, 1, 1), labels


def search(data, **more):
    given = {"searcher": "random", "evaluations": 6, "finalists": 2, "space_settings": SPACE, "outputs": 3}
    return fs.search("nasbench201", ["params"], data=data, **{**given, **more})


def test_the_foremost_are_distinct_and_in_order(data):
    run = search(data)
    rows = foremost(run.record, 4)
    assert rows[0].id == run.record.best.id
    assert len({row.identity for row in rows}) == 4
    finals = [one.candidate for one in run.record.finals.ranked]
    assert [row.id for row in rows[:2]] == finals
    assert [row.merit for row in rows[2:]] == sorted((row.merit for row in rows[2:]), reverse=True)
    assert len(foremost(run.record, 99)) <= 6
    with pytest.raises(InputError, match="at least 1"):
        foremost(run.record, 0)


def test_a_search_that_trains(data, tmp_path):
    run = search(data, train_best=2, recipe=FAST, out=tmp_path / "run")
    assert run.trained is not None
    assert len(run.trained.foremost) == 2
    best = run.trained.best
    assert best.trained.validation.merit == max(one.trained.validation.merit for one in run.trained.foremost)
    folder = tmp_path / "run"
    for one in run.trained.foremost:
        assert (folder / "trained" / str(one.id) / "report.html").exists()
        assert json.loads((folder / "trained" / str(one.id) / "architecture.json").read_text())["task"]["outputs"] == 3
    assert summary(folder)["best"] == best.id
    page = (folder / "report.html").read_text()
    assert f"candidate {best.id} is the best by validation" in page
    assert "Nothing was trained" not in page
    # the same call goes on: nothing is trained twice
    seen = []
    again = search(data, train_best=2, recipe=FAST, out=folder, resume=True, observers=[seen.append])
    assert not [event for event in seen if event.kind == "epoch"]
    assert again.trained.best.id == best.id
    assert "best" in repr(again.trained)


@pytest.mark.slow
def test_side_by_side_the_numbers_are_the_same_and_failures_have_reasons(data, tmp_path):
    path = tmp_path / "data.npz"
    numpy.savez(path, images=data[0].numpy(), labels=data[1].numpy())
    seen = []
    found = {}
    for workers in (1, 2):
        run = search(str(path), out=tmp_path / str(workers))
        found[workers] = train_best(run, 2, FAST, workers=workers, observers=[seen.append])
    first, second = ([one.trained.validation for one in found[workers].foremost] for workers in (1, 2))
    assert first == second
    assert found[1].best.id == found[2].best.id
    steps = [event for event in seen if event.kind == "step" and "at once" in event.details["name"]]
    assert [(one.done, one.total) for one in steps] == [(0, 2), (1, 2), (2, 2)]
    with Epochs("training", show=True) as watch:  # the command's own watcher understands them
        for event in steps:
            watch.observe(event)
    for one in found[2].foremost:
        assert (tmp_path / "2" / "trained" / str(one.id) / "report.html").exists()
    run = search(str(path), out=tmp_path / "bad")
    failed = train_best(run, 2, FAST, workers=2, lr=1e30)
    assert all("loss" in one.reason for one in failed.foremost), [one.reason for one in failed.foremost]


def test_one_that_cannot_be_trained_has_a_reason(data, tmp_path, monkeypatch):
    run = search(data, out=tmp_path)
    real, calls = module.train, []

    def train(*given, **named):
        calls.append(1)
        if len(calls) == 1:
            raise TrainingError("the loss is nan at step 3")
        return real(*given, **named)

    monkeypatch.setattr(module, "train", train)
    found = train_best(run, 2, FAST, data=data)
    assert found.foremost[0].reason == "the loss is nan at step 3"
    assert found.best is found.foremost[1]
    fs.report.write(tmp_path, run.record, run.made_space)
    assert "the loss is nan at step 3" in (tmp_path / "report.html").read_text()

    def never(*given, **named):
        raise TrainingError("no")

    monkeypatch.setattr(module, "train", never)
    with pytest.raises(RunError, match="none of the 1 foremost could be trained"):
        _ = train_best(run, 1, FAST, data=data).best


def test_mistakes(data):
    with pytest.raises(InputError, match="did you mean fast"):
        search(data, train_best=1, recipe="fats")
    run = search("synthetic", inputs=(3, 8, 8))
    with pytest.raises(InputError, match="synthetic data cannot be learnt from"):
        train_best(run, 1)


def test_a_damaged_summary_is_no_summary(tmp_path):
    assert summary(None) is None
    assert summary(tmp_path) is None
    for text in ("{", "[]", '{"foremost": 3}'):
        (tmp_path / "trained.json").write_text(text)
        assert summary(tmp_path) is None
