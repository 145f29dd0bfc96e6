"""Dextr's figures on a few thin networks."""

from __future__ import annotations

import pytest
from tests.papers.dextr.thin import linked

from foresee.papers import reproduce
from foresee.papers.dextr import figures


def test_figures(data_folder, tmp_path):
    workshop = linked(tmp_path, data_folder, "nb201_cifar10.csv.gz")
    fmi = reproduce("dextr-figure-1a", workshop)
    (scatter,) = fmi.scatters
    assert len(scatter.x) == len(scatter.y) == 8
    assert {line.row for line in fmi.lines} == {"fmi", "fmi-above-25", "fmi-at-most-25"}

    again = reproduce("dextr-figure-5", workshop)
    assert [scatter.name for scatter in again.scatters] == ["dextr-nasbench201-cifar10"]
    assert sum(line.ours is not None for line in again.lines) == 1


def test_figure_2_moves_images_and_circles_not_weights(data_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "NETWORKS", 4)
    monkeypatch.setattr(figures, "INPUTS", 3)
    workshop = linked(tmp_path, data_folder, "nb201_cifar10.csv.gz")
    page = reproduce("dextr-figure-2", workshop)
    rows = {line.row: line for line in page.lines if line.column == "dextr-mean"}
    assert rows["worst network"].paper == 1.32
    assert all(line.agrees is None for line in page.lines), "not the paper's networks: nothing is judged"
    assert rows["best network"].ours.n == 3
    (scatter,) = page.scatters
    assert len(scatter.bars) == len(scatter.x) == 4
    assert min(scatter.bars) > 0
    assert scatter.x[0] == pytest.approx(56.19, abs=0.3)
    assert scatter.x[-1] == pytest.approx(89.9, abs=0.3)
