"""The loop of a search on a space that costs nothing."""

from __future__ import annotations

import json
import random
import shutil

import pytest
import torch
from torch import nn

import foresee as fs
from foresee.errors import InfeasibleError, InputError, RunError, SettingsMismatchError, UnknownNameError
from foresee.runs import Event, RunFolder, Store, read
from foresee.searchers import SearchSettings, run_search


def small_net(pick):
    width = pick("width", [2, 3, 4, 5, 6, 7, 8])
    depth = pick("depth", [1, 2, 3])
    layers = [nn.Flatten(), nn.Linear(12, width), nn.ReLU()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 2))


def fragile_net(pick):
    width = pick("width", [2, 3, 4, 5])
    if width == 4 and not torch.empty(0).is_meta:
        raise RuntimeError("four is unlucky")
    return nn.Sequential(nn.Flatten(), nn.Linear(12, width), nn.Linear(width, 2))


def go(out=None, **changes):
    settings = {
        "space": f"{__name__}:small_net",
        "proxies": ["params"],
        "searcher": "evolution",
        "searcher_settings": {"population": 4, "sample": 2},
        "evaluations": 12,
        "data": "synthetic",
        "inputs": [3, 2, 2],
        "outputs": 2,
        **changes,
    }
    kept = {key: settings.pop(key) for key in ("engine", "workers", "resume", "observers") if key in settings}
    return run_search(SearchSettings.from_json(settings), out=out, **kept)


def essence(record):
    """All that must not depend on engine, interruption or time."""
    return [
        (
            *(c.id, c.architecture, c.identity, c.parent, c.status, c.reason, c.merit, dict(c.counts), c.attempts),
            *((s.proxy, s.value, s.status, s.seed) for s in c.scores.values()),
        )
        for c in record.candidates
    ]


def test_finds_the_largest_net_within_the_limit():
    run = go(evaluations=21, limits={"params": {"max": 120}})
    params = [c.counts["params"] for c in run.record.candidates]
    assert max(params) <= 120
    assert run.record.best.counts["params"] == max(params)
    assert run.best.build()(torch.zeros(1, 3, 2, 2)).shape == (1, 2)


def test_every_architecture_once_then_it_stops():
    events: list[Event] = []
    run = go(evaluations=100, observers=[events.append])
    assert len(run.record.candidates) == 21
    assert len({c.identity for c in run.record.candidates}) == 21
    assert "exhausted" in {event.kind for event in events}
    assert run.status == "finished"


def test_a_limit_that_nothing_meets_names_the_nearest_miss():
    with pytest.raises(InfeasibleError, match=r'params ≤ 10 .*"width":2.* with params 32'):
        go(limits={"params": {"max": 10}})


def test_same_seed_same_run_other_seed_other_run():
    assert essence(go(seed=3).record) == essence(go(seed=3).record)
    assert essence(go(seed=3).record) != essence(go(seed=4).record)


def test_processes_give_what_serial_gives():
    assert essence(go().record) == essence(go(engine="processes", workers=2).record)


def test_an_existing_run_is_never_overwritten(tmp_path):
    go(tmp_path / "r")
    before = (tmp_path / "r" / "run.sqlite").read_bytes()
    with pytest.raises(RunError, match="--resume"):
        go(tmp_path / "r")
    assert (tmp_path / "r" / "run.sqlite").read_bytes() == before


def test_resume_starts_where_there_is_nothing_and_ends_where_all_is_done(tmp_path):
    first = go(tmp_path / "r", resume=True)
    again = go(tmp_path / "r", resume=True)
    assert essence(first.record) == essence(again.record)


def test_other_settings_are_refused_with_the_difference(tmp_path):
    go(tmp_path / "r")
    with pytest.raises(SettingsMismatchError, match=r"seed: 5 here, 0 in the run") as caught:
        go(tmp_path / "r", resume=True, seed=5, limits={"params": {"max": 100}})
    assert "limits.params.max: 100 here, unset in the run" in str(caught.value)


@pytest.mark.parametrize("when", [0, 1, 5, 9, 12])
def test_interrupted_and_resumed_equals_never_stopped(tmp_path, when):
    whole = go(tmp_path / "whole")

    def interrupt(event):
        if event.kind == "scored" and event.done >= when:
            raise KeyboardInterrupt

    if when < 12:
        with pytest.raises(KeyboardInterrupt):
            go(tmp_path / "r", observers=[interrupt])
        assert read(tmp_path / "r").status == "interrupted"
    resumed = go(tmp_path / "r", resume=True)
    assert essence(resumed.record) == essence(whole.record)
    assert json.loads((tmp_path / "r" / "best.json").read_text()) == json.loads(
        (tmp_path / "whole" / "best.json").read_text()
    )


