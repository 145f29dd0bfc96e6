"""Searches of the papers, run again: picks under several seeds, judged by a column the search does not see."""

from __future__ import annotations

import numpy as np
import pytest

import foresee.papers.nasi_searches as tables_of
from foresee.benchmarks import save
from foresee.benchmarks.formats import load
from foresee.benchmarks.formats.collect import Collector
from foresee.benchmarks.measuring import Measuring
from foresee.benchmarks.table import MEAN
from foresee.papers import Workshop, reproduce
from foresee.papers.cells import Unavailable
from foresee.papers.hnas_searches import correlations
from foresee.papers.searches import Picks, picks
from foresee.spaces import get
from foresee.statistics import correlate

SMALL = {"nasbench201": {"channels": 2, "cells": 1}, "nasbench1shot1_s2": {"channels": 4, "stacks": 2, "cells": 1}}


def made_up(text: str) -> float:
    return 60 + 5 * text.count("conv_3x3~") + 2 * text.count("conv_1x1~")


def write(folder, holds=lambda text: True, sign=1.0):
    """Some of NAS-Bench-201 with made-up accuracies: those after 12 epochs say the same, or the opposite."""
    collector = Collector("made up", "nasbench201")
    texts = [str(one) for one in list(get("nasbench201").enumerate())[::37]]
    for place, text in enumerate(filter(holds, texts)):
        collector.new(text)
        collector.measure(place, made_up(text), "test_acc", "cifar10", 200, MEAN)
        collector.measure(place, sign * made_up(text), "val_acc", "cifar10", 12, MEAN)
    save(collector.table(), folder / "nb201.npz")
    return folder


def workshop(tables, **changes):
    return Workshop(tables=tables, **{"space_settings": SMALL, "data": "synthetic", "bootstrap": 20, **changes})


def test_picks_are_the_best_of_what_was_seen_and_judged_by_the_other_column(tmp_path):
    asked = {"seen": "val_acc_cifar10@12", "evaluations": 40}
    found = picks(workshop(write(tmp_path), repeats=3), "nasbench201-cifar10", "random", **asked)
    judge = Measuring(load(tmp_path / "nb201.npz"), "test_acc_cifar10", get("nasbench201"))
    assert found.values.tolist() == judge(found.texts)
    assert found.curves.shape == (3, 40)
    assert (np.diff(found.curves) >= 0).all()
    assert found.curves[:, -1].tolist() == found.values.tolist()
    (tmp_path / "worse").mkdir()
    worse = picks(workshop(write(tmp_path / "worse", sign=-1.0), repeats=3), "nasbench201-cifar10", "random", **asked)
    assert worse.values.max() < found.values.min()  # it followed the column it may see
    same = picks(workshop(write(tmp_path), repeats=3, seed=1), "nasbench201-cifar10", "random", **asked)
    assert list(same.texts[:2]) == list(found.texts[1:])  # a seed is a search


def test_settings_of_a_searcher_are_put_on_top(tmp_path):
    where = workshop(write(tmp_path), searcher_settings={"best_of": {"pool": 7}, "random": {"unknown": 1}})
    found = picks(where, "nasbench201-cifar10", "best_of", {"pool": 300}, evaluations=1)
    assert found.runs[0].record.settings["searcher_settings"]["pool"] == 7
    assert where.settings()["searcher_settings"]["best_of"] == {"pool": 7}


def test_a_search_that_sees_nothing_may_pick_what_the_table_does_not_hold(tmp_path):
    folder = write(tmp_path, lambda text: text.count("conv") < 4)
    found = picks(workshop(folder, repeats=2), "nasbench201-cifar10", "best_of", {"pool": 300}, evaluations=1)
    assert found.missing == 2  # most parameters: many convolutions
    assert found.words == "2 of 2 picks are not in the table"
    cell = found.cell("row", "column", workshop(folder))
    assert (cell.estimate, cell.reason) == (None, found.words)
    some = Picks(["a", "b", "c"], np.array([90.0, np.nan, 92.0]), np.zeros((3, 1)))
    cell = some.cell("row", "column", workshop(folder), error=True)
    assert cell.estimate.value == pytest.approx(9.0)
    assert cell.reason == "1 of 3 picks are not in the table"


