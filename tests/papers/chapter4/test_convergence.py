"""Figures 4.3 to 4.5 and 4.10 of the thesis, at the smallest size that is a training."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresee.papers import Workshop, reproduce
from foresee.papers.chapter4.convergence import popular

TINY = {"epochs": 2, "channels": 1, "layers": 1, "batch": 20, "seeds": 1, "variants": 2}


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Forty small images of ten classes, and ten to test on; they are stretched to 32x32."""
    draws, folder = np.random.default_rng(0), tmp_path_factory.mktemp("images")
    parts = {"train": 40, "test": 10}
    x = {f"x_{name}": draws.integers(0, 256, (count, 8, 8, 3), dtype=np.uint8) for name, count in parts.items()}
    y = {f"y_{name}": np.arange(count) % 10 for name, count in parts.items()}
    np.savez(folder / "images.npz", **x, **y)
    return folder


def page(name, folder, **changes):
    where = Workshop(
        data=str(folder / "images.npz"), cache=folder / "scores.sqlite", table_settings={**TINY, **changes}
    )
    return reproduce(name, where)


def test_curves_of_cells_that_span_the_widths(images):
    found = page("thesis-figure-4.3", images)
    lines = {(line.row, line.column): line for line in found.lines}
    assert lines["darts", "width"].ours.value == 3.5
    assert -1 <= lines["Spearman of width with loss", "after 4 steps"].ours.value <= 1
    assert [one.name for one in found.scatters] == ["darts-val_loss", "darts-val_accuracy"]
    assert len(set(found.scatters[0].kinds)) == 3
    assert set(found.scatters[0].x) == {2.0, 4.0}


def test_other_rates(images):
    found = page("thesis-figure-4.4", images, rates=[0.0025, 1e30])
    lines = {(line.group, line.row, line.column): line for line in found.lines}
    assert lines["rate-0.0025", "darts", "loss after 2 steps"].ours is not None
    lost = lines["rate-1e+30", "darts", "loss after 4 steps"]
    assert lost.ours is None
    assert "diverged under 1 of 1 seeds" in lost.reason
    assert any("rate 1e+30" in note for note in found.notes)


def test_random_operations(images):
    found = page("thesis-figure-4.5", images, variants=1)
    rows = {line.row for line in found.lines}
    assert {"spread of the loss over random operations", "spread of the loss over random connections", "C1"} <= rows


def test_ends(images):
    """The trainings of Figure 4.5 are not done again: the same cells, kept beside the scores."""
    before = len(list((images / "studies").glob("*/*")))
    found = page("thesis-figure-4.10", images, variants=1)
    assert len(list((images / "studies").glob("*/*"))) <= max(before, 3)
    lines = {(line.row, line.column): line for line in found.lines}
    assert 0 <= lines["C1", "test accuracy (%)"].ours.value <= 100
    assert len(found.scatters[0].x) == 2


def test_variants_span_the_widths():
    cells = popular("darts", 3, 0, span=True)
    assert cells[0].name == "darts"
    assert cells[1].width < cells[-1].width
    assert not math.isnan(cells[1].width)
