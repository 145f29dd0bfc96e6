"""Compact csv files: recognised by their columns, translated to the texts of their spaces."""

from __future__ import annotations

import csv
import gzip
import math
from functools import cache

import numpy as np
import pytest

from foresee.benchmarks import load
from foresee.errors import DataError, InputError
from foresee.spaces import get

CELL = "|nor_conv_3x3~0|+|none~0|nor_conv_3x3~1|+|skip_connect~0|none~1|skip_connect~2|"
PAIRS = (
    "[[(0, 0), (1, 5), (1, 1), (0, 1), (1, 3), (0, 3), (1, 3), (3, 2)], "
    "[(1, 0), (0, 2), (1, 3), (0, 3), (3, 0), (0, 1), (2, 0), (3, 6)]]"
)


@pytest.fixture
def write(tmp_path):
    def make(*rows, name="any_name.csv"):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        return tmp_path / name

    return make


def test_nasbench201(write):
    columns = ["index", "arch_str", "unique_id", "test_acc_cifar100", "test_acc2_cifar100", "e12_val_acc_cifar10"]
    columns += ["naslib_val_cifar10", "params_cifar10", "macs_cifar10", "zen_cifar10", "train_acc_imagenet16"]
    table = load(write(columns, [0, CELL, 0, 70.5, 70.1, 60.0, 85.0, 802426, 113951360, "", 50.0]))
    assert (table.space, table.architectures) == ("nasbench201", (CELL,))
    expected = {
        "test_acc_cifar100": 70.5,
        "test_acc2_cifar100": 70.1,
        "test_acc_cifar100#1": 70.1,
        "val_acc_cifar10@12": 60.0,
        "e12_val_acc_cifar10": 60.0,
        "val_acc_cifar10": 85.0,
        "naslib_val_cifar10": 85.0,
        "train_acc_imagenet16@200": 50.0,
    }
    assert {name: table.values(name)[0] for name in expected} == expected
    assert (table.cost("params_cifar10")[0], table.cost("macs")[0]) == (802426, 113951360)
    assert math.isnan(table.proxy("zen_cifar10")[0])


def test_nasbench201_with_precomputed_proxies(write):
    rows = (
        ["index", "arch_str", "flops", "params", "synflow", "naslib_val", "test_acc"],
        [0, CELL, 17.9, 0.129306, 46.3, 81.9, 85.8],
    )
    for name, task in (
        ("t.csv", ""),
        ("x_cifar100_y.csv", "cifar100"),
    ):  # the file's name, where no column says the task
        table = load(write(*rows, name=name))
        assert {target.task for target in table.targets()} == {task}
        assert (table.values("naslib_val")[0], table.values("test_acc")[0], table.proxy("synflow")[0]) == (
            81.9,
            85.8,
            46.3,
        )
        assert (table.cost("params")[0], table.proxy("params")[0]) == (129306, 0.129306)


def test_the_size_space(write):
    table = load(write(["index", "channels", "val_acc_cifar10"], [0, "8:8:8:8:8", 76.888]))
    assert (table.space, table.target("val_acc_cifar10").epochs) == ("nats_size", 90)


def test_nasbench101(write):
    table = load(write(["hash", "n", "adj_upper", "ops", "val_acc_4", "val_acc_108", "train_time_108", "params", "zen"],
                       ["x", 3, "111", "3", 11.3, 89.6, 1203.3, 5878154, ""]))  # fmt: skip
    assert (table.space, table.architectures) == ("nasbench101", ("conv3x3@0+output@0,1",))
    for name in ("val_acc_108", "val_acc@108", "val_acc_cifar10", "val_acc_cifar10#0"):
        assert table.values(name)[0] == 89.6
    assert table.values("val_acc_4")[0] == table.values("val_acc_cifar10@4")[0] == 11.3
    assert (table.cost("train_time")[0], table.cost("params")[0]) == (1203.3, 5878154)


def test_nasbench1shot1(write):
    columns = ["space", "adj7x7", "ops", "val_acc1", "val_acc2", "val_acc3", "test_acc1"]
    matrix = "0100001001000100000010000000000000000000000000000"
    table = load(write(columns, [2, matrix, "33111", 93, 94, 95, 92]))
    assert (table.space, dict(table.space_settings)) == ("nasbench1shot1_s2", {"loose_ends": "listed"})
    assert (table.values("val_acc")[0], table.values("val_acc2")[0], table.spread("val_acc")[0]) == (94, 94, 1)
    assert table.checked().architectures == table.architectures
    with pytest.raises(DataError, match="spaces 2, 3, expected one"):
        load(write(columns, [2, matrix, "33111", 93, 94, 95, 92], [3, matrix, "33111", 93, 94, 95, 92]))


