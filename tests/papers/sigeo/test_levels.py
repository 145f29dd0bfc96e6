"""SiGeo's Table 3: rows of the terms, and the gain of warm-up."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from foresee.papers import Asked, Workshop, reproduce
from foresee.papers.numbers import published
from foresee.papers.sigeo.levels import GRADIENT, NAMES, READINGS, made
from foresee.proxies.base import Score

THIN = {"nasbench201": {"channels": 2, "cells": 1}}
QUICK = {"samples": 64, "batch": 8, "shared": True}


def test_rows_are_the_terms_with_the_weights_of_their_level():
    parts = {"steadiness": 7.0, "fisher_rao": -3.0, "loss": 2.0}
    scores = {(level, proxy): [[Score(proxy, 0.0, parts=parts)]] for level in (0, 40) for proxy in READINGS.values()}
    scores |= {(level, GRADIENT): [[Score(GRADIENT, 5.0)]] for level in (0, 40)}
    found = {key: one.merits.item() for key, one in made(scores, (0, 40)).items()}
    for name in READINGS:
        assert (found[name, 0], found[name, 40]) == (7 - 3, 7 - 150 - 2)
    assert [found[name, 40] for name in ("zico", "fisher-rao", "loss", "mean-abs-gradient")] == [7, -3, -2, 5]
    scores[0, "sigeo:vision"] = [[Score("sigeo:vision", None, "nan", "no gradient")]]
    cold = made(scores, (0, 40))["sigeo", 0]
    assert np.isnan(cold.values).all()
    assert "no gradient" in cold.words


def test_on_four_cells(data_folder, tmp_path):
    (tmp_path / "table.csv.gz").symlink_to(data_folder / "nas" / "nb201_cifar10.csv.gz")
    workshop = Workshop(
        tmp_path,
        sample=4,
        data="synthetic",
        batch_size=4,
        bootstrap=20,
        space_settings=THIN,
        table_settings=QUICK,
        cache=tmp_path / "kept" / "scores.sqlite",
    )
    page = reproduce("sigeo-table-3", workshop)
    ours = {
        (line.row, line.column.partition(":")[2]): line.ours
        for line in page.lines
        if line.ours is not None and "supernet" not in line.group
    }
    names = {row.key: row.name for row in published("sigeo-table-3").rows}
    for name in NAMES:
        for level in (0, 10, 20, 40):
            key = f"{name}-{level}-warm-up"
            assert -1 <= ours[names.get(key, key), "spearman"].value <= 1
    first, last = (ours[names[f"sigeo-{level}-warm-up"], "kendall"].value for level in (0, 40))
    gained = next(line for line in page.lines if (line.group, line.row) == ("gain from 0 to 40 %", "sigeo"))
    inherited = {(line.row, line.column) for line in page.lines if line.group == "from one supernet" and line.ours}
    assert len(inherited) == len(NAMES) * 4 * 2
    assert (tmp_path / "kept" / "supernets").is_dir()
    assert gained.column == "nasbench201-cifar10:spearman"
    assert ours["sigeo", "kendall"].value == pytest.approx(last - first)
    assert all("no table" in line.reason for line in page.lines if "nasbench301" in line.column)
    assert any("samples = 64" in note for note in page.notes)
    # the row without warm-up is what a look at the untrained networks gives
    sample = workshop.sampled("nasbench201-cifar10", targets=("val_acc_cifar10",))
    cold = workshop.measure(sample, {"sigeo": Asked("sigeo", batch_size=4)})["sigeo"]
    assert ours[names["sigeo-0-warm-up"], "spearman"].value == pytest.approx(
        stats.spearmanr(np.nan_to_num(cold.merits[0], nan=-1e9), sample.truth).statistic
    )
    json.dumps(page.to_json())
