from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.data.clicks.profile.tallies import CategoryTally, NumberTally, Rate, told
from foresee.data.clicks.reading.texts import Texts

GROUPS = st.lists(
    st.integers(0, 50).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=8
)


@given(GROUPS)
def test_what_groups_tell_is_the_mutual_information(pairs):
    rates = [Rate(str(k), rows, yes) for k, (rows, yes) in enumerate(pairs)]
    share = told(rates)
    assert 0 <= share <= 1
    rows, yes = sum(n for n, _ in pairs), sum(y for _, y in pairs)
    if not 0 < yes < rows:
        assert share == 0
        return
    information = sum(
        part / rows * math.log2(part * rows / (group * total))
        for group, positive in pairs
        for part, total in ((positive, yes), (group - positive, rows - yes))
        if part
    )
    p = yes / rows
    assert share == pytest.approx(information / -(p * math.log2(p) + (1 - p) * math.log2(1 - p)), abs=1e-9)


@given(st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), min_size=1, max_size=60), st.integers(1, 5))
def test_numbers_in_pieces_are_the_numbers(values, pieces):
    tally, first = NumberTally(), 0
    for piece in np.array_split(np.array(values), pieces):
        tally.take(first, piece, piece > 0)
        first += len(piece)
    found = tally.column("x", len(values))
    there = np.array([value for value in values if not math.isnan(value)])
    assert found.missing == len(values) - len(there)
    if not len(there):
        assert math.isnan(found.mean)
        assert found.quantiles == ()
        return
    assert found.mean == pytest.approx(there.mean(), rel=1e-9, abs=1e-6)
    assert found.spread == pytest.approx(there.std(), rel=1e-6, abs=1e-4)
    assert (found.low, found.high, found.distinct) == (there.min(), there.max(), len(set((there + 0.0).tolist())))
    assert sum(group.rows for group in found.groups) + found.rest.rows == len(values)
    assert sum(group.yes for group in found.groups) == (there > 0).sum()


def test_a_value_that_becomes_frequent_late_has_its_name():
    tally = CategoryTally(derived=False)
    for piece in (["a"] * 3 + [f"rare {k}" for k in range(30)], ["late"] * 50, ["a"] * 2):
        texts = Texts.of(piece)
        tally.take(texts.keys(), np.array([text == "late" for text in piece]), texts)
    found = tally.column("x", 85, 50)
    assert [(one.name, one.rows, one.yes) for one in found.most[:2]] == [("late", 50, 50), ("a", 5, 0)]
    assert found.distinct == 32
    assert found.rest.rows == 85 - sum(one.rows for one in found.most)
