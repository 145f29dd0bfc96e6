"""Counting values, beside a Counter."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.data.clicks.preparing import counts as module
from foresee.data.clicks.preparing.counts import Counts


@examples(60)
@given(st.lists(st.lists(st.integers(0, 12), max_size=30), max_size=12), st.integers(1, 4), st.integers(1, 8))
def test_exact_below_the_bound(pieces: list[list[int]], least: int, rows: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TOGETHER", 7)
        counts = Counts()
        for piece in pieces:
            counts.add(np.array(piece, np.uint64))
        keys, seen = counts.most(least, rows)
    truth = Counter(key for piece in pieces for key in piece if key)
    expected = sorted(((-n, key) for key, n in truth.items() if n >= least))[:rows]
    assert [(-int(n), int(key)) for key, n in zip(keys, seen, strict=True)] == expected
    assert counts.shortfall == 0


def test_beyond_the_bound_frequent_values_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOGETHER", 1000)
    rng = np.random.default_rng(0)
    often = rng.integers(1, 51, 40_000)
    seldom = np.arange(1000, 41_000)  # each of them once
    stream = rng.permutation(np.concatenate([often, seldom])).astype(np.uint64)
    counts = Counts(bound=4000)
    for piece in np.split(stream, 80):
        counts.add(piece)
        assert len(counts._keys) <= counts.bound
    truth = Counter(often.tolist())
    keys, seen = counts.most(least=100, rows=1000)
    assert set(keys.tolist()) == set(truth)
    assert counts.shortfall > 0
    for key, n in zip(keys.tolist(), seen.tolist(), strict=True):
        assert truth[key] - counts.shortfall <= n <= truth[key]


def test_nothing_counted() -> None:
    keys, seen = Counts().most(1, 10)
    assert (len(keys), len(seen)) == (0, 0)
    counts = Counts()
    counts.add(np.zeros(5, np.uint64))
    assert len(counts.most(1, 10)[0]) == 0
