"""On a cluster of two machines that are none: two Ray nodes of this one, with a core each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.runs.dying import DieOnce

from foresee.errors import InputError, RunError
from foresee.runs import engines
from foresee.runs.engines import ray as room
from foresee.runs.engines.cluster import ADDRESS, Cluster
from foresee.runs.engines.ray import LOSSES, Ray
from foresee.runs.engines.sealed import sealed
from foresee.testing import EngineSuite

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'foresee[ray]'")


#: seconds after which something that should have happened has not
PATIENCE = 180.0
#: a search of networks that take milliseconds
SEARCH = {
    **{"space": "nasbench201", "space_settings": {"channels": 4, "cells": 1}, "inputs": [3, 8, 8], "data": "synthetic"},
    **{"searcher": "evolution", "evaluations": 60, "proxies": ["synflow", "naswot"], "batch_size": 8, "finalists": 0},
}


@pytest.fixture(scope="module")
def cluster():
    """A head with one core and a second node with another; this process has joined it by itself."""
    from ray.cluster_utils import Cluster as Nodes

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    made = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.second = made.add_node(num_cpus=1)
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
class TestRay(EngineSuite):
    engine = "ray"
    patience = PATIENCE


def drain(engine, count):
    return {outcome.job: outcome for outcome in (engine.wait() for _ in range(count))}


def until(true):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"not within {PATIENCE:g} s"
        time.sleep(0.05)


def found(run):
    """What a run has found, to the last bit."""
    return [
        (row.id, row.architecture, row.parent, row.merit, {name: one.value for name, one in row.scores.items()})
        for row in run.record.candidates
    ]


@pytest.fixture(scope="module")
def serial():
    from foresee.searchers import SearchSettings, run_search

    return found(run_search(SearchSettings.of(**SEARCH)))


# -- what dies ----------------------------------------------------------------------------------------------------------
class Stuck:
    """Squares; on one machine it leaves a mark and never ends, on the others it waits for that mark."""

    def __init__(self, machine, mark):
        self.machine, self.mark = machine, mark

    def __call__(self, payload):
        if ray.get_runtime_context().get_node_id() == self.machine:
            Path(self.mark).touch()
            time.sleep(3600)
        until(Path(self.mark).exists)
        return payload * payload


@pytest.mark.slow
def test_a_machine_that_goes_away_costs_nobody_anything_and_one_that_joins_is_used(cluster, serial, tmp_path):
    """At work when it goes; then a whole search while it goes, and another comes."""
    mark = tmp_path / "mark"
    with Ray(Stuck(cluster.second.node_id, str(mark)), 2) as engine:
        for job in range(6):
            engine.submit(job, job)
        first = engine.wait()
        assert mark.exists()
        cluster.remove_node(cluster.second, allow_graceful=False)
        outcomes = {first.job: first, **drain(engine, 5)}
    assert [(outcomes[job].value, outcomes[job].error) for job in range(6)] == [(job * job, None) for job in range(6)]
    assert sorted(one.attempts for one in outcomes.values()) == [1, 1, 1, 1, 1, 2]

    from foresee.searchers import SearchSettings, run_search

    def change(event):
        if event.kind == "scored" and event.done == 5:
            cluster.second = cluster.add_node(num_cpus=1)
        if event.kind == "scored" and event.done == 30:
            cluster.remove_node(cluster.second, allow_graceful=False)

    assert found(run_search(SearchSettings.of(**SEARCH), engine="ray", observers=[change])) == serial
    cluster.second = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()


@pytest.mark.slow
def test_a_run_whose_driver_is_killed_goes_on(cluster, serial, tmp_path):
    """By SIGKILL in the middle; its workers leave the cluster, and another process ends the run as if nothing had been."""
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps(SEARCH))
    script = (
        "import json, sys, time; from foresee.searchers import SearchSettings, run_search\n"
        "def slow(event):\n    print(event.done, flush=True); time.sleep(0.1)\n"
        "run_search(SearchSettings.of(**json.load(open('settings.json'))), out='run', engine='ray', observers=[slow])"
    )
    driver = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, ADDRESS: cluster.address},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout is not None
    for line in driver.stdout:
        if int(line) >= 20:
            break
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    driver.stdout.close()

    from foresee.searchers import SearchSettings, run_search

    kinds = []
    gone_on = run_search(
        SearchSettings.of(**SEARCH),
        out=tmp_path / "run",
        resume=True,
        engine="ray",
        observers=[lambda event: kinds.append((event.kind, event.details.get("replayed")))],
    )
    assert found(gone_on) == serial
    assert 15 <= kinds.count(("scored", True)) < 60


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_small_jobs_travel_in_groups_and_a_group_that_dies_is_done_one_by_one(tmp_path):
    with Ray(DieOnce(str(tmp_path)), 1) as engine:
        for job in range(100):
            engine.submit(job, -90 if job == 90 else job)
        calls, collect = [], engine._group

        def group():
            calls.append(collect())
            return calls[-1]

        engine._group = group
        outcomes = drain(engine, 100)
    assert [outcomes[job].value for job in range(100)] == [-180 if job == 90 else 2 * job for job in range(100)]
    assert {one.attempts for one in outcomes.values()} == {1}
    assert len(calls) < 60


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_where_none_can_start_the_reason_is_said():
    class Arrives:
        def __reduce__(self):
            return exec, ("raise LookupError('it is not here')",)

    with Ray(Arrives(), 1) as engine:
        engine.submit(0, 1)
        with pytest.raises(
            RunError, match=r"3 workers in a row could not start \(the last: LookupError: it is not here\)"
        ):
            engine.wait()


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_a_card_that_no_machine_has_is_said(monkeypatch):
    class OnCards:
        device = "cuda"

        def __call__(self, payload):
            return payload

    monkeypatch.setattr(room, "LOOK", 0.1)
    monkeypatch.setattr(room, "PATIENCE", 0.5)
    with Ray(OnCards()) as engine:
        engine.submit(0, 1)
        with pytest.raises(
            RunError, match=r"no machine of the cluster has a GPU for a worker \(2 machines, 2 cores, 0 GPUs\)"
        ):
            engine.wait()


class Cards:
    """Says which card its worker sees, when as many as there are to be have begun."""

    device = "cuda"

    def __init__(self, folder):
        self.folder = Path(folder)

    def __call__(self, many):
        seen = os.environ["CUDA_VISIBLE_DEVICES"]
        (self.folder / f"{os.getpid()}").touch()
        until(lambda: len(list(self.folder.iterdir())) >= many)
        return seen


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "seen"), [(None, ["0", "1"]), (4, ["0", "0", "1", "1"])])
def test_each_worker_has_a_card_of_its_own_or_its_share_of_one(cluster, tmp_path, workers, seen):
    """Cards that are only said to be there: Ray counts them, and nobody looks."""
    machine = cluster.add_node(num_cpus=1, num_gpus=2)
    cluster.wait_for_nodes()
    try:
        with Ray(Cards(tmp_path), workers) as engine:
            assert engine.workers == len(seen)
            for job in range(len(seen)):
                engine.submit(job, len(seen))
            outcomes = drain(engine, len(seen))
    finally:
        cluster.remove_node(machine)
    assert sorted(str(one.value) for one in outcomes.values()) == seen


# -- without a cluster --------------------------------------------------------------------------------------------------
def test_workers_are_at_least_one_and_work_must_travel(monkeypatch):
    with pytest.raises(InputError, match="workers 0: at least 1 is needed"):
        Ray(abs, 0)
    assert engines.make("ray", abs, 3).workers == 3
    monkeypatch.setattr(Cluster, "join", lambda self: ray)
    engine = Ray((_ for _ in ()), 1)
    with pytest.raises(RunError, match="the work cannot be handed to other machines"):
        engine.submit(0, 1)
    other = Ray(abs, 1)
    other.submit(0, (_ for _ in ()))
    assert (other.wait().error or "").startswith("the payload cannot be handed over (TypeError")


def test_groups_hold_a_quarter_of_a_second_and_leave_something_for_others():
    engine = Ray(abs, 2)
    engine._queue.extend(room._Task(job, sealed(job)) for job in range(100))
    assert len(engine._group()) == 1  # nothing is measured yet
    engine._pace = 0.025
    assert [task.job for task in engine._group()] == list(range(1, 11))
    engine._pace = 1e-9
    assert len(engine._group()) == 22  # a quarter of those that are left, for two workers
    engine._pace = 10.0
    assert len(engine._group()) == 1
    engine._pace = 0.025
    engine._queue[2].alone = True
    assert [len(engine._group()) for _ in range(3)] == [2, 1, 10]


class Gone:
    """A cluster whose workers have all ended."""

    class ray:
        @staticmethod
        def kill(actor):
            raise RuntimeError("there is nobody")


def ended(engine, tasks, error):
    engine._cluster = Gone
    engine._bury(room._Hand(None, None, tasks, started=True), error)


class ActorDiedError(Exception):
    pass


CRASH = ActorDiedError("The actor died.\n\tpid: 7\nIts worker process has died.   Exit type: SYSTEM_ERROR")


def test_who_is_to_blame():
    engine = Ray(abs, 1)
    one, two = (room._Task(job, b"") for job in range(2))
    ended(engine, [one, two], CRASH)  # nobody knows who of the two it was
    assert [task.alone for task in engine._queue] == [True, True]
    assert [task.ended for task in engine._queue] == [0, 0]
    ended(engine, [engine._queue.popleft()], CRASH)
    assert (one.deaths, list(engine._queue)) == (1, [one, two])
    ended(engine, [engine._queue.popleft()], CRASH)
    outcome = engine._ready.popleft()
    assert (outcome.job, outcome.attempts) == (0, 2)
    assert outcome.error == "the worker died 2 times (Its worker process has died. Exit type: SYSTEM_ERROR)"
    for error in (ActorDiedError("dead because its node has died"), ConnectionError("nobody answers")) * 2:
        ended(engine, [engine._queue.popleft()], error)
    assert (two.losses, two.deaths, list(engine._queue)) == (LOSSES - 1, 0, [two])
    ended(engine, [engine._queue.popleft()], ConnectionError("nobody answers"))
    assert engine._ready.popleft().error == "the worker died 5 times (nobody answers)"
