from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.data.clicks.profile.sketches import Distinct, Drawn, Frequent, mixed

PIECES = st.lists(st.lists(st.integers(1, 60), max_size=40), max_size=6)


def keys(values):
    return np.array(values, np.uint64)


@given(PIECES)
def test_few_values_are_counted_exactly(pieces):
    distinct, frequent, counted = Distinct(room=64), Frequent(room=64), Counter()
    yeses = Counter()
    for piece in pieces:
        distinct.take(keys(piece))
        frequent.take(keys(piece), keys(piece) % 3 == 0)
        counted.update(piece)
        yeses.update(one for one in piece if one % 3 == 0)
    assert (distinct.estimate, distinct.exact) == (len(counted), True)
    assert frequent.lost == 0
    assert {key: (many, yes) for key, many, yes in frequent.most(100)} == {k: (counted[k], yeses[k]) for k in counted}
    assert [many for _, many, _ in frequent.most(100)] == sorted(counted.values(), reverse=True)


@pytest.mark.parametrize("many", [3_000, 50_000, 400_000])
def test_many_values_are_estimated_within_a_few_per_cent(many):
    distinct = Distinct(room=2048)
    for piece in np.array_split(np.random.default_rng(0).permutation(many), 7):
        distinct.take(piece.astype(np.uint64))
        distinct.take(piece.astype(np.uint64))  # what comes again is not new
    assert not distinct.exact
    assert distinct.estimate == pytest.approx(many, rel=0.08)


def test_an_estimate_does_not_depend_on_the_pieces():
    values = np.random.default_rng(1).integers(0, 10_000, 30_000).astype(np.uint64)
    whole, parts = Distinct(room=500), Distinct(room=500)
    whole.take(values)
    for piece in np.array_split(values, 11):
        parts.take(piece)
    assert whole.estimate == parts.estimate


def test_frequent_values_survive_many_rare_ones():
    rng, frequent = np.random.default_rng(0), Frequent(room=1000)
    counted = Counter()
    for first in range(10):
        rare = np.arange(first * 3000, first * 3000 + 3000) + 10**6
        piece = rng.permutation(np.concatenate([rare, np.repeat(np.arange(1, 21), 100 - 4 * np.arange(20))]))
        frequent.take(piece.astype(np.uint64), np.ones(len(piece), np.bool_))
        counted.update(piece.tolist())
    found = frequent.most(10)
    assert [key for key, _, _ in found] == [key for key, _ in counted.most_common(10)]
    assert frequent.lost > 0
    for key, many, yes in found:
        assert counted[key] - frequent.lost <= many <= counted[key]
        assert many == yes


@given(st.integers(1, 400), st.integers(1, 7), st.integers(1, 100))
def test_a_sample_is_the_same_whatever_the_pieces(rows, pieces, room):
    whole, parts = Drawn(room=room), Drawn(room=room)
    whole.take(0, np.arange(rows))
    first = 0
    for piece in np.array_split(np.arange(rows), pieces):
        parts.take(first, piece)
        first += len(piece)
    assert sorted(whole.rows.tolist()) == sorted(parts.rows.tolist())
    assert len(whole.rows) == min(rows, room)
    assert whole.exact == (rows <= room)


def test_mixing_is_one_to_one():
    assert len(np.unique(mixed(np.arange(100_000, dtype=np.uint64)))) == 100_000
