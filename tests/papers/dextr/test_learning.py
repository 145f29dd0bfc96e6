"""How fast thin networks learn, by the independence of their feature maps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.papers.dextr.thin import linked

from foresee.papers import reproduce


def test_figure_1a_right(data_folder, tmp_path):
    workshop = linked(tmp_path, data_folder, "nb201_cifar10.csv.gz")
    rng = np.random.default_rng(0)
    images = {f"x_{part}": rng.integers(0, 255, (30, 8, 8, 3), dtype=np.uint8) for part in ("train", "test")}
    np.savez(tmp_path / "few.npz", **images, **{f"y_{part}": np.arange(30) % 10 for part in ("train", "test")})
    own = {"networks": 3, "seeds": 1, "epochs": 2, "batch": 64, "channels": 2, "cells": 1}
    page = reproduce("dextr-figure-1a-right", replace(workshop, table_settings=own, data=str(tmp_path / "few.npz")))
    lines = {(line.row, line.column): line.ours for line in page.lines}
    networks = sorted({row for row, _ in lines if row.startswith("network")})
    fmi = [lines[row, "fmi"].value for row in networks]
    assert fmi == sorted(fmi)
    assert len(fmi) == 3
    assert min(lines[row, "accuracy in the table"].value for row in networks) > 11
    assert -1 <= lines["Spearman of FMI with the training loss", "after 2 epochs"].value <= 1
    (scatter,) = page.scatters
    assert len(scatter.x) == 6
    assert len(set(scatter.kinds)) == 3


def test_too_few_say_nothing(data_folder, tmp_path):
    workshop = replace(linked(tmp_path, data_folder, "nb201_cifar10.csv.gz"), sample=2)
    (line,) = reproduce("dextr-figure-1a-right", workshop).lines
    assert line.ours is None
    assert "fewer than three" in line.reason
