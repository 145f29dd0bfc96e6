"""NAS-Bench-Macro's own JSON."""

from __future__ import annotations

import math

import pytest

from foresee.benchmarks import load
from foresee.errors import DataError, InputError

ENTRY = {"test_acc": [45.32, 45.33, 45.44], "mean_acc": 45.3633, "std": 0.05, "params": 387882, "flops": 7713280}


def test_everything_is_where_it_belongs(write_json):
    table = load(write_json({"00000000": ENTRY, "00000001": {**ENTRY, "test_acc": [1.0, None, 3.0], "mean_acc": None}}))
    assert (table.space, table.architectures) == ("nasbench_macro", ("00000000", "00000001"))
    assert table.values("test_acc").tolist() == table.values("mean_acc").tolist() == [45.3633, 2.0]
    assert table.values("test_acc_cifar10#2").tolist() == [45.44, 3.0]
    assert math.isnan(table.values("test_acc_cifar10", seed=1)[1])
    assert (table.cost("params")[1], table.cost("flops")[0]) == (387882, 7713280)


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"00000000": ENTRY, "0000000": ENTRY}, "t.json, architecture '0000000': layers '0000000': 7 digits"),
        ({"00000000": {**ENTRY, "test_acc": [1, "x"]}}, "t.json, architecture '00000000', test_acc 2: 'x', expected"),
        ({"00000000": {**ENTRY, "params": "many"}}, "architecture '00000000', params: 'many', expected a number"),
        ({"00000000": ENTRY, "00000001": 4}, "architecture '00000001': '4', expected test_acc"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(write_json, plain, message):
    with pytest.raises(DataError, match=message):
        load(write_json(plain))


def test_another_space_is_refused(write_json):
    with pytest.raises(InputError, match="of nasbench_macro, not of nasbench201"):
        load(write_json({"00000000": ENTRY}), space="nasbench201")
