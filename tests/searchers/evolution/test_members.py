"""Generations are counted as a list of candidates cut into pieces is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.searchers.evolution.members import Generations


@examples(30)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 60))
def test_generations_are_a_list_cut_into_pieces(first, children, evaluations):
    ages = Generations(first, children)
    pieces = [list(range(first))]
    while pieces[-1][-1] < evaluations:
        start = pieces[-1][-1] + 1
        pieces.append(list(range(start, start + children)))
    for number, piece in enumerate(pieces):
        assert ages.begin(number) == piece[0]
        assert {ages.of(candidate) for candidate in piece} == {number}
        assert [ages.ends_with(candidate) for candidate in piece] == [False] * (len(piece) - 1) + [True]
    assert ages.many(evaluations) == 1 + next(n for n, piece in enumerate(pieces) if evaluations - 1 in piece)
