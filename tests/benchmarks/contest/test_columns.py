"""Which columns are meant where nobody says."""

from __future__ import annotations

import pytest
from tests.benchmarks.small import LOOK, small_table

from foresee.benchmarks.contest import compare
from foresee.benchmarks.contest.columns import shorter, usual_judge, usual_target
from foresee.benchmarks.table import Table
from foresee.errors import InputError

ASK = {**LOOK, "seeds": 1, "budget": 6}


def test_usual_columns_are_test_and_the_shortest_validation():
    table = small_table()
    assert usual_judge(table).name == "test_acc_cifar10"
    assert usual_target(table, usual_judge(table)).name == "val_acc_cifar10"
    found = compare(table, "random@measured", **{**ASK, "judge": None, "target": None})
    assert (found.settings.judge, found.settings.target) == ("test_acc_cifar10", "val_acc_cifar10")
    open_ended = compare(table, "random@params", **{**ASK, "judge": "test_loss", "target": None})
    assert open_ended.settings.target is None
    assert open_ended.truth.direction == "lower"
    assert open_ended.truth.best == table.values("test_loss").min()
    assert all(one.regret.value >= 0 for one in open_ended.standings.values() if one.judged.n)


def test_where_there_is_no_such_column_all_are_named(table: Table):
    assert usual_judge(table).name == "test_acc_cifar10"
    assert [one.name for one in shorter(table, usual_judge(table))] == ["test_acc_cifar10@12"]
    with pytest.raises(InputError, match=r"--target.*test_acc_cifar10@12"):
        usual_target(table, usual_judge(table))  # what was validated is of another task
