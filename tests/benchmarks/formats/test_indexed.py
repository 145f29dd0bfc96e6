"""Tables by the benchmark's own numbers: NAS-Bench-201's order, the size space's, and what is no number of them."""

from __future__ import annotations

import csv
import gzip

import pytest

from foresee.benchmarks import load
from foresee.errors import DataError, InputError
from foresee.spaces.nasbench201.listing import official


@pytest.fixture
def write(tmp_path):
    def make(*rows, name="hardware.csv"):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        return tmp_path / name

    return make


def test_the_order_is_that_of_the_benchmark(data_folder):
    path = data_folder / "nas" / "nb201_cifar10.csv.gz"
    if not path.is_file():
        pytest.skip(f"no nas/{path.name} under FORESEE_DATA")
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            assert official()[int(row["index"])] == row["arch_str"]
    assert len(set(official())) == 15_625


def test_hardware_and_robustness(write):
    columns = ["Unnamed: 0", "index", "edgegpu_latency", "cifar10_fgsm_3.0", "test_acc_cifar10", "params", "synflow"]
    table = load(write(columns, [0, 7, 5.8, 31.5, 90.0, 100, 3.0], [1, "0.0", 4.0, "", 91.0, 200, 4.0]))
    assert (table.space, table.architectures) == ("nasbench201", (official()[7], official()[0]))
    assert table.values("edgegpu_latency").tolist() == [5.8, 4.0]
    assert table.target("edgegpu_latency").direction == "lower"
    assert table.target("fgsm_3.0_cifar10").n == 1
    assert table.values("cifar10_fgsm_3.0")[0] == 31.5
    assert table.values("test_acc_cifar10").tolist() == [90.0, 91.0]
    assert (table.cost("params")[0], table.proxy("synflow")[1]) == (100, 4.0)
    assert table.checked().architectures == table.architectures


def test_the_size_space_where_it_is_said(write):
    assert load(write(["idx", "latency"], [1, 5.8]), space="nats_size").architectures == ("8:8:8:8:16",)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [["index", "x"], [15625, 1]],
            r"row 2, column index: '15625', expected a whole number .* say --space nats_size",
        ),
        ([["index", "x"], [0, 1], ["0.5", 1]], "row 3, column index: '0.5', expected a whole number from 0 to 15624"),
        ([["index", "x"], [0, 1], ["abc", 1]], "row 3, column index: 'abc'"),
        ([["index", "x"], [0, 1], ["", 1]], "row 3, column index: '', expected"),
        ([["index", "x"], [0, 1], [0, 1]], "row 3, column index: .* comes twice, first in row 2"),
        ([["index", "x"], [0, "fast"]], "row 2: x is 'fast', expected a number"),
        ([["index", "hash"], [0, "abc"]], "no column of numbers beside index"),
    ],
)
def test_what_is_no_number_of_an_architecture(write, rows, message):
    with pytest.raises(DataError, match=message):
        load(write(*rows))


@pytest.mark.parametrize("columns", [["id", "x"], ["index", "arch", "x"], ["index", "metric", "x"]])
def test_other_tables_are_not_taken_for_one(write, columns):
    with pytest.raises(DataError, match=r"hardware\.csv: a csv"):
        load(write(columns, [0] * len(columns)))


def test_spaces_without_numbers(write):
    with pytest.raises(InputError, match="names its architectures by numbers, which darts does not have"):
        load(write(["index", "x"], [0, 1]), space="darts")
