"""A run that an older foresee made, killed half-way, goes on here and ends as it would have ended there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import foresee as fs
from foresee.report import write
from foresee.runs import Store, read
from foresee.runs.record import Objective
from foresee.searchers import SearchSettings, run_search

OLD = Path(__file__).parents[1] / "runs" / "schema1"


@pytest.fixture
def killed(tmp_path):
    return Path(shutil.copytree(OLD / "killed", tmp_path / "run"))


@pytest.fixture
def finished(tmp_path):
    return Path(shutil.copytree(OLD / "finished", tmp_path / "done"))


def rows(record):
    return [
        (row.id, row.architecture, row.identity, row.parent, row.status, row.reason, dict(row.counts))
        for row in record.candidates
    ]


def numbers(record):
    return [
        number
        for row in record.candidates
        for number in (row.merit, *(row.scores[name].value for name in sorted(row.scores)))
        if number is not None
    ]


def test_the_killed_run_is_half_a_run(killed):
    record = read(killed)
    assert sum(row.status == "scored" for row in record.candidates) == 13
    assert record.objectives == (Objective("grad_norm", "higher"),)


@pytest.mark.parametrize("engine", ["serial", pytest.param("processes", marks=pytest.mark.slow)])
def test_it_is_resumed_and_ends_as_the_one_that_was_never_stopped(killed, finished, engine):
    before = read(killed)
    settings = SearchSettings.of_run(before.settings)
    run = run_search(settings, out=killed, resume=True, engine=engine, workers=2 if engine == "processes" else None)
    whole = read(finished)
    assert rows(run.record) == rows(whole)
    # Scores made now come from this machine; another processor rounds the last digits of float32 differently.
    assert numbers(run.record) == pytest.approx(numbers(whole), rel=2e-3)
    assert [row.merit for row in run.record.candidates[:13]] == [row.merit for row in whole.candidates[:13]]
    best, theirs = (json.loads((folder / "best.json").read_text()) for folder in (killed, finished))
    assert best["architecture"] == theirs["architecture"]
    assert (killed / "run.schema1.sqlite").exists()
    assert run.record.candidates[-1].scores["jacov"].parts == {}


def test_a_finished_one_opens_reports_and_builds(finished):
    before = (finished / "run.sqlite").read_bytes()
    run = fs.Run.open(finished)
    assert run.best.build() is not None
    assert run.record.best.objectives == {"grad_norm": run.record.best.scores["grad_norm"].value}
    report = write(finished)
    assert str(run.best.architecture) in report.read_text()
    assert (finished / "run.sqlite").read_bytes() == before  # reading changes nothing
    again = run_search(SearchSettings.from_json(run.record.settings), out=finished, resume=True)
    assert rows(again.record) == rows(run.record)
    with Store.open(finished / "run.sqlite") as store:
        assert store.get("searcher_state")["asked"] == 30
