from __future__ import annotations

import math

import numpy as np
import pytest

from foresee.data.clicks.made.planted import DAY, RATE, STRENGTH, Category, Hours, Number, World
from foresee.data.clicks.made.published import FORMS


@pytest.mark.parametrize("form", FORMS)
def test_terms_have_their_strength_and_clicks_their_share(form):
    world = FORMS[form].world(1)
    terms = world._terms(*world._sample)
    for name, term in terms.items():
        assert np.std(world._factors[name] * term) == pytest.approx(STRENGTH[name], rel=1e-6)
    assert world.probability(*world._sample).mean() == pytest.approx(RATE, abs=1e-6)


def test_frequencies_fall_as_zipf_said():
    ranks = Category("site", 1000, fall=1.1, missing=0.1).draw(np.random.default_rng(0), 200_000)
    assert (ranks == -1).mean() == pytest.approx(0.1, abs=0.01)
    counts = np.bincount(ranks[ranks >= 0], minlength=1000)
    assert counts[0] > 1.5 * counts[1] > 2 * counts[3]
    assert ranks.max() == 999


def test_missing_numbers_look_like_the_middle():
    number = Number("views", missing=0.2)
    counts = number.draw(np.random.default_rng(0), 50_000)
    z = number.standard(counts)
    assert set(z[counts < 0]) == {0.0}
    assert abs(np.median(z)) < 0.1
    assert z.std() == pytest.approx(0.85, abs=0.15)


def test_interactions_are_not_seen_in_single_columns():
    """What is gated, bent and crossed has next to no part that a sum of single effects could learn."""
    world: World = FORMS["csv"].world(0)
    ranks, counts = world.draw(np.random.default_rng(1), 100_000)
    terms = world._terms(ranks, counts)
    for name in ("gated", "bent", "crossed"):
        term = terms[name] / terms[name].std()
        for rank in (ranks[6], ranks[7]):
            means = np.bincount(rank, weights=term) / np.maximum(np.bincount(rank), 1)
            assert math.sqrt(np.mean(means[rank] ** 2)) < 0.35, name


def test_hours_go_on_day_by_day():
    hours = Hours("hour").draw(np.random.default_rng(0), 3 * DAY).reshape(3, DAY)
    assert (np.diff(hours, axis=1) >= 0).all()
    assert hours.min() == 0
    assert hours.max() == 23
