"""A bench from table to files: sample, baselines, repeats, failures, what is written, and the real NAS-Bench-201."""

from __future__ import annotations

import csv
import json
import math
import os
import pkgutil
import random
import tomllib
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from tests.benchmarks.small import LOOK, small_table
from torch import nn

from foresee import benchmarks
from foresee.benchmarks.benches import BASELINES, bench, sampled
from foresee.benchmarks.formats.collect import Collector
from foresee.errors import InputError, RunError, UnknownNameError
from foresee.runs import RunFolder
from foresee.scoring import Scorer
from foresee.spaces import own

TABLE = small_table()
QUICK = {**LOOK, "bootstrap": 50}


@pytest.fixture
def jobs(monkeypatch):
    """Counts what is really scored."""
    done = []
    plain = Scorer.__call__
    monkeypatch.setattr(Scorer, "__call__", lambda self, job: done.append(job) or plain(self, job))
    return done


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return bench(TABLE, "test_acc_cifar10", ["naswot"], sample=30, repeats=3, out=tmp_path_factory.mktemp("b"), **QUICK)


def test_baselines_are_always_there_and_correlations_are_scipys(found):
    assert list(found.matrices) == ["naswot", *BASELINES]
    truth = [TABLE.values("test_acc_cifar10")[TABLE.find(text)] for text in found.texts]
    np.testing.assert_array_equal(found.truth, truth)
    for name, one in found.correlations.items():
        merit = found.scores[name].mean(axis=1)
        assert one.n == 30
        assert one.failed == 0
        assert one.spearman.value == pytest.approx(scipy.stats.spearmanr(merit, truth)[0]), name
        assert one.kendall.value == pytest.approx(scipy.stats.kendalltau(merit, truth)[0]), name
        assert one.spearman.low <= one.spearman.value <= one.spearman.high
    assert found.correlations["params"].spearman.value > 0.8  # the table was made so
    assert abs(found.correlations["random"].spearman.value) < 0.6


def test_a_bench_is_shown_in_a_line_as_a_table_and_as_a_frame(found):
    assert repr(found) == "<Bench of nasbench201, test_acc_cifar10: 30 architectures, 4 proxies>"
    assert repr(found.matrices["naswot"]) == "<ScoreMatrix of naswot: 30 architectures, 3 seeds, 0 without a value>"
    lines = str(found).splitlines()
    assert lines[0] == "nasbench201 · test_acc_cifar10"
    assert lines[1].split() == ["proxy", "Spearman", "Kendall", "failed", "time"]
    assert [line.split()[0] for line in lines[2:6]] == sorted(
        found.matrices, key=lambda name: -found.correlations[name].spearman.value
    )
    made = found._repr_html_()
    assert "params (baseline)" in made
    assert str(found.correlations["naswot"].spearman) in made
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert list(frame.columns) == ["test_acc_cifar10", *found.matrices]
    assert frame["naswot"].tolist() == found.matrices["naswot"].values.mean(axis=1).tolist()


def test_each_repeat_has_its_own_seed_weights_and_batch(found):
    naswot = found.scores["naswot"]
    assert naswot.shape == (30, 3)
    assert len({tuple(column) for column in naswot.T}) == 3
    assert (found.scores["params"][:, 0] == found.scores["params"].T).all()
    single = bench(TABLE, "test_acc_cifar10", ["naswot"], sample=30, seed=0, **QUICK)
    assert single.texts == found.texts
    np.testing.assert_array_equal(single.scores["naswot"][:, 0], naswot[:, 0])
    expected = [scipy.stats.spearmanr(column, found.truth)[0] for column in naswot.T]
    assert found.by_repeat["naswot"] == pytest.approx(expected)


