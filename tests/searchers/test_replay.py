"""What is stored, met again block by block."""

from __future__ import annotations

import pytest

import foresee as fs
from foresee.errors import RunError
from foresee.runs.store import Store
from foresee.scoring import Scorer, ScoringSettings
from foresee.searchers import replay
from foresee.searchers.problem import Problem
from foresee.searchers.replay import Replay

ASKED = {"proxies": "params", "searcher": "random", "data": "synthetic", "finalists": 0}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(replay, "BLOCK", 4)
    return fs.search("nasbench201", evaluations=10, out=tmp_path / "run", **ASKED), tmp_path / "run" / "run.sqlite"


def problem(evaluations=10):
    return Problem(Scorer("nasbench201", ScoringSettings(proxies=("params",))), evaluations=evaluations)


def test_rows_come_in_blocks_and_two_are_in_hand(run):
    found, path = run
    with Store.open(path) as store:
        met = Replay(store, problem())
        met.check()
        assert (met.kept, met.last) == (10, 9)
        for row in found.record.candidates:
            assert met.get(row.id) == row
            assert len(met._blocks) <= 2
        assert met.get(10) is None


def test_what_was_counted_is_not_counted_again(run, monkeypatch):
    found, path = run
    asked = problem()
    with Store.open(path) as store:
        met = Replay(store, asked)
        met.get(9)
        row = found.record.candidates[9]
        monkeypatch.setattr(type(asked.space), "counts", lambda *_: pytest.fail("counted again"))
        assert asked.costs(asked.space.parse(row.architecture))["params"] == row.counts["params"]


def test_a_candidate_without_a_place_is_refused(run):
    with Store.open(run[1]) as store, pytest.raises(RunError, match="candidate 5: there is no place for it"):
        Replay(store, problem(evaluations=5)).check()


def test_an_interrupted_run_of_many_blocks_ends_as_an_undisturbed_one(run, tmp_path):
    whole, _ = run

    class Stop(BaseException):
        pass

    def stop(event):
        if event.kind == "scored" and event.done == 7:
            raise Stop

    with pytest.raises(Stop):
        fs.search("nasbench201", evaluations=10, out=tmp_path / "other", observers=[stop], **ASKED)
    again = fs.search("nasbench201", evaluations=10, out=tmp_path / "other", resume=True, **ASKED)
    assert [row.architecture for row in again.record.candidates] == [r.architecture for r in whole.record.candidates]
    assert [row.merit for row in again.record.candidates] == [row.merit for row in whole.record.candidates]


def test_an_older_run_that_holds_long_identities_goes_on(tmp_path):
    small = {**ASKED, "space_settings": {"channels": 4, "layers": 3}}
    fs.search("darts", evaluations=3, out=tmp_path / "run", **small)
    space = fs.spaces.get("darts")
    with Store.open(tmp_path / "run" / "run.sqlite", write=True) as store:
        for row in store.candidates():
            assert row.identity.startswith("blake2b:")
            long = space.canonical(space.parse(row.architecture))
            store._connection.execute("UPDATE candidates SET identity=? WHERE id=?", (long, row.id))
    longer = fs.search("darts", evaluations=5, out=tmp_path / "run", resume=True, **small)
    assert longer.status == "finished"
    assert longer.best.details["identity"] == space.canonical(longer.best.architecture)
