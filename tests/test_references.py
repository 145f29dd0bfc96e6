from __future__ import annotations

import pytest

from foresee.errors import InputError
from foresee.references import check_named, is_code, tidied


def test_a_file_may_name_registered_spaces_only():
    check_named("table.csv", "nasbench201", "--space nasbench201")
    with pytest.raises(InputError, match=r"^table.csv: its space nets:make is code.*say so: --space nets:make$"):
        check_named("table.csv", "nets:make", "--space nets:make")


@pytest.mark.parametrize("name", ["canary:make\n", "a:\x1b[31m", "x:\u2028"])
def test_a_name_that_cannot_be_shown_is_shown_safely(name):
    with pytest.raises(InputError) as refused:
        check_named("table.npz", name, f"--space {name!r}")
    assert str(refused.value).isprintable()


def test_code_and_names():
    assert [is_code(one) for one in ("nats-size", "nets.py:make")] == [False, True]
    assert [tidied(one) for one in ("nats-size", "my-nets.py:make")] == ["nats_size", "my-nets.py:make"]