def test_the_sample_is_the_beginning_of_one_permutation():
    values = np.array([1.0, math.nan, 2.0, 3.0, math.nan, 4.0, 5.0])
    whole = sampled(values, None, 0)
    assert sorted(whole) == [0, 2, 3, 5, 6]
    for size in (1, 3, 5, 99):
        assert sampled(values, size, 0).tolist() == whole[:size].tolist()
    assert any(sampled(values, None, seed).tolist() != whole.tolist() for seed in (1, 2))
    with pytest.raises(InputError, match="1 architecture has this target"):
        sampled(np.array([1.0, math.nan]), None, 0)


def test_only_architectures_with_the_target_and_all_of_them_on_demand():
    some = bench(TABLE, "val_acc_cifar10", ["params"], sample=None, **QUICK)
    assert len(some.texts) == some.of == 20
    few = bench(TABLE, "val_acc_cifar10", ["params"], sample=7, **QUICK)
    assert few.texts == some.texts[:7]
    assert few.of == 20


def test_where_less_is_better_the_truth_is_turned():
    up = bench(TABLE, "test_acc_cifar10", ["params"], sample=20, **QUICK)
    down = bench(TABLE, "test_loss_cifar10", ["params"], sample=20, **QUICK)
    assert down.direction == "lower"
    assert (down.truth < 0).all()
    assert down.correlations["params"].spearman == up.correlations["params"].spearman
    assert down.correlations["params"].regret["10"].value >= 0


def test_files(found):
    folder = found.folder
    assert {"bench.json", "correlations.csv", "scores.csv", "settings.toml", "scores.sqlite"} <= set(os.listdir(folder))
    plain = json.loads((folder / "bench.json").read_text())
    assert plain["n"] == 30
    assert plain["of"] == 40
    assert plain["proxies"]["naswot"]["spearman"]["value"] == found.correlations["naswot"].spearman.value
    assert plain["proxies"]["params"]["baseline"]
    assert not plain["proxies"]["naswot"]["baseline"]
    assert len(plain["proxies"]["naswot"]["spearman_by_repeat"]) == 3
    rows = list(csv.DictReader((folder / "correlations.csv").open()))
    assert {row["statistic"] for row in rows} == {
        "spearman", "kendall", "pearson", "weighted_tau", "top 10", "top 5 %", "regret 10", "regret 5 %",
    }  # fmt: skip
    [row] = [row for row in rows if (row["proxy"], row["statistic"]) == ("params", "kendall")]
    assert float(row["value"]) == found.correlations["params"].kendall.value
    assert row["baseline"] == "1"
    scores = list(csv.DictReader((folder / "scores.csv").open()))
    assert [row["architecture"] for row in scores] == list(found.texts)
    assert [float(row["naswot#2"]) for row in scores] == found.matrices["naswot"].values[:, 2].tolist()
    assert [float(row["test_acc_cifar10"]) for row in scores] == found.truth.tolist()
    settings = tomllib.loads((folder / "settings.toml").read_text())
    assert settings["proxies"] == ["naswot", *BASELINES]
    assert settings["space_settings"] == {"channels": 2, "cells": 1}
    assert "synthetic (noise, no images) at 3x8x8" in found.looked_at


def test_a_second_bench_scores_nothing_and_writes_the_same(tmp_path, jobs):
    first = bench(TABLE, "test_acc_cifar10", ["naswot"], sample=12, out=tmp_path, **QUICK)
    files = {name: (tmp_path / name).read_text() for name in ("correlations.csv", "scores.csv", "settings.toml")}
    assert len(jobs) == 12
    again = bench(TABLE, "test_acc_cifar10", ["naswot"], sample=12, out=tmp_path, **QUICK)
    assert len(jobs) == 12
    assert again.cached == dict.fromkeys(first.matrices, 12)
    assert files == {name: (tmp_path / name).read_text() for name in files}
    bench(TABLE, "test_acc_cifar10", ["naswot"], sample=15, out=tmp_path, **QUICK)
    assert len(jobs) == 15  # a larger sample begins with the smaller one


