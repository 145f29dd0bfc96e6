"""SiGeo's Table 2."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from foresee.papers import Workshop, reproduce
from foresee.papers.asked import Measured
from foresee.papers.base import load_all
from foresee.papers.cells import Cell
from foresee.papers.numbers import published
from foresee.papers.samples import BENCHMARKS
from foresee.proxies.base import get


def test_every_cell_of_the_paper_is_asked_for():
    asked_for = {}

    class Everything(Workshop):
        def sampled(self, name, **_):
            return type("Sample", (), {"benchmark": name, "space": BENCHMARKS[name].space, "truth": np.arange(4.0)})()

        def measure(self, sample, asked):
            asked_for.update(asked)
            return {name: Measured(np.array([[1.0, 3.0, 2.0, 4.0]])) for name in asked}

        def context(self, *_):
            return ""

    cells = list(load_all()["sigeo-table-2"].compute(Everything(bootstrap=0)))
    table = published("sigeo-table-2")
    assert all(isinstance(one, Cell) for one in cells)
    assert {(one.row, one.column) for one in cells} == {
        (row.address, column.name) for row in table.rows for column in table.columns
    }
    by_column = {one.column: one.estimate.value for one in cells}
    assert by_column["nasbench101:spearman"] == pytest.approx(stats.spearmanr([1, 3, 2, 4], range(4)).statistic)
    assert by_column["nasbench101:kendall"] == pytest.approx(stats.kendalltau([1, 3, 2, 4], range(4)).statistic)
    for asked in asked_for.values():
        needs = get(asked.proxy).needs
        assert asked.batch_size in ((None, 32, 64) if needs.data else (None,)), asked
    assert asked_for["sigeo"].proxy == "sigeo:released_cv"
    assert get("sigeo:released_cv").settings["lambda3"] == 0.0, "no warm-up: 1, 1, 0"


def test_on_four_cells(data_folder, tmp_path):
    (tmp_path / "table.csv.gz").symlink_to(data_folder / "nas" / "nb201_cifar10.csv.gz")
    thin = {"nasbench201": {"channels": 4, "cells": 1}}
    workshop = Workshop(tmp_path, sample=4, data="synthetic", bootstrap=20, batch_size=4, space_settings=thin)
    page = reproduce("sigeo-table-2", workshop)
    ours = [line for line in page.lines if line.column.startswith("nasbench201-cifar10:")]
    assert len(ours) == 30
    assert sum(line.ours is not None for line in ours) >= 28
    assert all(line.ours is not None or line.reason for line in ours)
    assert all("no table" in line.reason for line in page.lines if line not in ours)
