"""Table 4.1 of the thesis."""

from __future__ import annotations

import pytest
from tests.papers.chapter4.test_convergence import images

from foresee.papers import Workshop, reproduce
from foresee.papers.chapter4.adapted import ROWS

__all__ = ["images"]


def test_networks_have_the_printed_parameters():
    """With the auxiliary head, of CIFAR-10 and CIFAR-100; the random variants have no print."""
    where = Workshop(data="digits", table_settings={"trained": False})
    compared = 0
    for line in reproduce("thesis-table-4.1", where).lines:
        if "params" in line.column and line.column.startswith("cifar") and line.paper is not None:
            assert line.ours.value == pytest.approx(line.paper, abs=0.011), (line.row, line.column)
            compared += 1
        if "error" in line.column:
            assert line.ours is None
    assert compared == 20


def test_trained_at_a_small_size(images, monkeypatch):
    """One cell as published, adapted and at random; the differences are of the same trainings."""
    monkeypatch.setattr("foresee.papers.chapter4.adapted.ROWS", {"snas": ROWS["snas"]})
    tiny = {"epochs": 1, "batch": 20, "channels": 1, "layers": 3, "recipe": "ch4_cifar"}
    page = reproduce("thesis-table-4.1", Workshop(data=str(images / "images.npz"), table_settings=tiny))
    found = {(line.row, line.column): line for line in page.lines}
    ours = [found[key].ours.value for key in (("SNAS", "cifar10:error-original"), ("SNAS", "cifar10:error-adapted"))]
    apart = found["all cells", "cifar10:error-adapted minus original"].ours.value
    assert apart == pytest.approx(ours[1] - ours[0])
