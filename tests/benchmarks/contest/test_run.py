"""A contest from the table to the standings: who sees what, what is judged, and what is not done twice."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from tests.benchmarks.small import LOOK, small_table
from tests.searchers.stepping import Stepping

import foresee as fs
from foresee.benchmarks.contest import compare
from foresee.benchmarks.contest import ground as room
from foresee.benchmarks.formats.collect import Collector
from foresee.benchmarks.table import MEAN, Table
from foresee.runs import read
from foresee.searchers import searchers

ASK = {**LOOK, "seeds": 2, "budget": 12, "judge": "test_acc", "target": "val_acc"}
WHO = "random@measured,evolution(population=4, sample=2)@measured,evolution(population=4, sample=2)@params"


def permuted(table: Table, metric: str, seed: int = 0) -> Table:
    """The same table with the numbers of one metric in other places."""
    rows, code = table.rows, table.rows.metrics.index(metric)
    places = np.flatnonzero(rows.metric == code)
    value = rows.value.copy()
    value[places] = np.random.default_rng(seed).permutation(value[places])
    return replace(table, rows=replace(rows, value=value))


@pytest.fixture
def counted(monkeypatch):
    """How many searches were begun."""
    begun = []
    original = room.run_search
    monkeypatch.setattr(room, "run_search", lambda *args, **given: (begun.append(args), original(*args, **given))[1])
    return begun


def test_a_permuted_judged_column_changes_no_run():
    table = small_table(200)
    found, other = (compare(one, WHO, **ASK) for one in (table, permuted(table, "test_acc")))
    for mine, theirs in zip(found.trials, other.trials, strict=True):
        assert [(pick.evaluations, pick.architecture) for pick in mine.picks] == [
            (pick.evaluations, pick.architecture) for pick in theirs.picks
        ]
    assert any(mine.picks != theirs.picks for mine, theirs in zip(found.trials, other.trials, strict=True))
    assert found.truth.best == other.truth.best


def test_a_permuted_target_changes_only_those_who_see_it():
    table = small_table(200)
    found, other = (compare(one, WHO, **ASK) for one in (table, permuted(table, "val_acc")))
    for mine, theirs in zip(found.trials, other.trials, strict=True):
        same = [pick.architecture for pick in mine.picks] == [pick.architecture for pick in theirs.picks]
        assert same == ("@params" in mine.label)


def test_what_is_judged_is_the_best_by_what_is_followed(tmp_path):
    table = small_table(200)
    found = compare(table, WHO, **ASK, out=tmp_path)
    assert found.truth.best == table.values("test_acc").max()
    folders = sorted((tmp_path / "runs").glob("*/seed-*"))
    assert len(folders) == 6
    by_pick = {tuple((pick.evaluations, pick.architecture) for pick in one.picks) for one in found.trials}
    for folder in folders:
        best, picks = None, []
        for row in read(folder).candidates:
            if best is None or row.merit > best:
                best = row.merit
                picks.append((row.id + 1, row.architecture))
        assert tuple(picks) in by_pick
    known = dict(zip(table.architectures, table.values("test_acc"), strict=True))
    for trial in found.trials:
        for pick in trial.picks:
            if pick.architecture in known:
                assert pick.judged == known[pick.architecture]
            elif "@measured" in trial.label:  # another text of a cell in the table
                assert pick.judged is not None
    followed = found.standings["evolution@params"]
    assert followed.absent > 0  # the table holds 200 of 15,625
    assert found.standings["random@measured"].absent == 0


def test_nothing_is_done_twice_and_more_extends_it(tmp_path, counted):
    table = small_table(200)
    first = compare(table, "random@measured", **ASK, out=tmp_path)
    assert len(counted) == 2
    again = compare(table, "random@measured", **ASK, out=tmp_path)
    assert len(counted) == 2
    assert again.trials == first.trials
    more = compare(table, "random@measured,random@params", **{**ASK, "seeds": 3}, out=tmp_path)
    assert len(counted) == 2 + 4
    assert more.runs["random@measured"][:2] == list(first.trials)
    longer = compare(table, "random@measured", **{**ASK, "budget": 20}, out=tmp_path)
    assert len(counted) == 6 + 2
    assert longer.trials[0].evaluations == 20
    # a shorter one is read from the longer one, as it was
    shorter = compare(table, "random@measured", **ASK, out=tmp_path)
    assert len(counted) == 8
    assert [[(p.evaluations, p.architecture) for p in one.picks] for one in shorter.trials] == [
        [(p.evaluations, p.architecture) for p in one.picks] for one in first.trials
    ]
    assert [one.evaluations for one in shorter.trials] == [12, 12]


def test_other_settings_are_other_runs(tmp_path, counted):
    table = small_table(200)
    for who in ("evolution(population=4, sample=2)@measured", "evolution(population=5, sample=2)@measured"):
        compare(table, who, **ASK, out=tmp_path)
    compare(table, "evolution(population=4, sample=2)@measured", **{**ASK, "target": "test_loss"}, out=tmp_path)
    assert len(counted) == 6
    assert len(list((tmp_path / "runs").iterdir())) == 3


def test_stopped_anywhere_it_ends_the_same(tmp_path):
    table = small_table(200)
    whole = compare(table, WHO, **ASK, out=tmp_path / "whole")
    seen = 0

    def stop(event):
        nonlocal seen
        seen += event.kind == "scored"
        if seen % 17 == 16:
            seen += 1
            raise KeyboardInterrupt

    stopped = 0
    while True:
        try:
            found = compare(table, WHO, **ASK, out=tmp_path / "stopped", observers=[stop])
            break
        except KeyboardInterrupt:
            stopped += 1
    assert stopped >= 3
    for mine, theirs in zip(found.trials, whole.trials, strict=True):
        assert [(p.evaluations, p.architecture, p.judged) for p in mine.picks] == [
            (p.evaluations, p.architecture, p.judged) for p in theirs.picks
        ]


def test_one_that_was_stopped_on_its_way_to_more_is_gone_on_with(tmp_path):
    def stop(event):
        if event.done == 15:
            raise KeyboardInterrupt

    table, ask = small_table(200), {**ASK, "seeds": 1}
    with pytest.raises(KeyboardInterrupt):
        compare(table, "random@measured", **{**ask, "budget": 20}, out=tmp_path, observers=[stop])
    found = compare(table, "random@measured", **ask, out=tmp_path)
    (run,) = (tmp_path / "runs").glob("*/seed-0")
    assert len(read(run).candidates) == 20
    assert found.trials[0].evaluations == 12
    plain = compare(table, "random@measured", **ask)
    assert found.trials[0].picks[-1].architecture == plain.trials[0].picks[-1].architecture


@pytest.mark.slow
def test_every_engine_finds_the_same():
    table, who = small_table(200), "evolution(population=4, sample=2)@measured"
    ask = {**ASK, "seeds": 1, "workers": 2}
    ours, theirs = (compare(table, who, **ask, engine=engine).trials[0].picks for engine in ("serial", "processes"))
    assert [replace(pick, seconds=0.0) for pick in ours] == [replace(pick, seconds=0.0) for pick in theirs]


def test_within_limits_the_best_is_the_best_that_fits():
    table, space = small_table(200), fs.spaces.get("nasbench201", **LOOK["space_settings"])
    task = fs.Task(LOOK["inputs"], LOOK["outputs"])
    params = [space.counts(space.parse(text), task).params for text in table.architectures]
    most = int(np.median(params))
    found = compare(table, "random@measured", **ASK, budgets=[fs.budgets.params <= most])
    values = table.values("test_acc")
    assert found.truth.best == max(value for value, many in zip(values, params, strict=True) if many <= most)
    assert found.truth.feasible == sum(many <= most for many in params)
    with pytest.raises(fs.ForeseeError, match="limit params or macs"):
        compare(table, "random@measured", **ASK, budgets=[fs.budgets.latency < 1])
    with pytest.raises(fs.ForeseeError, match="no architecture"):
        compare(table, "random@measured", **ASK, budgets=[fs.budgets.params < 10])


def test_a_search_that_is_given_up_has_lost_and_the_others_go_on(tmp_path):
    look = {**ASK, "budget": 25}
    found = compare(small_table(200), "random@dss,random@measured", **look, out=tmp_path)  # dss is for transformers
    lost = found.standings["random@dss"]
    assert (lost.failed, lost.runs, lost.judged.n) == (2, 2, 0)
    assert found.standings["random@measured"].judged.n == 2
    assert all("given up" in reason for _, _, reason in found.reasons)


def test_the_time_of_steps_is_the_searchers(monkeypatch):
    monkeypatch.setitem(searchers._things, "stepping", Stepping)
    found = compare(small_table(200), "stepping@params,random@params", **{**ASK, "seeds": 1})
    (stepping,), (plain,) = found.runs["stepping@params"], found.runs["random@params"]
    assert stepping.picks[0].seconds > plain.picks[0].seconds
    assert stepping.seconds > plain.seconds


def test_of_a_longer_training_the_shorter_ones_are_seen_too(monkeypatch):
    collector = Collector("made up", "nasbench201")
    for place, text in enumerate(small_table(60).architectures):
        collector.new(text)
        for epochs in (3, 12, 200):
            collector.measure(place, float(place + epochs), "val_acc", "cifar10", epochs, MEAN)
        collector.measure(place, float(place), "test_acc", "cifar10", 200, MEAN)
    table, handed = collector.table(), []
    original = room.run_search
    monkeypatch.setattr(
        room, "run_search", lambda *args, **given: (handed.append(given["measured"]), original(*args, **given))[1]
    )
    compare(table, "successive_halving@measured,random@params", **{**ASK, "seeds": 1, "target": "val_acc@12"})
    assert list(handed[0].levels) == ["val_acc_cifar10@3"]
    assert handed[0]([table.architectures[5]]) == [17.0]
    assert handed[1] is None  # nothing of the table
    usual = compare(table, "random@measured", **{**ASK, "seeds": 1, "target": None})
    assert usual.settings.target == "val_acc_cifar10@3"


def test_who_sees_what_it_is_judged_by_is_told_so():
    found = compare(small_table(), "random@measured", **{**ASK, "target": "test_acc"})
    assert any("no honest test" in note for note in found.notes)


@pytest.mark.parametrize(
    ("who", "more", "words"),
    [
        ("evolution(population=0)@measured", {}, "population"),
        ("random@measured", {"judge": "test_acd"}, "did you mean test_acc"),
        ("random@measured", {"target": "val_accc"}, "did you mean"),
        ("random", {"proxy": "dexter"}, "did you mean dextr"),
        ("random", {"seeds": 0}, "seeds = 0"),
        ("random", {"budget": 0}, "budget = 0"),
        ("random", {"space": "darts"}, "is of nasbench201"),
        ("random", {"colour": 3}, "unknown setting 'colour'"),
        ("random", {"searcher_settings": {"random": {"x": 1}}}, "unknown setting of searcher random 'x'"),
    ],
)
def test_mistakes_are_said_before_anything_is_begun(tmp_path, counted, who, more, words):
    with pytest.raises(fs.ForeseeError, match=words):
        compare(
            small_table(),
            f"random@measured,{who}" if who != "random@measured" else who,
            **{**ASK, **more},
            out=tmp_path,
        )
    assert counted == []
    assert not (tmp_path / "runs").exists()


def test_a_folder_of_a_search_is_left_alone(tmp_path):
    fs.search("nasbench201", proxies=["params"], evaluations=2, **LOOK, out=tmp_path)
    with pytest.raises(fs.ForeseeError, match="holds a search"):
        compare(small_table(), "random@measured", **ASK, out=tmp_path)
    shutil.rmtree(tmp_path)
