"""Resamples by counts against resamples written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from tests.statistics.lists import every, pairs

from foresee.statistics import counted, kendall, pearson, spearman, weighted_tau

MANY = {
    spearman: counted.spearmans,
    kendall: counted.kendalls,
    pearson: counted.pearsons,
    weighted_tau: counted.weighted_taus,
}


@every
@examples(40)
@given(both=pairs, seed=st.integers(0, 99))
def test_a_resample_by_counts_equals_the_resample_written_out(statistic, both, seed):
    x, y = map(np.array, both)
    drawn = np.random.default_rng(seed).integers(0, len(x), len(x))
    counts = np.bincount(drawn, minlength=len(x))[:, None]
    assert MANY[statistic](x, y, counts)[0] == pytest.approx(statistic(x[drawn], y[drawn]), abs=1e-12, nan_ok=True)


@every
def test_resamples_are_the_same_in_parts(statistic, monkeypatch):
    rng = np.random.default_rng(0)
    x, y, draws = rng.normal(size=20), rng.normal(size=20), rng.integers(0, 20, (11, 20))
    whole = counted.resampled(MANY[statistic], x, y, draws)
    monkeypatch.setattr(counted, "_CHUNK", 60)  # three resamples at a time
    np.testing.assert_allclose(counted.resampled(MANY[statistic], x, y, draws), whole, atol=1e-14)


def test_one_giant_hides_the_others_and_a_resample_without_it_still_sees_them():
    x = np.array([1e20, 1.0, 2.0, 3.0])
    counts = np.array([[0], [1], [1], [1]])
    assert counted.pearsons(x, np.array([9.0, 1.0, 2.0, 3.0]), counts)[0] == pytest.approx(1)
