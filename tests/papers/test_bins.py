"""Bins: every number in one, in order, equally full."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.papers.bins import BINS, binned, bins

numbers = st.lists(st.one_of(st.floats(-1e6, 1e6), st.just(float("nan"))), max_size=150)


@given(numbers, st.integers(1, 7))
def test_bins_part_the_numbers_in_order(values, least):
    values = np.array(values)
    found = bins(values, least=least)
    known = np.flatnonzero(np.isfinite(values))
    if len(known) < least:
        assert found == []
        return
    assert sorted(np.concatenate(found).tolist()) == known.tolist()
    sizes = [len(part) for part in found]
    assert min(sizes) >= least
    assert max(sizes) - min(sizes) <= 1
    assert len(found) == min(BINS, len(known) // least)
    for before, after in pairwise(found):
        assert values[before].max() <= values[after].min()


def test_a_binned_figure_has_means_and_scaled_deviations():
    x, y = np.arange(10.0), np.array([1.0, 2, 3, 4, 5, 10, 10, 10, 10, 15])
    found = binned("name", "text", ("x", "y"), x, y, scale=0.5)
    assert found.x == (2.0, 7.0)
    assert found.y == (3.0, 11.0)
    assert found.bars == pytest.approx((0.5 * np.std([1, 2, 3, 4, 5]), 0.5 * 2.0))
    assert "2 bins of 10 networks" in found.text