def test_a_cache_named_by_the_environment_is_shared(tmp_path, jobs, monkeypatch):
    monkeypatch.setenv("FORESEE_CACHE", str(tmp_path / "shared.sqlite"))
    for out in ("a", "b", None):
        where = None if out is None else tmp_path / out
        bench(TABLE, "test_acc_cifar10", ["params"], sample=5, out=where, **QUICK)
    assert len(jobs) == 5
    assert not (tmp_path / "a" / "scores.sqlite").exists()
    bench(TABLE, "test_acc_cifar10", ["params"], sample=5, cache=tmp_path / "other.sqlite", **QUICK)
    assert len(jobs) == 10


def test_failures_are_counted_and_shown_with_failures_last(tmp_path, monkeypatch):
    collector = Collector("made up", "nasbench201")
    for place, text in enumerate(TABLE.architectures[:13]):
        collector.new(text)
        collector.measure(place, float(place), "test_acc", "cifar10")
    broken, work = TABLE.architectures[12], Scorer.__call__

    def fail(self, job):
        if broken in job.texts:
            raise RuntimeError("it broke")
        return work(self, job)

    monkeypatch.setattr(Scorer, "__call__", fail)
    found = bench(collector.table(), "test_acc", ["params"], sample=None, out=tmp_path, **QUICK)
    one = found.correlations["params"]
    assert (one.n, one.failed) == (12, 1)
    assert found.statuses["params"] == {"ok": 12, "failed": 1}
    assert one.with_failures.n == 13
    assert one.with_failures.spearman.value < one.spearman.value  # the broken one has the best number
    text = (tmp_path / "correlations.csv").read_text()
    assert "params,1,spearman with failures last," in text
    plain = json.loads((tmp_path / "bench.json").read_text())["proxies"]["params"]
    assert "it broke" in next(iter(plain["reasons"]))
    [row] = [r for r in csv.DictReader((tmp_path / "scores.csv").open()) if r["architecture"] == broken]
    assert row["params"] == ""


def table_of(pairs):
    collector = Collector("mine.csv", "nasbench201")
    for place, (text, value) in enumerate(pairs):
        collector.new(text)
        collector.measure(place, value, "test_acc", "cifar10")
    return replace(collector.table(), source="mine.csv")


def test_what_no_bench_could_answer_is_refused_before_anything_is_scored(monkeypatch):
    monkeypatch.setattr(Scorer, "__call__", lambda self, job: pytest.fail("scored"))
    cells = TABLE.architectures[:4]
    stranger = table_of([*((text, float(place)) for place, text in enumerate(cells)), ("|broken|", 9.0)])
    with pytest.raises(InputError, match=r"mine\.csv: '\|broken\|' is no architecture of nasbench201: .*1 nodes"):
        bench(stranger, "test_acc", ["params"], sample=None, **QUICK)
    with pytest.raises(InputError, match="all 4 architectures have test_acc 90: there is no order to foresee"):
        bench(table_of([(text, 90.0) for text in cells]), "test_acc", ["params"], **QUICK)
    for wrong in ({"sample": 1}, {"sample": -3}, {"repeats": 0}, {"batch_size": 0}, {"bootstrap": -1}, {"outputs": 0}):
        [name] = wrong
        with pytest.raises(InputError, match=name):
            bench(TABLE, "test_acc_cifar10", ["params"], **{"sample": 5, **QUICK, **wrong})
    with pytest.raises(InputError, match="device 'nowhere' cannot be used here"):
        bench(TABLE, "test_acc_cifar10", ["params"], sample=5, **QUICK, device="nowhere")
    with pytest.raises(InputError, match="workers 0: at least 1 is needed"):
        bench(TABLE, "test_acc_cifar10", ["params"], sample=5, **QUICK, engine="processes", workers=0)