def test_a_network_that_cannot_be_built_is_a_failed_candidate_with_its_reason():
    run = go(space=f"{__name__}:fragile_net", searcher="random", searcher_settings={}, evaluations=4)
    failed = [c for c in run.record.candidates if c.status == "failed"]
    assert all("unlucky" in c.reason for c in failed)
    assert run.status == "finished"


def test_best_builds_in_python_and_from_json(tmp_path):
    run = go(tmp_path / "r")
    network = fs.build(tmp_path / "r", space=small_net)
    torch.manual_seed(0)
    x = torch.randn(2, 3, 2, 2)
    assert torch.equal(network(x), run.best.build()(x))
    assert fs.Run.open(tmp_path / "r", space=small_net).best.architecture == run.best.architecture


def test_search_takes_tensors_and_spaces():
    space = fs.spaces.own(small_net)
    inputs, labels = torch.randn(8, 3, 2, 2), torch.randint(0, 2, (8,))
    run = fs.search(space, "grad_norm", "random", evaluations=3, data=(inputs, labels))
    assert len(run.record.scored) == 3
    assert run.best.build()(inputs).shape == (8, 2)


def test_a_wrong_name_leaves_no_folder(tmp_path):
    for wrong in ({"engine": "threads"}, {"searcher": "evolutoin"}, {"proxies": ["parms"]}, {"data": "nowhere"}):
        with pytest.raises(InputError):
            go(tmp_path / "r", **wrong)
        assert not (tmp_path / "r").exists()


def test_bad_names_and_values_are_named():
    with pytest.raises(UnknownNameError, match="did you mean evolution"):
        go(searcher="evolutoin")
    with pytest.raises(UnknownNameError, match="proxy"):
        go(proxies=["parms"])
    with pytest.raises(InputError, match="population"):
        go(searcher_settings={"population": 0})
    with pytest.raises(InputError, match="did you mean population"):
        go(searcher_settings={"popluation": 10})


def test_observers_see_every_candidate_once():
    events: list[Event] = []
    go(observers=[events.append])
    assert [e.candidate for e in events if e.kind == "scored"] == list(range(12))
    assert events[-1].kind == "finished"
    merits = [e.details["merit"] for e in events if e.kind == "best"]
    assert merits == sorted(merits)


def test_rng_streams_do_not_leak_into_the_global_state():
    random.seed(1)
    torch.manual_seed(1)
    before = (random.getstate(), torch.get_rng_state())
    go()
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


def test_a_score_does_not_depend_on_the_company():
    """zico wants two batches and others one: together they must say what they say alone."""
    alone = go(proxies=["zico"], evaluations=3, batch_size=8).record
    together = go(proxies=["zico", "grad_norm", "naswot"], evaluations=3, batch_size=8).record
    for one, other in zip(alone.candidates, together.candidates, strict=True):
        assert one.scores["zico"].value == other.scores["zico"].value


def test_rare_feasible_points_are_found_and_the_rate_is_told():
    """About one NAS-Bench-101 cell in thousands is this small in params and large in MACs at once."""
    space = fs.spaces.get("nasbench101", channels=8, stacks=1, cells=1)
    task = fs.Task((3, 8, 8), 4)
    rng = random.Random(0)
    params = sorted(space.counts(space.sample(rng), task).params for _ in range(1000))
    bound = params[0] - 1  # smaller than any of a thousand draws
    run = fs.search(
        space,
        "params",
        "random",
        [fs.budgets.params <= bound],
        evaluations=4,
        data="synthetic",
        inputs=[3, 8, 8],
        outputs=4,
    )
    assert len(run.record.scored) == 4
    assert all(row.counts["params"] <= bound for row in run.record.candidates)
    [rate] = [event.details["acceptance"] for event in run.record.events if event.kind == "finished"]
    assert 0 < rate < 0.2


