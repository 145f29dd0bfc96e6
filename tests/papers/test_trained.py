"""What the papers' searches find, counted at the printed size and trained at a reduced one."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

import foresee.papers.dextr.trained as tables_of_dextr
from foresee.papers import Workshop, reproduce
from foresee.papers.darts_trained import KNOWN, PRINTED, known
from foresee.papers.trained import CIFAR, IMAGENET, printed, searched, size
from foresee.spaces import get
from foresee.spaces.candidate import Candidate
from foresee.spaces.counting import on_meta
from foresee.task import Task

TINY = {"epochs": 1, "batch": 10, "channels": 2, "layers": 3}
NASI = {"nasi": {"steps": 1, "batch": 2, "one_shot": {"channels": 2, "layers": 3}}}


@pytest.fixture
def images(tmp_path):
    """Thirty images of ten classes, and ten to test on."""
    draws = np.random.default_rng(0)
    parts = {"train": 30, "test": 10}
    x = {f"x_{name}": draws.integers(0, 256, (count, 8, 8, 3), dtype=np.uint8) for name, count in parts.items()}
    y = {f"y_{name}": np.arange(count) % 10 for name, count in parts.items()}
    np.savez(tmp_path / "images.npz", **x, **y)
    return str(tmp_path / "images.npz")


def workshop(**changes):
    return Workshop(**{"data": "digits", "searcher_settings": NASI, "table_settings": TINY, **changes})


def cells(name, where):
    return {(line.row, line.column): line for line in reproduce(name, where).lines}


@pytest.mark.parametrize("name", KNOWN.values())
def test_parameters_are_those_of_the_network_of_the_printed_size(name):
    candidate = printed(known(name), CIFAR, **PRINTED)
    network = on_meta(candidate.build)
    found = size("row", "column", [candidate])
    assert found.estimate.value == pytest.approx(sum(one.numel() for one in network.parameters()) / 1e6, abs=1e-9)
    assert found.reason == f"{candidate.space.counts(candidate.architecture, CIFAR).macs / 1e6:.0f} M MACs"


def test_published_cells_have_the_printed_parameters():
    where = workshop(table_settings={"trained": False}, repeats=1)
    table = cells("nasi-table-1", where)
    for row, theirs in (("DARTS (2nd)", 3.3), ("GDAS", 3.4)):
        assert table[row, "cifar10:params"].ours.value == pytest.approx(theirs, abs=0.15), row
        assert table[row, "cifar10:error"].ours is None
        assert "not trained" in table[row, "cifar10:error"].reason


def test_what_is_found_is_trained_at_the_reduced_size(images):
    table = cells("thesis-table-7.7", workshop(data=images, batch_size=4))
    assert table["HNAS (C10)", "cifar10:params"].ours.value > 1
    error = table["NASI-ADA", "cifar10:error"]
    assert 0 < error.ours.value < 100
    assert "2 channels, 3 layers, 1 epochs of nasi_cifar" in error.reason
    assert error.agrees is None  # of another size: never judged
    assert table["NASI-ADA", "cifar100:params"].ours.value > table["NASI-ADA", "cifar10:params"].ours.value


@pytest.mark.slow
def test_a_table_that_was_stopped_goes_on_with_what_is_kept(tmp_path, images):
    where = {"cache": tmp_path / "scores.sqlite", "data": images}
    first = reproduce("nasi-figure-4", workshop(**where))
    kept = sorted((tmp_path / "trainings").iterdir())
    assert len(list((tmp_path / "searches").iterdir())) == 5  # nu = 100 and mu = 2 are one search
    again = reproduce("nasi-figure-4", workshop(**where))
    assert sorted((tmp_path / "trainings").iterdir()) == kept
    assert [line.to_json() for line in first.lines] == [line.to_json() for line in again.lines]


def test_the_grid_has_a_cell_for_each_pair():
    table = cells("nasi-figure-6a", workshop(table_settings={"trained": False, "mus": (2, 1)}))
    assert all(line.ours is None for line in table.values())


@pytest.mark.parametrize(
    ("name", "row", "column", "space", "unit"),
    [
        ("dextr-table-2", "Dextr (ours)", "params", "darts", 1e6),
        ("dextr-table-3", "Dextr (ours)", "params", "autoformer_tiny", 1e6),
        ("dextr-table-8", "Dextr (ours)", "flops", "mobilenet", 1e6),
    ],
)
def test_networks_for_imagenet_are_counted_at_that_size(monkeypatch, name, row, column, space, unit):
    pick = Candidate(get(space), get(space).sample(Random(1)), IMAGENET)
    monkeypatch.setattr(tables_of_dextr, "searched", lambda *_, **__: [pick])
    ours = cells(name, workshop(table_settings={"trained": False}))[row, column].ours.value
    large = printed(pick, IMAGENET, **tables_of_dextr.LARGE) if space == "darts" else pick
    counts = large.space.counts(large.architecture, IMAGENET)
    assert ours == pytest.approx((counts.params if column == "params" else counts.macs) / unit)


def test_a_preset_is_searched_once_for_each_seed():
    picks = searched(workshop(repeats=2), "nasi-fix-darts")
    assert len(picks) == 2
    assert printed(picks[0], IMAGENET, network="imagenet", channels=4, layers=3).task == Task((3, 224, 224), 1000)
    assert math.isnan(size("row", "column", picks[:1]).estimate.low)
