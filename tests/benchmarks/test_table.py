"""The one columnar form: targets and their names, means over seeds, costs."""

from __future__ import annotations

import numpy as np
import pytest

from foresee.benchmarks.formats.collect import Collector
from foresee.benchmarks.table import MEAN, UNKNOWN, direction
from foresee.errors import DataError, InputError, UnknownNameError


def test_targets_have_names_counts_and_directions(table):
    found = {target.name: (target.n, target.epochs, target.seeds, target.direction) for target in table.targets()}
    assert found == {
        "test_acc_cifar10@12": (1, 12, (777,), "higher"),
        "test_acc_cifar10": (3, 200, (MEAN, 777, 888), "higher"),
        "val_loss_cifar100": (1, UNKNOWN, (0,), "lower"),
    }
    assert direction("val_neg_loss") == "higher"
    assert direction("closs_acc") == "higher"  # a word, not a part of one


def test_the_repr_is_short(table):
    assert repr(table) == "<Table of own architectures: 3 architectures, 6 measured values>"


@pytest.mark.parametrize("name", ["test_acc_cifar10", "test_acc_cifar10@200", "test_acc", "test_acc@200"])
def test_every_way_to_name_a_target(table, name):
    np.testing.assert_array_equal(table.values(name), [90.0, 92.0, 70.0])


def test_one_seed_by_argument_by_name_and_by_alias(table):
    expected = [90.0, 91.0, np.nan]
    np.testing.assert_array_equal(table.values("test_acc", seed=777), expected)
    np.testing.assert_array_equal(table.values("test_acc_cifar10#777"), expected)
    np.testing.assert_array_equal(table.values("old_name"), expected)
    assert table.target("old_name").name == "test_acc_cifar10"
    with pytest.raises(InputError, match="seed 5; there is -1, 777, 888"):
        table.values("test_acc", seed=5)


def test_a_mean_that_a_table_brings_along_wins_over_single_seeds():
    collector = Collector("a file", "")
    collector.new("a")
    collector.measure(0, 1.0, "acc", seed=0)
    collector.measure(0, 5.0, "acc", seed=MEAN)
    assert collector.table().values("acc").tolist() == [5.0]


def test_spread_is_the_standard_deviation_over_seeds(table):
    np.testing.assert_allclose(table.spread("test_acc"), [np.nan, np.std([91, 93], ddof=1), np.nan])


def test_short_names_only_where_they_leave_no_doubt():
    collector = Collector("a file", "")
    collector.new("a")
    collector.measure(0, 1.0, "acc", "cifar10", 5)
    collector.measure(0, 2.0, "acc", "cifar100", 7)
    table = collector.table()
    with pytest.raises(UnknownNameError, match="acc_cifar10"):
        table.values("acc")
    assert table.values("acc@7").tolist() == [2.0]  # only one of them was trained so long


@pytest.mark.parametrize("name", ["test_acc_cifar11", "", "test_acc@13", "test_acc#x", "#", "@"])
def test_an_unknown_target_names_the_nearest(table, name):
    with pytest.raises(UnknownNameError):
        table.values(name)
    with pytest.raises(UnknownNameError, match="did you mean test_acc_cifar10"):
        table.values("test_acc_cifar")


def test_costs_and_proxies_are_found_with_or_without_their_task(table):
    for name in ("params", "params:cifar10", "params_cifar10"):
        np.testing.assert_array_equal(table.cost(name), [100.0, np.nan, np.nan])
    np.testing.assert_array_equal(table.proxy("zen"), [np.nan, -3.0, np.nan])
    with pytest.raises(UnknownNameError, match=r"macs:cifar10"):
        table.cost("macs")  # two tasks have one
    with pytest.raises(UnknownNameError, match="precomputed proxy"):
        table.proxy("params")


def test_find_reads_other_texts_of_the_same_architecture():
    collector = Collector("a file", "nasbench101")
    collector.new("conv3x3@0+output@0,1")
    table = collector.table()
    assert table.find("conv3x3@0+output@0,1") == table.find("conv3x3-bn-relu@0+output@1,0") == 0
    with pytest.raises(InputError, match="not among the 1"):
        table.find("conv1x1@0+output@0,1")


def test_checked_writes_every_text_as_its_space_does():
    collector = Collector("a file", "nasbench101")
    collector.new("conv3x3-bn-relu@0+output@1,0")
    assert collector.table().checked().architectures == ("conv3x3@0+output@0,1",)
    collector.new("conv3x3@0+output@0,1")
    with pytest.raises(DataError, match="comes twice, written in two ways"):
        collector.table().checked()
    collector = Collector("a file", "nasbench101")
    collector.new("conv9x9@0+output@1,0")
    with pytest.raises(InputError, match="conv9x9"):
        collector.table().checked()


def test_a_table_whose_parts_do_not_fit_is_refused(table):
    from dataclasses import replace

    with pytest.raises(DataError, match="architecture codes from 0 to 2"):
        replace(table, architectures=("a",), costs={}, proxies={})
    with pytest.raises(DataError, match="cost params has shape"):
        replace(table, costs={"params": np.zeros(2)})
    with pytest.raises(DataError, match="different lengths"):
        replace(table, rows=replace(table.rows, seed=table.rows.seed[:1]))
    with pytest.raises(DataError, match="NaN or infinite"):
        replace(table, rows=replace(table.rows, value=table.rows.value * np.inf))
