"""Which way is better, for one number and for columns of them."""

from __future__ import annotations

import numpy as np
import pytest

from foresee.errors import InputError, UnknownNameError
from foresee.statistics.directions import sign, signs, turned


def test_signs_turn_numbers_so_that_more_is_better():
    assert (sign("higher"), sign("lower")) == (1.0, -1.0)
    assert signs(None, 2, "columns") == [1.0, 1.0]
    assert signs(["lower", "higher"], 2, "columns") == [-1.0, 1.0]
    assert turned([[1.0, 2.0], [0.0, 4.0]], ["lower", "higher"]).tolist() == [[-1.0, 2.0], [0.0, 4.0]]
    assert not np.signbit(turned([[0.0]], ["lower"])).any()


def test_mistakes_are_named():
    with pytest.raises(UnknownNameError, match="did you mean higher"):
        sign("highr")
    with pytest.raises(InputError, match="1 directions for 2 columns"):
        signs(["lower"], 2, "columns")
