"""A run is given more: it ends as one that was asked for so from the start; what may not change is refused."""

from __future__ import annotations

import json
import sqlite3
import tomllib

import pytest
from tests.searchers.stepping import Stepping
from tests.searchers.test_finalists import SEEDED, held
from tests.searchers.test_search import essence, go

import foresee as fs
from foresee.errors import SettingsMismatchError
from foresee.runs import Store, read
from foresee.searchers import Evolution, searchers
from foresee.searchers.search import as_in_run

EVOLVED = {**SEEDED, "searcher": "evolution", "searcher_settings": {"population": 4, "sample": 2}}


def state(folder):
    with Store.open(folder / "run.sqlite") as store:
        return store.get("searcher_state")


def test_an_extended_run_equals_the_one_that_asked_for_all_at_once(tmp_path):
    whole = go(tmp_path / "whole", **{**EVOLVED, "evaluations": 17})
    go(tmp_path / "r", **{**EVOLVED, "evaluations": 6})
    assert read(tmp_path / "r").status == "finished"
    run = go(tmp_path / "r", **{**EVOLVED, "evaluations": 17}, resume=True)
    assert essence(run.record) == essence(whole.record)
    assert held(run) == held(whole)
    assert state(tmp_path / "r") == state(tmp_path / "whole")
    for name in ("best.json", "settings.toml"):
        assert (tmp_path / "r" / name).read_text() == (tmp_path / "whole" / name).read_text()
    assert run.record.settings == whole.record.settings
    assert [event.details for event in run.record.events if event.kind == "resumed"] == [{"evaluations": [6, 17]}]


def test_stopped_while_it_is_extended_it_goes_on(tmp_path):
    whole = go(**{**EVOLVED, "evaluations": 14})
    go(tmp_path / "r", **{**EVOLVED, "evaluations": 6})

    def interrupt(event):
        if event.kind == "scored" and event.done >= 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "r", **{**EVOLVED, "evaluations": 14}, resume=True, observers=[interrupt])
    assert read(tmp_path / "r").settings["evaluations"] == 14
    run = go(tmp_path / "r", **{**EVOLVED, "evaluations": 14}, resume=True)
    assert (essence(run.record), held(run)) == (essence(whole.record), held(whole))


def test_finals_can_be_added_and_only_what_is_new_is_scored(tmp_path):
    go(tmp_path / "r", **SEEDED, finalists=0)
    seen = []
    run = go(tmp_path / "r", **SEEDED, finalists=2, resume=True, observers=[lambda event: seen.append(event.kind)])
    assert seen.count("finalist") == 8
    assert held(run) == held(go(**SEEDED, finalists=2))
    seen.clear()
    run = go(
        tmp_path / "r", **SEEDED, finalists=3, finalist_seeds=5, resume=True,
        observers=[lambda event: seen.append(event.kind)],
    )  # fmt: skip
    assert seen.count("finalist") == 15 - 8
    assert held(run) == held(go(**SEEDED, finalists=3, finalist_seeds=5))


def test_steps_of_a_searcher_are_extended_too(tmp_path, monkeypatch):
    monkeypatch.setitem(searchers._things, "stepping", Stepping)
    asked = {**SEEDED, "searcher": "stepping", "finalists": 0}
    whole = go(tmp_path / "whole", **{**asked, "evaluations": 11})
    go(tmp_path / "r", **{**asked, "evaluations": 5})
    run = go(tmp_path / "r", **{**asked, "evaluations": 11}, resume=True)
    assert essence(run.record) == essence(whole.record)
    assert [step.outcome for step in run.record.steps] == [step.outcome for step in whole.record.steps]


def test_what_may_not_change_is_refused_and_what_may_is_said(tmp_path):
    go(tmp_path / "r", **SEEDED)
    before = {path.name: path.read_bytes() for path in (tmp_path / "r").iterdir()}
    for change, words in (
        ({"evaluations": 4}, "evaluations: 4 here, 9 in the run, and they can only grow"),
        ({"seed": 3, "evaluations": 20}, "seed: 3 here, 0 in the run"),
        ({"proxies": ["grad_norm", "params"]}, "proxies"),
    ):
        with pytest.raises(SettingsMismatchError, match=words) as caught:
            go(tmp_path / "r", **{**SEEDED, **change}, resume=True)
        assert "may be given more evaluations, and other finalists" in str(caught.value)
    assert {path.name: path.read_bytes() for path in (tmp_path / "r").iterdir()} == before


def test_a_searcher_that_goes_by_the_total_is_not_given_more(tmp_path, monkeypatch):
    monkeypatch.setattr(Evolution, "by_total", "its pool has as many members as evaluations")
    go(tmp_path / "r", **EVOLVED)
    with pytest.raises(
        SettingsMismatchError, match=r"searcher evolution cannot be given more .* \(9 in the run\): its pool"
    ):
        go(tmp_path / "r", **{**EVOLVED, "evaluations": 12}, resume=True)
    go(tmp_path / "r", **EVOLVED, finalists=2, resume=True)


def old_run(folder):
    """A run from before there were finals: its settings do not know of them."""
    go(folder, **SEEDED, finalists=0)
    with sqlite3.connect(folder / "run.sqlite") as db:
        (plain,) = db.execute("SELECT value FROM run WHERE key='settings'").fetchone()
        kept = {key: value for key, value in json.loads(plain).items() if not key.startswith("finalist")}
        db.execute("UPDATE run SET value=? WHERE key='settings'", (json.dumps(kept),))
    db.close()


def test_a_run_from_before_there_were_finals_has_none_and_can_be_given_some(tmp_path):
    old_run(tmp_path / "r")
    assert read(tmp_path / "r").finals is None
    assert as_in_run(tmp_path / "r", resume=True) == {"evaluations": 9, "finalists": 0, "finalist_seeds": 4}
    same = go(tmp_path / "r", **SEEDED, finalists=0, resume=True)
    assert same.record.finals is None
    old_run(tmp_path / "other")
    more = go(tmp_path / "other", **SEEDED, resume=True)  # as an old settings.toml says: nothing of finals, so as usual
    assert len(more.record.finals.ranked) == 5


def test_in_python_what_is_not_said_stays_as_in_the_run(tmp_path):
    asked = {
        "space": "nasbench201", "proxies": "params", "searcher": "random", "data": "synthetic", "inputs": [3, 8, 8],
        "outputs": 4, "space_settings": {"channels": 2, "cells": 1}, "out": tmp_path / "r",
    }  # fmt: skip
    fs.search(**asked, evaluations=4, finalists=0)
    again = fs.search(**asked, resume=True)
    assert len(again.record.candidates) == 4
    more = fs.search(**asked, resume=True, evaluations=6)
    assert len(more.record.candidates) == 6
    assert more.record.finals is None
    assert tomllib.loads((tmp_path / "r" / "settings.toml").read_text())["evaluations"] == 6
    page = (tmp_path / "r" / "report.html").read_text()
    assert "6 (extended, 4 at first)" in page
