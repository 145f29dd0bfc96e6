"""Dextr's tables: the numbers made here, and every table on a few thin networks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.papers.dextr.thin import THIN, linked
from torch import nn

from foresee.papers import Workshop, reproduce
from foresee.papers.asked import Measured
from foresee.papers.base import reproductions
from foresee.papers.cells import Cell
from foresee.papers.dextr import figures, tables
from foresee.papers.numbers import published
from foresee.papers.samples import BENCHMARKS
from foresee.scoring import Scorer, ScoringSettings

HERE = [name for name, one in reproductions.items() if one.compute.__module__ in (tables.__name__, figures.__name__)]
CELL = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|"


def test_harmonic_mean():
    first, second = Measured(np.array([[1.0, 4.0, np.nan]])), Measured(np.array([[3.0, 4.0, 1.0]]))
    found = tables.harmonic_mean(first, second).values
    assert found[0, :2] == pytest.approx([1.5, 4.0])
    assert np.isnan(found[0, 2])


def test_regularised_swap_is_the_proxy_with_these_settings():
    """At mu = the largest size in thousands and sigma = mu^2 it is the proxy `swap_reg`."""
    net, batch = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3)), torch.randn(6, 3, 8, 8)
    from foresee.scoring import score

    size, largest = score(net, batch, "params").value, 500.0
    swap = score(net, batch, "swap", seed=1).value
    settings = {"mu": largest / 1e3, "sigma": (largest / 1e3) ** 2}
    expected = score(net, batch, "swap_reg", seed=1, settings=settings).value
    found = tables.regularised(Measured(np.array([[swap, 1.0]])), Measured(np.array([[size, largest]])))
    assert found.values[0, 0] == pytest.approx(expected)
    assert found.values[0, 1] == 1.0


def test_share_of_layers_by_hooks():
    asked = ScoringSettings(proxies=("params",), data="synthetic", inputs=(3, 16, 16), outputs=10)
    scorer = Scorer("nasbench201", asked, space_settings=THIN["nasbench201"])
    network, seen = scorer.candidate(CELL).build().double(), []
    with torch.no_grad():
        network.classifier.weight.mul_(0.01)

    def hook(module, inputs, output):
        matrix = output[0].reshape(len(output[0]), -1).numpy()
        seen.append(np.linalg.svd(matrix, compute_uv=False)[0] >= 1)

    for module in network.modules():
        if not list(module.children()):
            module.register_forward_hook(hook)
    batch = scorer.data.batch(1, seed=0)
    with torch.no_grad():
        network.train()(batch.inputs.double())
    plain = Scorer("nasbench201", asked, space_settings=THIN["nasbench201"])
    plain.candidate = lambda text: type("Made", (), {"build": staticmethod(lambda: _unhooked(network))})()
    assert 0 < np.mean(seen) < 1
    # three cells, in each of which node 2 and node 3 have a sum with `none` in it: one and two of them
    assert tables.unit_layers(plain, CELL) == (sum(seen), len(seen), 3 * (1 + 2))


@pytest.mark.parametrize("shape", [(3, 7), (7, 3), (4, 4), (5, 1)])
def test_reaching_one_is_what_all_singular_values_say(shape):
    """Also where rows and columns are shorter than 1 and all entries together longer: there it has to be computed."""
    for seed in range(40):
        matrix = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        largest = 0.505 + seed / 40
        matrix *= largest / torch.linalg.svdvals(matrix)[0]
        assert tables.reaches_one(matrix) == (largest >= 1)
    assert not tables.reaches_one(torch.zeros(shape, dtype=torch.float64))
    nearly = torch.eye(3, dtype=torch.float64) * (1 - 1e-12)
    assert not tables.reaches_one(nearly)
    assert tables.reaches_one(torch.full((2, 2), 0.5, dtype=torch.float64) + 1e-12)


def _unhooked(network):
    for module in network.modules():
        module._forward_hooks.clear()
    return network.float()


@pytest.mark.parametrize("name", HERE)
def test_without_tables_every_cell_says_why(name, tmp_path):
    (tmp_path / "other.csv").write_text("arch,val_acc\nx,1\n")
    page = reproduce(name, Workshop(tmp_path))
    assert page.lines
    assert all(line.ours is None and "no table" in line.reason for line in page.lines)
    assert page.published is None or len(page.lines) == sum(len(row.values) for row in page.published.rows)


def test_table_4_on_eight_cells(data_folder, tmp_path):
    workshop = linked(tmp_path, data_folder, "nb201_cifar10.csv.gz")
    page = reproduce("dextr-table-4", workshop)
    ours = {line.row: line for line in page.lines if line.column == "nasbench201-cifar10"}
    assert [row.name for row in published("dextr-table-4").rows] == list(ours)
    assert all(-1 <= line.ours.value <= 1 and line.ours.n == 8 for line in ours.values())
    assert all(line.agrees is not None for line in ours.values())
    others = [line for line in page.lines if line.column != "nasbench201-cifar10"]
    assert all(line.ours is None and "no table of nasbench201" in line.reason for line in others)
    assert any("channels = 4" in note for note in page.notes)


def test_table_5_is_in_percent(data_folder, tmp_path):
    page = reproduce("dextr-table-5", linked(tmp_path, data_folder, "nb201_cifar10.csv.gz", "nb301_proxies_725.csv.gz"))
    ours = {line.row: line for line in page.lines}
    assert ours["nasbench101"].reason == "no table of nasbench101"
    for row in ("nasbench201", "nasbench301"):
        assert 50 < ours[row].ours.low <= ours[row].ours.value <= ours[row].ours.high <= 100


def test_cells_are_published_ones():
    """Every row and column a table yields is one that the paper has."""

    class Everything(Workshop):
        def sampled(self, name, **_):
            return type("Sample", (), {"benchmark": name, "space": BENCHMARKS[name].space, "truth": np.arange(4.0)})()

        def measure(self, sample, asked):
            return {name: Measured(np.arange(4.0)[None] + 1) for name in asked}

        def each(self, sample, look, network=None, **more):
            return [(1, 2, 1)] * 4

        def context(self, *_):
            return ""

    for name in ("dextr-table-1", "dextr-table-4", "dextr-table-5", "dextr-table-6", "dextr-table-7"):
        cells = [one for one in reproductions[name].compute(Everything(bootstrap=0)) if isinstance(one, Cell)]
        table = published(name)
        assert {(one.row, one.column) for one in cells} == {
            (row.address, column.name) for row in table.rows for column in table.columns
        }
        assert all(one.estimate is not None for one in cells)
        if name == "dextr-table-5":
            assert {(one.estimate.value, one.reason) for one in cells} == {(50.0, "33.33 with every none as a layer")}