def test_few_architectures_are_said_to_be_few_and_the_foremost_ten_of_ten_are_not_counted():
    asked = {**QUICK, "bootstrap": 20}
    few = bench(TABLE, "test_acc_cifar10", ["params"], sample=10, **asked)
    assert "10 architectures are few: the intervals themselves are rough" in few.notes
    assert list(few.correlations["params"].top) == ["5 %"]
    enough = bench(TABLE, "test_acc_cifar10", ["params"], sample=20, **asked)
    assert not any("are few" in note for note in enough.notes)
    assert list(enough.correlations["params"].top) == ["10", "5 %"]


def test_networks_are_the_benchmarks_own_unless_told():
    plain = bench(TABLE, "test_acc_cifar10", ["params"], sample=3, bootstrap=0, data="synthetic")
    assert (plain.settings.task.inputs, plain.settings.task.outputs) == ((3, 32, 32), 10)
    assert plain.notes == ()
    other = bench(TABLE, "test_acc_cifar10", ["params"], sample=3, **QUICK)
    assert "networks for 3x8x8 to 4, where the benchmark's are for 3x32x32 to 10" in other.notes
    assert any("channels = 2" in note for note in other.notes)


def test_an_own_space(tmp_path):
    def net(pick):
        width = pick("width", list(range(1, 13)))
        return nn.Sequential(nn.Flatten(), nn.Linear(192, width), nn.ReLU(), nn.Linear(width, 4))

    space = own(net)
    texts = list(dict.fromkeys(str(space.sample(random.Random(number))) for number in range(60)))
    collector = Collector("mine", "")
    for place, text in enumerate(texts):
        collector.new(text)
        collector.measure(place, float(text.split(":")[-1].strip(" }")), "acc")
    look = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "bootstrap": 0}
    found = bench(collector.table(), "acc", ["params"], space=space, **look)
    assert found.correlations["params"].spearman.value == pytest.approx(1)
    with pytest.raises(InputError, match="name the space"):
        bench(collector.table(), "acc", ["params"], **look)


def test_mistakes(tmp_path):
    with pytest.raises(UnknownNameError, match="test_acc_cifar10"):
        bench(TABLE, "test_acc_cifar11", ["params"], **QUICK)
    with pytest.raises(InputError, match="is of nasbench201"):
        bench(TABLE, "test_acc_cifar10", ["params"], space="darts", **QUICK)
    with pytest.raises(InputError, match="sample = 0"):
        bench(TABLE, "test_acc_cifar10", ["params"], sample=0, **QUICK)
    with pytest.raises(UnknownNameError, match="dextr"):
        bench(TABLE, "test_acc_cifar10", ["dexter"], **QUICK)
    (tmp_path / "run.sqlite").touch()
    with pytest.raises(RunError, match="holds a search"):
        bench(TABLE, "test_acc_cifar10", ["params"], out=tmp_path, **QUICK)
    held = RunFolder(tmp_path / "held")
    held.hold()
    with pytest.raises(RunError, match="another process"):
        bench(TABLE, "test_acc_cifar10", ["params"], out=held.path, **QUICK)
    held.release()


def test_params_and_macs_on_the_real_table(data_folder):
    """The figures that are known for all of NAS-Bench-201."""
    path = data_folder / "nas" / "nb201_cifar10.csv.gz"
    small = {"channels": 4, "cells": 1}  # params keep their order, and the random baseline builds quickly
    found = bench(path, "test_acc_cifar10", "params", sample=200, bootstrap=200, data="synthetic", space_settings=small)
    one = found.correlations["params"].spearman
    assert one.low < 0.753 < one.high  # params over all 15,625 cells
    assert found.settings.table == str(path)
    assert len(found.settings.table_sha256) == 64
    assert "synthetic" in found.looked_at


def test_no_file_of_the_room_takes_the_place_of_a_public_function():
    files = {module.name for module in pkgutil.iter_modules(benchmarks.__path__)}
    assert not files & set(benchmarks.__all__)