def test_searches_are_kept_and_not_made_again(tmp_path, monkeypatch):
    where = workshop(write(tmp_path), cache=tmp_path / "cache" / "scores.sqlite")
    first = picks(where, "nasbench201-cifar10", "random", evaluations=5)
    assert len(list((tmp_path / "cache" / "searches").iterdir())) == 1
    monkeypatch.setattr("foresee.scoring.scorer.Scorer.__call__", lambda *_: pytest.fail("scored again"))
    assert picks(where, "nasbench201-cifar10", "random", evaluations=5).texts == first.texts
    with pytest.raises(Unavailable, match="no table of nats_size"):
        picks(where, "nats-sss-cifar10", "random")


# -- the tables themselves ----------------------------------------------------------------------------------------------
def lines(page):
    return {(one.row, one.column): one for one in page.lines}


@pytest.mark.slow
def test_hnas_with_eight_metrics(tmp_path, monkeypatch):
    monkeypatch.setattr("foresee.papers.hnas_searches.METRICS", ("grad", "synflow"))
    page = reproduce("thesis-table-7.13", workshop(write(tmp_path), sample=12, batch_size=4))
    found = lines(page)
    for row in ("HNAS (Grad)", "HNAS (SynFlow)"):
        assert 60 <= found[row, "nasbench201-cifar10"].ours.value <= 90
        assert "cifar100" in found[row, "nasbench201-cifar100"].reason
    best = max(made_up(str(one)) for one in list(get("nasbench201").enumerate())[::37])
    assert found["Optimal", "nasbench201-cifar10"].ours.value == best


@pytest.mark.slow
def test_curves_over_the_evaluations_and_of_the_bound(tmp_path):
    where = workshop(write(tmp_path), sample=12, repeats=1, batch_size=4)
    page = reproduce("thesis-figure-7.3", where)
    curves = {one.name: one for one in page.scatters}
    assert {"random", "rea", "reinforce", "bohb", "hnas-trace"} == {
        name.replace("rs-w-o-sharing", "random") for name in curves
    }
    assert all((np.diff(one.y) >= -1e-9).all() for one in curves.values())
    assert len(curves["rea"].y) == 100
    page = reproduce("thesis-figure-7.5", where)
    (curve,) = page.scatters
    assert len(curve.y) == 12  # the pool has no more
    run = picks(
        where,
        "nasbench201-cifar10",
        "hnas",
        {"metric": "m_trace", "pool": 12, "kappa_settings": {"channels": 4}},
        seen="val_acc_cifar10@12",
        evaluations=20,
        seeds=1,
    ).runs[0]
    pool = [row.outcome for row in run.record.steps if "point" not in row.outcome]
    best = max(run.record.candidates, key=lambda row: row.merit)
    mu, nu = (10**one for one in [row.outcome["point"] for row in run.record.steps if "point" in row.outcome][best.id])
    metric, kappa = (np.array(pool[0][name], float) for name in ("m_trace", "ntk_cond:hnas"))
    bound = kappa / metric + mu * (metric**2 - nu) ** 2
    errors = np.array([100 - made_up(text) for text in pool[0]["architecture"]])
    known = np.isfinite(bound)
    slow = correlate(bound[known], errors[known], bootstrap=0, seed=0, top=()).spearman.value
    truth = {text: made_up(text) for text in pool[0]["architecture"]}
    assert correlations(run.record, truth, where)[-1] == pytest.approx(slow)


@pytest.mark.slow
def test_what_nasi_picks_on_its_own_spaces(data_folder):
    tables = data_folder / "nas"
    where = workshop(tables, benchmarks=("nasbench1shot1-s2", "nasbench201-cifar10"))
    for mode in tables_of.MODES.values():
        settings = {**mode, "steps": 2, "batch": 4, "one_shot": {"channels": 2, "cells": 3}}
        cell = tables_of.searched(where, "standard", "nasbench1shot1-s2", settings)
        assert cell.estimate is not None or "not in the table" in cell.reason
    settings = {"steps": 2, "batch": 4, "one_shot": {"channels": 2, "cells": 1}}
    cell = tables_of.searched(where, "nasi-t", "nasbench201-cifar10", settings, error=False)
    assert 10 <= cell.estimate.value <= 100
    missing = tables_of.searched(where, "standard", "nasbench1shot1-s1", settings)
    assert missing.estimate is None
