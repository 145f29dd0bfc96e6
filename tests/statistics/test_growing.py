"""The foremost of a growing list against all ranks found anew, and numbers kept in order against a sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.statistics import growing, ranks_of
from foresee.statistics.growing import Foremost, Sorted


def anew(rows, many):
    """The first by all ranks, found from the beginning."""
    ranks = ranks_of(np.array(rows, dtype=float), axis=0)
    return np.argsort(-np.log(ranks / len(ranks)).sum(axis=1), kind="stable")[:many].tolist()


def grown(rows, many):
    ranked = Foremost(many)
    for count, row in enumerate(rows, 1):
        ranked.add(row)
        assert ranked.first().tolist() == anew(rows[:count], many)
    return ranked


few = st.integers(0, 6).map(float)


@given(st.lists(st.tuples(few, few, few), min_size=1, max_size=40), st.integers(1, 5))
def test_the_foremost_are_those_of_all_ranks_found_anew(rows, many):
    ranked = grown(rows, many)
    assert ranked.order().tolist() == anew(rows, len(rows))
    assert len(ranked) == len(rows)


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("drift", [0.0, 0.05])
def test_most_newcomers_need_no_look_at_all(monkeypatch, columns, drift):
    monkeypatch.setattr(growing, "LEAST", 10)
    looks = []
    look = Foremost._look
    monkeypatch.setattr(Foremost, "_look", lambda self: looks.append(len(self)) or look(self))
    rows = np.random.default_rng(0).normal(size=(600, columns)) + drift * np.arange(600)[:, None]
    grown(rows.tolist(), 10)
    assert len(looks) < 600 / 3


def test_contenders_stay_few():
    ranked = Foremost(20)
    rng = np.random.default_rng(1)
    for row in rng.normal(size=(4000, 2)).tolist():
        ranked.add(row)
        ranked.first()
        assert len(ranked._there) <= 2 * (20 + growing.LEAST)


def test_nothing_is_ranked_yet():
    assert Foremost(3).order().tolist() == []
    assert Foremost(3).first().tolist() == []


@given(st.lists(st.integers(-3, 3).map(float) | st.floats(allow_nan=False), max_size=80))
def test_ranks_of_numbers_kept_in_order(monkeypatch_block, values):
    kept = Sorted()
    for count, value in enumerate(values, 1):
        assert kept.add(value) == ranks_of(values[:count])[-1]


@pytest.fixture(scope="module")
def monkeypatch_block():
    """Short blocks, so that they split."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "BLOCK", 3)
        yield
