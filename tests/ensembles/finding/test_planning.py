"""A comparison by several processes: planned, trained one by one, put together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.ensembles.finding.tiny import NB201, TINY, images

from foresee.ensembles.finding import compare_ensembles, members, plan, train_planned, train_what_is_left
from foresee.ensembles.finding.planning import planned
from foresee.errors import InputError, RunError
from foresee.runs.folder import RunFolder

SAMPLERS = ["mc", "nes-rs", "deep"]
HOW = {**TINY, **NB201, "pool": 3}


def test_several_processes_share_the_work(tmp_path, monkeypatch):
    alone = compare_ensembles(data=images(), samplers=SAMPLERS, seeds=1, **HOW)
    count = plan(data=images(), samplers=SAMPLERS, seed=0, out=tmp_path, **HOW)
    pool = tmp_path / "seed-0" / "pool"
    for number in reversed(range(count)):
        assert Path(train_planned(tmp_path, 0, number, images())).parent == pool
    assert len(list(pool.iterdir())) == count
    with pytest.raises(InputError, match="that are planned"):
        train_planned(tmp_path, 0, count, images())
    with pytest.raises(RunError, match="plan the comparison first"):
        train_planned(tmp_path, 1, 0, images())
    monkeypatch.setattr(members, "train", None)
    found = compare_ensembles(data=images(), samplers=SAMPLERS, seeds=1, out=tmp_path, **HOW)
    assert [one.measures for one in found.rows] == [one.measures for one in alone.rows]


def test_processes_pass_over_what_others_train(tmp_path):
    count = sum(plan(data=images(), samplers=["deep"], seed=seed, out=tmp_path, **HOW) for seed in (0, 1))
    busy = tmp_path / "seed-1" / "pool" / planned(tmp_path, 1)[1][0].key
    held = RunFolder(busy)
    held.hold()
    done = train_what_is_left(tmp_path, [0, 1], images(), place=3)
    held.release()
    assert count == 4
    assert len(done) == 3
    assert busy not in done
    assert train_what_is_left(tmp_path, [0, 1], images()) == [busy]
    assert train_what_is_left(tmp_path, [0, 1], images()) == []


def test_a_plan_holds_what_can_be_trained_in_any_order(tmp_path):
    how = {**HOW, "population": 2}
    assert plan(data=images(), samplers=["snapshot", "nes-re"], seed=0, out=tmp_path, **how) == 1 + 2
    assert plan(data=images(), samplers=["droppath"], seed=1, out=tmp_path, **how) == 0  # the comparison says why


def test_code_that_a_plan_names_is_not_run(tmp_path):
    plan(data=images(), samplers=["deep"], seed=0, out=tmp_path, **HOW)
    path = tmp_path / "seed-0" / "plan.json"
    plain = json.loads(path.read_text())
    plain["settings"]["space"] = "nets:make_net"
    path.write_text(json.dumps(plain))
    with pytest.raises(InputError, match="no code is run because a file names it"):
        train_planned(tmp_path, 0, 0, images())
