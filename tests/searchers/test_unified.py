"""The unified objective: the thesis' formula, and a box that goes from hardly any trade-off to hardly anything else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.errors import InputError, UnknownNameError
from foresee.searchers.unified import Bounds

positive = st.floats(1e-3, 1e3)


@given(positive, positive, positive, positive)
def test_bounds_are_those_of_the_thesis(metric, kappa, mu, nu):
    def at(scenario, **form):
        return Bounds.of([metric], kappa, scenario=scenario, **form).at(mu, nu)[0]

    trade_off = mu * (metric**2 - nu) ** 2
    assert at("realizable") == pytest.approx(1 / metric)
    assert at("realizable_trade_off") == pytest.approx(1 / metric + trade_off)
    assert at("realizable_kappa") == pytest.approx(kappa / metric)
    assert at("non_realizable") == pytest.approx(kappa / metric + trade_off)
    released = kappa / (metric + 1e-6) + mu * abs(metric**2 - nu)
    assert at("non_realizable", power=1.0, epsilon=1e-6) == pytest.approx(released)


@given(st.lists(st.tuples(positive, positive), min_size=2, max_size=20), st.sampled_from([1.0, 2.0]))
def test_the_box_goes_from_hardly_any_trade_off_to_hardly_anything_else(pairs, power):
    metric, kappa = np.array(pairs).T
    bounds = Bounds.of(metric, kappa, power=power)
    (least, low), (most, high) = bounds.box().tolist()
    gap = kappa / metric
    assert (10**least * metric ** (2 * power) < gap / 9.9).mean() >= 0.9 - 1 / len(pairs)
    assert (10**most * metric ** (2 * power) > gap * 9.9).mean() >= 0.9 - 1 / len(pairs)
    assert metric.min() ** 2 * 0.999 <= 10**low <= 10**high <= metric.max() ** 2 * 1.001


def test_nu_lies_between_the_quantiles_that_are_asked_for():
    bounds = Bounds.of(np.arange(1.0, 102.0))
    narrow, whole = bounds.box((0.25, 0.75)), bounds.box((0.0, 1.0))
    assert (10 ** narrow[:, 1]).tolist() == pytest.approx([26.0**2, 76.0**2])
    assert (10 ** whole[:, 1]).tolist() == pytest.approx([1.0, 101.0**2])
    assert narrow[:, 0].tolist() == whole[:, 0].tolist()


def test_where_nothing_can_be_compared_that_is_said():
    for metric, kappa in (([0.0, 0.0], 1.0), ([1.0, 2.0], np.inf), ([np.nan], 1.0)):
        with pytest.raises(InputError, match="no architecture has a positive metric"):
            Bounds.of(metric, kappa).box()
    with pytest.raises(UnknownNameError, match="scenario"):
        Bounds.of([1.0], scenario="hopeful")
