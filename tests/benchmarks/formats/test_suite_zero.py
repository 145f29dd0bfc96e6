"""NAS-Bench-Suite-Zero: tuples become the right architectures, scores the right proxies."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from foresee.benchmarks import load
from foresee.errors import DataError, InputError
from foresee.spaces import get
from foresee.spaces.darts.text import to_pairs


def entry(accuracy, **scores):
    return {
        "id": 7,
        **{name: {"score": score, "time": 0.5} for name, score in scores.items()},
        "val_accuracy": accuracy,
    }


def test_suite_zero_of_nasbench201(write_json):
    key, other = "(4, 3, 3, 0, 0, 0)", "(2, 1, 0, 2, 1, 0)"
    plain = {
        "cifar10": {key: entry(81.9, synflow=46.4, params=0.129306), other: entry(90.4, synflow=math.nan)},
        "ImageNet16-120": {key: entry(30.0, synflow=40.0)},
    }
    table = load(write_json(plain))
    assert table.space == "nasbench201"
    assert table.checked().architectures == (
        # edges 12, 13, 14, 23, 24, 34, as the first cell of the benchmark's own table has them
        "|avg_pool_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|nor_conv_1x1~0|skip_connect~1|skip_connect~2|",
        "|nor_conv_3x3~0|+|none~0|nor_conv_3x3~1|+|skip_connect~0|none~1|skip_connect~2|",
    )
    assert table.values("val_acc_cifar10").tolist() == [81.9, 90.4]
    np.testing.assert_array_equal(table.values("val_accuracy_imagenet16"), [30.0, np.nan])
    np.testing.assert_array_equal(table.proxy("synflow:cifar10"), [46.4, np.nan])
    assert table.cost("params")[0] == 129306
    assert table.cost("seconds:synflow_cifar10").tolist() == [0.5, 0.5]


def test_suite_zero_agrees_with_the_compact_file_of_the_same_numbers(write_json, data_folder):
    """Real proxies of real cells, written in the suite's form: translated back, each is with its own cell again."""
    real = load(data_folder / "nas" / "nb201_proxies_cifar10.csv.gz")
    ops = ("skip_connect", "none", "nor_conv_3x3", "nor_conv_1x1", "avg_pool_3x3")
    plain = {}
    for place in range(0, len(real), 500):
        nodes = [node.strip("|").split("|") for node in real.architectures[place].split("+")]
        code = tuple(
            ops.index(nodes[j - 1][i].partition("~")[0]) for i, j in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
        )
        plain[str(code)] = entry(real.values("naslib_val")[place], zen=real.proxy("zen")[place])
    table = load(write_json({"cifar10": plain}))
    places = [real.find(text) for text in table.architectures]
    assert places == list(range(0, len(real), 500))
    np.testing.assert_array_equal(table.proxy("zen"), real.proxy("zen")[places])
    np.testing.assert_array_equal(table.values("val_accuracy"), real.values("naslib_val")[places])


def test_suite_zero_of_nasbench101(write_json):
    matrix = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    key = str((*(edge for row in matrix for edge in row), 0, 4, 1))
    table = load(write_json({"cifar10": {key: entry(94.0, zen=1.0)}}))
    assert (table.space, table.architectures) == ("nasbench101", ("conv3x3@0+output@0,1",))


def test_suite_zero_of_transnas(write_json):
    micro = load(
        write_json(
            {"class_object": {"(2, 3, 2, 3, 2, 0)": entry(40.0, zen=1.0), "(0, 0, 0, 1, 1, 1)": entry(9.0, zen=1.0)}}
        )
    )
    assert (micro.space, micro.architectures[0]) == ("transnas_micro", "64-41414-2_32_320")
    macro = load(
        write_json({"jigsaw": {"(2, 3, 1, 1, 0, 0)": entry(40.0, zen=1.0), "(4, 1, 4, 1, 4, 1)": entry(9.0, zen=1.0)}})
    )
    assert (macro.space, macro.architectures) == ("transnas_macro", ("64-2311-basic", "64-414141-basic"))


def test_suite_zero_of_nasbench301(write_json):
    cell = get("darts").sample(random.Random(0))
    key = str(tuple(tuple(pairs) for pairs in to_pairs(cell)))
    table = load(write_json({"cifar10": {key: entry(94.0, zen=1.0)}}))
    assert (table.space, table.architectures) == ("darts", (str(cell),))


@pytest.mark.parametrize(
    "plain",
    [
        {"cifar10": {"(4, 3)": entry(1.0, zen=1.0)}},
        {"cifar10": {"__import__('os')": entry(1.0, zen=1.0)}},
        {"cifar10": {"(4, 3, 3, 0, 0, 9)": entry(1.0, zen=1.0)}},
        {"cifar10": {"(4, 3, 3, 0, 0, 0)": entry(math.nan, zen=1.0)}},
        {"cifar10": {"(4, 3, 3, 0, 0, 0)": entry(1.0, zen="high")}},
        {"cifar10": {"(4, 3, 3, 0, 0, 0)": entry(1.0, zen=1.0), "(4,3,3,0,0,0)": entry(1.0, zen=1.0)}},
    ],
)
def test_suite_zero_that_is_not_sound(write_json, plain):
    with pytest.raises((DataError, InputError)):
        load(write_json(plain))


def test_null_is_a_missing_number(write_json):
    one, two = "(4, 3, 3, 0, 0, 0)", "(4, 3, 3, 0, 0, 1)"
    table = load(write_json({"cifar10": {one: entry(None, zen=1.0), two: entry(2.0, zen=None)}}))
    np.testing.assert_array_equal(table.values("val_accuracy"), [np.nan, 2.0])
    np.testing.assert_array_equal(table.proxy("zen"), [1.0, np.nan])


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        (
            {"cifar10": {"(4, 3, 3, 0, 0, 9)": entry(1.0, zen=1.0)}},
            r"t.json, cifar10, architecture \(4, 3, 3, 0, 0, 9\)",
        ),
        (
            {"cifar10": {"(4, 3, 3, 0, 0, 0)": entry("x", zen=1.0)}},
            r"architecture .*, val_accuracy: 'x', expected a number",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(write_json, plain, message):
    with pytest.raises(DataError, match=message):
        load(write_json(plain))


def test_tuples_that_fit_both_spaces_of_transnas(write_json):
    path = write_json({"jigsaw": {"(2, 3, 2, 3, 2, 1)": entry(40.0, zen=1.0)}})
    assert load(path).space == "transnas_macro"
    assert load(path, space="transnas_micro").architectures == ("64-41414-2_32_321",)