def test_transnas_digits_are_texts(write):
    table = load(write(["arch", "naslib_idx", "val_class_object", "val_room_layout", "zen_jigsaw"],
                       ["012323", 0, 42.7, -0.7, 5.0]))  # fmt: skip
    assert (table.space, table.architectures) == ("transnas_micro", ("64-41414-0_12_323",))
    assert table.values("val_room_layout")[0] == -0.7
    assert table.target("val_room_layout").direction == "higher"
    assert table.proxy("zen_jigsaw")[0] == 5.0


def test_a_table_of_transnas_is_of_cells_or_of_skeletons(write):
    columns = ["arch", "val_class_object"]
    assert load(write(columns, ["2311", 1], ["123232", 2])).architectures == ("64-2311-basic", "64-123232-basic")
    assert load(write(columns, ["123431", 1])).space == "transnas_macro"
    assert load(write(["arch", "test_jigsaw"], ["123031", 1])).space == "transnas_micro"
    both = write(columns, ["123232", 1], name="t.csv")  # six digits from 1 to 3 are both
    with pytest.raises(DataError, match=r"t\.csv, column arch: its digits can be cells or skeletons; say --space"):
        load(both)
    assert load(both, space="transnas_macro").architectures == ("64-123232-basic",)
    assert load(both, format="transnas_micro_csv").architectures == ("64-41414-1_23_232",)
    assert load(write(columns, ["123232", 1], name="my_macro.csv")).space == "transnas_macro"
    with pytest.raises(DataError, match=r"a cell of transnas_micro in row 2 \('012323'\) and a skeleton .* in row 3"):
        load(write(columns, ["012323", 1], ["4321", 2]))
    with pytest.raises(DataError, match="row 3, column arch: modules '1111': 0 of them double"):
        load(write(columns, ["4321", 1], ["1111", 2]))
    with pytest.raises(InputError, match="of transnas_macro, not of transnas_micro"):
        load(write(columns, ["4321", 1]), space="transnas_micro")


def test_nasbench_macro(write):
    table = load(write(["arch", "acc1", "acc2", "acc3", "mean_acc", "params", "flops"],
                       ["00000001", 64.34, 64.21, 64.12, 64.2233, 791594, 14115328]))  # fmt: skip
    assert (table.space, table.architectures) == ("nasbench_macro", ("00000001",))
    assert (table.values("test_acc")[0], table.values("acc2")[0]) == (64.2233, 64.21)
    assert (table.cost("params")[0], table.cost("flops")[0]) == (791594, 14115328)
    assert load(write(["arch", "test_acc"], ["00000001", 64.2])).space == "nasbench_macro"


def test_zeros_that_a_program_took_away_are_put_back_where_that_leaves_no_doubt(write):
    assert load(write(["arch", "mean_acc"], [1, 64], [20100000, 70])).architectures == ("00000001", "20100000")
    with pytest.raises(DataError, match="row 3, column arch: layers '2010000': 7 digits, expected 8"):
        load(write(["arch", "mean_acc"], ["00000001", 64], ["2010000", 70]))
    assert load(write(["arch", "val_jigsaw"], [10, 1], [302301, 2])).architectures[0] == "64-41414-0_00_010"


@pytest.mark.parametrize("spelled", ["in16", "ImageNet16-120", "imagenet16_120", "IN16", "ImageNet16"])
def test_a_task_is_known_however_people_write_it(write, spelled):
    columns = [
        "arch_str",
        f"test_acc_{spelled}",
        f"valid-accuracy-{spelled}",
        f"synflow_{spelled}",
        f"params_{spelled}",
    ]
    table = load(write(columns, [CELL, 45.1, 46.2, 80.0, 12]))
    assert {target.name for target in table.targets()} == {"test_acc_imagenet16", "val_acc_imagenet16"}
    assert table.values(columns[1])[0] == table.values("test_acc_imagenet16")[0] == 45.1
    assert (table.proxy("synflow_imagenet16")[0], table.cost("params")[0]) == (80.0, 12)
    table = load(write(["arch", "cifar10", spelled, f"{spelled}_test"], [CELL, 93.0, 45.0, 44.0]))
    assert (table.values(spelled)[0], table.values("acc_imagenet16")[0], table.values("acc_cifar10")[0]) == (45, 45, 93)
    assert table.values("test_imagenet16")[0] == 44.0


def test_two_columns_of_one_thing_are_both_named(write):
    with pytest.raises(DataError, match="columns test_acc_in16 and test_acc_imagenet16 both hold test_acc imagenet16"):
        load(write(["arch_str", "test_acc_in16", "test_acc_imagenet16"], [CELL, 1, 2]))


def test_lines_are_counted_as_an_editor_does(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"arch_str,test_acc_cifar10\n\n{CELL},1\n\n{CELL.replace('none', 'nine')},2\n")
    with pytest.raises(DataError, match=r"t\.csv, row 5, column arch_str: unknown operation on edge 0->2 'nine'"):
        load(path)


