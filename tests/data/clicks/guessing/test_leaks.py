from __future__ import annotations

import random

import numpy as np
import pytest

from foresee.data.clicks.guessing.evidence import Column
from foresee.data.clicks.guessing.leaks import leaks

rng = random.Random(0)
YES = np.array([rng.random() < 0.2 for _ in range(600)])


@pytest.mark.parametrize(
    ("values", "suspected"),
    [
        ([str(int(not one)) for one in YES], "its values tell 100 %"),
        (["bought" if one else rng.choice("abc") for one in YES], "its values tell 100 %"),
        (["" if one else str(k) for k, one in enumerate(YES)], "where it is missing tells 100 %"),
        ([f"{rng.random() + 2 * one:.6f}" for one in YES], "it orders the rows by the label"),
        ([f"{rng.random() - 2 * one:.6f}" for one in YES], "it orders the rows by the label"),
        ([f"{rng.random() + 0.5 * one:.6f}" for one in YES], ""),
        ([rng.choice("abc") for _ in YES], ""),
        ([f"id{k}" for k in range(len(YES))], ""),  # a value that is seen once says nothing
        (["same"] * len(YES), ""),
        ([""] * len(YES), ""),
        (["1" if one and rng.random() < 0.5 else "0" for one in YES], ""),  # half of what happened
    ],
)
def test_what_is_suspected(values, suspected):
    found = leaks(Column("x", values), YES)
    assert found.startswith(suspected)
    assert bool(found) == bool(suspected)


def test_of_few_rows_nothing_is_suspected():
    yes = np.array([False] * 30 + [True] * 5)
    assert leaks(Column("x", ["a"] * 30 + ["b"] * 5), yes) == ""
