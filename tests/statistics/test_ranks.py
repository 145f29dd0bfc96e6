"""Ranks and places beside scipy's, whole tables at once, and within resamples."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from tests.properties import examples

from foresee.errors import InputError
from foresee.statistics import places_of, ranks_of
from foresee.statistics.ranks import codes_of, ranks_of_draws

# few different values, so that there are ties
NUMBERS = st.sampled_from([-math.inf, -2.0, -0.0, 0.0, 0.5, 7.0, math.inf])
TABLES = arrays(np.float64, array_shapes(min_dims=1, max_dims=4, max_side=6), elements=NUMBERS)


@examples(60)
@given(TABLES, st.data())
def test_ranks_are_those_of_scipy_along_any_axis(table, data):
    axis = data.draw(st.integers(-table.ndim, table.ndim - 1))
    np.testing.assert_array_equal(ranks_of(table, axis), scipy.stats.rankdata(table, axis=axis))


@examples(60)
@given(
    arrays(np.float64, st.integers(1, 12), elements=st.sampled_from([-2.0, 0.5, 7.0, math.nan, math.inf, -math.inf]))
)
def test_places_count_from_the_best_and_failures_share_the_last(merits):
    valid = np.isfinite(merits)
    slow = [
        1 + sum(other > one for other in merits[valid]) + (sum(other == one for other in merits[valid]) - 1) / 2
        if math.isfinite(one)
        else (valid.sum() + 1 + len(merits)) / 2
        for one in merits
    ]
    assert places_of(merits).tolist() == slow
    assert places_of(np.stack([merits, merits], axis=1), axis=0)[:, 1].tolist() == slow


@examples(60)
@given(st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=15), st.integers(0, 99))
def test_ranks_of_draws_are_ranks_of_the_resample_written_out(values, seed):
    values = np.array(values)
    drawn = np.random.default_rng(seed).integers(0, len(values), (4, len(values)))
    counts = np.stack([np.bincount(one, minlength=len(values)) for one in drawn], axis=1)
    found = ranks_of_draws(values, counts)
    for column, one in zip(found.T, drawn, strict=True):
        np.testing.assert_array_equal(column[one], ranks_of(values[one]))
    np.testing.assert_array_equal(ranks_of_draws(values, np.ones((len(values), 1), np.int64))[:, 0], ranks_of(values))


@examples(30)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=15))
def test_codes_count_the_smaller_values(values):
    assert codes_of(np.array(values)).tolist() == [len({other for other in values if other < one}) for one in values]


def test_nothing_has_no_ranks_and_nan_is_refused():
    assert ranks_of([]).shape == (0,)
    assert ranks_of(np.empty((3, 0))).shape == (3, 0)
    with pytest.raises(InputError, match="no rank"):
        ranks_of([1.0, math.nan])
