"""Dextr's pictures on thin networks."""

from __future__ import annotations

from random import Random

import pytest
from tests.papers.dextr.thin import linked

from foresee.papers import Workshop, reproduce
from foresee.papers.dextr import pictures
from foresee.papers.trained import CIFAR
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import get


def test_figure_1b(tmp_path, data_folder):
    workshop = linked(tmp_path, data_folder, "nb201_cifar10.csv.gz")
    workshop.table_settings = {"points": 8}
    page = reproduce("dextr-figure-1b", workshop)
    found = {(line.row, line.column): line.ours.value for line in page.lines}
    assert len(page.scatters) == 6
    assert all(len(one.x) == 9 for one in page.scatters)
    assert all((one.x[0], one.y[0]) == (one.x[-1], one.y[-1]) for one in page.scatters)  # closed
    accuracies = [found[f"network-{place}", "accuracy"] for place in range(1, 7)]
    assert accuracies == sorted(accuracies)
    assert -1 <= found["turning", "spearman"] <= 1


def test_figure_3(tmp_path, data_folder):
    page = reproduce("dextr-figure-3", linked(tmp_path, data_folder, "nb201_cifar10.csv.gz"))
    found = {(line.row, line.column): line.ours.value for line in page.lines}
    assert found["high-performing", "accuracy"] == pytest.approx(89.43, abs=0.2)
    assert found["low-performing", "accuracy"] == pytest.approx(63.0, abs=0.5)
    assert [one.name for one in page.scatters] == ["high-performing", "low-performing"]
    assert all(0 <= value <= 1 for one in page.scatters for value in one.y)


@pytest.mark.parametrize("name", ["dextr-figure-1b", "dextr-figure-3"])
def test_without_a_table_it_says_why(tmp_path, name):
    page = reproduce(name, Workshop(tmp_path, data="synthetic"))
    assert all(line.ours is None and "no table" in line.reason for line in page.lines)


def test_the_curvature_of_what_was_found(monkeypatch):
    pick = Candidate(get("darts"), get("darts").sample(Random(1)), CIFAR)
    monkeypatch.setattr(pictures, "searched", lambda *_, **__: [pick])
    workshop = Workshop(data="synthetic", table_settings={"channels": 2, "layers": 3, "draws": 2})
    page = reproduce("dextr-curvature-a8", workshop)
    values = [line.ours.value for line in page.lines]
    assert len(values) == 3
    assert values[0] > 0
    assert values == pytest.approx([values[0]] * 3)  # one cell three times
    assert all(line.agrees is None for line in page.lines)
    assert "2 circles" in page.lines[0].reason
