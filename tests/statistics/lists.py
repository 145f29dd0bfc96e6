"""Lists to correlate, and what scipy says of them."""

from __future__ import annotations

import warnings

import pytest
import scipy.stats
from hypothesis import strategies as st

from foresee.statistics import kendall, pearson, spearman, weighted_tau

SCIPY = {
    spearman: lambda x, y: scipy.stats.spearmanr(x, y)[0],
    kendall: lambda x, y: scipy.stats.kendalltau(x, y, variant="b")[0],
    pearson: lambda x, y: scipy.stats.pearsonr(x, y)[0],
    weighted_tau: lambda x, y: scipy.stats.weightedtau(x, y)[0],
}
every = pytest.mark.parametrize("statistic", SCIPY, ids=lambda one: one.__name__)

# few different values: ties of every kind
pairs = st.integers(2, 25).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-4, 4).map(float), min_size=n, max_size=n)] * 2)
)


def quiet(function, x, y):
    """The number without scipy's warnings about constants."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(x, y))
