"""Shares of variance: against the textbook formula, under no effect, and with few numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresee.statistics import share_by_chance, share_explained


def epsilon(values, groups):
    """Kelley's epsilon squared, written down slowly."""
    values, n = np.array(values), len(values)
    parts = [values[[g == label for g in groups]] for label in set(groups)]
    total = sum((v - values.mean()) ** 2 for v in values)
    within = sum(((part - part.mean()) ** 2).sum() for part in parts)
    k = len(parts)
    return (total - within - (k - 1) * within / (n - k)) / total


@pytest.mark.parametrize("seed", range(5))
def test_the_value_is_the_textbook_one(seed):
    rng = np.random.default_rng(seed)
    groups = [f"g{one}" for one in rng.integers(0, 3, 24)]
    values = rng.normal(size=24) + [2.0 * (g == "g1") for g in groups]
    assert share_explained(values, groups).value == pytest.approx(min(max(epsilon(values, groups), 0), 1))


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    rng, held = np.random.default_rng(0), 0
    for number in range(60):
        groups = np.arange(40) % 2
        values = rng.normal(size=40) + 1.5 * groups  # 0.5625 / 1.5625 of the variance is between
        found = share_explained(values, groups, bootstrap=300, seed=number)
        held += found.low <= 0.36 <= found.high
        assert 0 <= found.low <= found.value <= found.high <= 1
    assert held >= 48


def test_no_effect_is_seldom_above_chance():
    rng, above = np.random.default_rng(1), 0
    for number in range(60):
        groups, values = rng.integers(0, 4, 30), rng.normal(size=30)
        above += share_explained(values, groups, bootstrap=2).value > share_by_chance(values, groups, seed=number)
    assert above <= 9


def test_a_clear_effect_is_above_chance():
    values, groups = [1, 2, 3, 4, 11, 12, 13, 14], [0, 0, 0, 0, 1, 1, 1, 1]
    assert share_explained(values, groups).value > 0.9 > share_by_chance(values, groups)


@pytest.mark.parametrize(
    ("values", "groups"),
    [([], []), ([1.0], [0]), ([1, 2, 3], [0, 0, 0]), ([1, 2, 3], [0, 1, 2]), ([2, 2, 2, 2], [0, 0, 1, 1])],
)
def test_what_does_not_exist_is_nan(values, groups):
    found = share_explained(values, groups)
    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert math.isnan(share_by_chance(values, groups))


def test_equal_calls_give_equal_intervals():
    values, groups = [1.0, 5.0, 2.0, 6.0, 1.5, 7.0], [0, 1, 0, 1, 0, 1]
    assert share_explained(values, groups) == share_explained(values, groups)
