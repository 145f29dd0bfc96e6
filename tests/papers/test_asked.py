"""What was measured: turned so that more is better, and what went wrong in words."""

from __future__ import annotations

import math

import numpy as np

from foresee.papers.asked import Measured

VALUES = np.array([[1.0, math.nan, 3.0], [1.0, 2.0, math.nan]])


def test_merits_are_turned_so_that_more_is_better():
    np.testing.assert_array_equal(Measured(VALUES).merits, VALUES)
    np.testing.assert_array_equal(Measured(VALUES, "lower").merits, -VALUES)


def test_words_name_the_most_frequent_reason():
    assert Measured(VALUES[:, :1]).words == ""
    assert Measured(VALUES).words == "2 of 3 without a value, ranked last"
    told = Measured(VALUES, reasons={"rare": 1, "no inverse": 2}).words
    assert told == "2 of 3 without a value, ranked last (no inverse)"
    assert Measured(VALUES, reasons={"word " * 40: 1}).words.endswith(" ...)")