def test_nasbench301(write):
    table = load(write(["arch", "val_accuracy", "params", "t_params", "synflow"], [PAIRS, 93.3, 0.856298, 0.5, 52.8]))
    assert table.space == "darts"
    assert table.architectures[0].startswith("Genotype(normal=[('max_pool_3x3', 0), ('dil_conv_3x3', 1)")
    assert table.values("val_accuracy")[0] == 93.3
    assert (table.cost("params")[0], table.cost("seconds:params")[0], table.proxy("params")[0]) == (
        856298,
        0.5,
        0.856298,
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["arch_str", "test_acc_cifar10"], [CELL, "nan"]], "row 2: test_acc_cifar10 is nan; leave it empty"),
        ([["arch_str", "test_acc_cifar10"], [CELL, 1], [CELL, 2]], "comes twice"),
        ([["adj_upper", "val_acc_108"], ["111", 1]], "like that of nasbench101, but column ops is missing"),
        ([["arch", "zen_jigsaw"], ["012323", 1]], "but column .* is missing"),
        ([["arch_srt", "val_acc_cifar10"], [CELL, 1]], "column arch_srt: did you mean arch_str"),
        ([["adj_upper", "ops", "val_acc_108"], ["11", "3", 1]], "expected 9 digits"),
        ([["a", "b"], [1, 2]], "columns a, b, which spell no architecture"),
    ],
)
def test_what_does_not_fit_is_one_error(write, rows, message):
    with pytest.raises((DataError, InputError), match=message):
        load(write(*rows))


def test_a_space_that_contradicts_the_columns(write):
    with pytest.raises(InputError, match="of nats_size, not of nasbench201"):
        load(write(["channels", "val_acc_cifar10"], ["8:8:8:8:8", 1]), space="nasbench201")


# -- the real files -----------------------------------------------------------------------------------------------------
FILES = {
    "nb201_cifar10.csv.gz": ("nasbench201", 15625, "test_acc_cifar10", "arch_str"),
    "nb201_proxies_cifar10.csv.gz": ("nasbench201", 9445, "test_acc", "arch_str"),
    "nats_sss_cifar10.csv.gz": ("nats_size", 32768, "val_acc_cifar10", "channels"),
    "nb101.csv.gz": ("nasbench101", 13231, "val_acc_108", None),
    "nb1shot1.csv.gz": ("nasbench1shot1_s2", 1779, "test_acc3", None),
    "nb301_proxies_725.csv.gz": ("darts", 378, "val_accuracy", None),
    "tnb101_micro.csv.gz": ("transnas_micro", 2037, "val_class_object", None),
    "tnb101_macro.csv.gz": ("transnas_macro", 1622, "val_class_object", None),
    "nb_macro.csv.gz": ("nasbench_macro", 3348, "mean_acc", "arch"),
}


@pytest.fixture(scope="module")
def real(data_folder):
    """The table of a real file, read once."""
    return cache(lambda name: load(data_folder / "nas" / name))


@pytest.mark.parametrize("name", FILES)
def test_every_number_of_a_real_file_is_where_it_belongs(data_folder, real, name):
    """Against the csv module: each column of the file, by its own name, in the file's order."""
    space, count, target, spelled = FILES[name]
    path = data_folder / "nas" / name
    table = real(name)
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))
    assert (table.space, len(table), len(set(table.architectures))) == (space, count, count)
    np.testing.assert_array_equal(table.values(target), [float(row[target]) for row in rows])
    if spelled:
        assert list(table.architectures) == [row[spelled] for row in rows]
    for column in rows[0]:
        expected = (
            [float(row[column]) if row[column] else math.nan for row in rows] if column in table.aliases else None
        )
        if expected is not None:
            np.testing.assert_array_equal(table.values(column), expected)
    known = {
        "index",
        "arch_str",
        "unique_id",
        "channels",
        "hash",
        "n",
        "adj_upper",
        "ops",
        "space",
        "adj7x7",
        "arch",
        "naslib_idx",
    }
    for column in set(rows[0]) - known - set(table.aliases):
        found = table.cost if column.startswith(("params_", "macs_", "t_", "train_time")) else table.proxy
        if name in ("nb101.csv.gz", "nb_macro.csv.gz") and column in ("params", "flops"):
            found = table.cost
        asked = f"seconds:{column[2:]}" if column.startswith("t_") else column
        np.testing.assert_array_equal(found(asked), [float(row[column]) if row[column] else math.nan for row in rows])


@pytest.mark.parametrize("name", FILES)
def test_the_space_reads_every_text_of_a_real_file(real, name):
    table = real(name)
    assert table.checked().architectures == table.architectures


def test_parameters_of_real_rows_are_those_of_the_space(real):
    """A translated architecture is the one that was measured: its counts are the table's."""
    from foresee.task import Task

    table = real("nb101.csv.gz")
    space, task = get(table.space), Task((3, 32, 32), 10)
    for place in range(0, len(table), 1500):
        assert space.counts(space.parse(table.architectures[place]), task).params == table.cost("params")[place]