def test_a_function_that_cannot_be_found_again_is_named_by_the_person(tmp_path):
    """As in a notebook: a file cannot name the function, so whoever opens the run hands it over again."""
    space = fs.spaces.own(lambda pick: nn.Sequential(nn.Flatten(), nn.Linear(12, pick("width", [2, 3]))))
    asked = {"evaluations": 2, "data": "synthetic", "inputs": [3, 2, 2], "outputs": 3, "out": tmp_path / "r"}
    run = fs.search(space, "params", "random", **asked)
    assert run.best.build()(torch.zeros(1, 3, 2, 2)).shape == (1, 3)
    with pytest.raises(InputError, match="no code is run because a file names it"):
        fs.Run.open(tmp_path / "r").best.build()
    assert fs.Run.open(tmp_path / "r", space=space).best.build()(torch.zeros(1, 3, 2, 2)).shape == (1, 3)
    other = fs.spaces.own(lambda pick: nn.Sequential(nn.Flatten(), nn.Linear(12, pick("width", [2, 3, 4]))))
    with pytest.raises(RunError, match="source"):
        fs.search(other, "params", "random", **asked, resume=True)


def test_a_device_that_is_not_there_is_said_before_anything_is_made(tmp_path):
    with pytest.raises(InputError, match="device 'cuda:99' cannot be used here"):
        go(device="cuda:99", out=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def timed(monkeypatch):
    """A clock that says something else at every measurement, and a list of how often it was asked."""
    from foresee.budgets import clock

    asked = []

    def time_network(network, inputs):
        asked.append(network)
        return clock.Timing(1e-3 + 1e-6 * len(asked), 0.0, 1)

    monkeypatch.setattr(clock, "time_network", time_network)
    return asked


def test_each_measured_latency_is_written_once(tmp_path, monkeypatch):
    asked = timed(monkeypatch)
    written = []
    plain = Store.set
    monkeypatch.setattr(Store, "set", lambda self, key, value: (written.append((key, value)), plain(self, key, value)))
    go(tmp_path / "r", limits={"latency": {"max": 1}})
    kept = [(key, value) for key, value in written if key.startswith("latency")]
    assert len(kept) == len(asked) == len(dict(kept)) > 0
    assert all(isinstance(value, float) for _, value in kept)
    with Store.open(tmp_path / "r" / "run.sqlite") as store:
        assert {f"latency:{name}": value for name, value in store.kept("latency").items()} == dict(kept)


def test_a_run_that_holds_its_latencies_as_one_fact_resumes(tmp_path, monkeypatch):
    """As older ones do: nothing that was measured then is measured again."""
    asked = timed(monkeypatch)
    limits = {"latency": {"max": 1}}
    whole = go(tmp_path / "r", limits=limits)
    with Store.open(tmp_path / "r" / "run.sqlite", write=True) as store:
        known = store.kept("latency")
        with store._transaction() as db:
            db.execute("DELETE FROM run WHERE key LIKE 'latency:%'")
        store.set("latency", known)
    asked.clear()
    assert essence(go(tmp_path / "r", limits=limits, resume=True).record) == essence(whole.record)
    assert asked == []


def test_where_there_is_a_run_there_are_its_settings(tmp_path, monkeypatch):
    """Killed right after the store is made: the settings were written before. Lost: they are written again."""
    from foresee.runs.store import Store

    settings, create = tmp_path / "r" / "settings.toml", Store.create
    seen = []

    def noted(path, **asked):
        seen.append(settings.read_text())
        return create(path, **asked)

    monkeypatch.setattr(Store, "create", noted)
    go(tmp_path / "r")
    assert seen == [settings.read_text()]
    settings.unlink()
    go(tmp_path / "r", resume=True)
    assert settings.read_text() == seen[0]


def test_a_folder_that_is_deleted_ends_the_run_at_the_next_event(tmp_path):
    events = []

    def delete(event):
        events.append(event)
        if event.kind == "scored" and event.done == 3:
            shutil.rmtree(tmp_path / "r")

    with pytest.raises(RunError, match="was deleted or replaced while the run went on"):
        go(tmp_path / "r", observers=[delete])
    assert max(event.done for event in events) == 3
    assert not (tmp_path / "r").exists()


def test_two_starts_at_once_do_not_become_a_mixture(tmp_path, monkeypatch):
    """Another start with other settings makes its run between this one's first look and its hold on the folder."""
    hold = RunFolder.hold

    def late(self):
        monkeypatch.setattr(RunFolder, "hold", hold)
        go(self.path, seed=7)
        hold(self)

    monkeypatch.setattr(RunFolder, "hold", late)
    with pytest.raises(SettingsMismatchError, match="seed: 0 here, 7 in the run"):
        go(tmp_path / "r", resume=True)
    assert read(tmp_path / "r").settings["seed"] == 7
    assert "seed = 7" in (tmp_path / "r" / "settings.toml").read_text()
