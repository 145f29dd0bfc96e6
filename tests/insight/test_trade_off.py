"""The error by bins of a metric."""

from __future__ import annotations

import json

import numpy as np
import pytest

from foresee.errors import InputError
from foresee.insight.trade_off import TradeOff, bins, trade_off
from foresee.papers.bins import bins as of_papers


def valley(n: int = 400, at: float = 0.6, noise: float = 0.05):
    source = np.random.default_rng(0)
    metric = source.uniform(0, 1, n)
    return metric, (metric - at) ** 2 + noise * source.standard_normal(n)


def test_a_valley_is_found_inside():
    found = trade_off(*valley(), name="m_trace")
    assert found.inside
    assert found.bins[found.best].metric == pytest.approx(0.6, abs=0.12)
    assert found.falls < -0.5
    assert found.rises > 0.3
    assert found.rise > 2
    assert sum(one.architectures for one in found.bins) == 400
    assert len(found.bins) == 20
    assert TradeOff.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_slope_is_no_trade_off():
    metric, _ = valley()
    found = trade_off(metric, -metric)
    assert not found.inside
    assert found.best == len(found.bins) - 1
    assert found.rise == 0


def test_kappa_within_bins():
    """Where the condition number decides the error among networks of one metric, the mean correlation says so."""
    source = np.random.default_rng(1)
    metric, kappa = source.uniform(0, 1, 300), source.uniform(1, 100, 300)
    found = trade_off(metric, kappa / 100 + 5 * metric, kappa)
    assert found.kappa > 0.7
    kappa[::50] = np.inf
    assert np.isfinite(trade_off(metric, kappa.clip(0, 200), kappa).kappa)


def test_missing_values_are_left_out():
    metric, error = valley(60)
    metric[3], error[5] = np.nan, np.nan
    assert sum(one.architectures for one in trade_off(metric, error).bins) == 58


def test_what_is_refused():
    with pytest.raises(InputError, match="at least 15"):
        trade_off(np.arange(10.0), np.arange(10.0))
    with pytest.raises(InputError, match="one of each"):
        trade_off(np.arange(20.0), np.arange(10.0))


def test_the_papers_have_the_same_bins():
    assert of_papers is bins
