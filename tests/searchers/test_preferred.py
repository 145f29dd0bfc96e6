"""Answers in the order of their probability: against a list of all of them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.searchers.preferred import by_preference

LOGITS = st.lists(st.lists(st.floats(-3, 3), min_size=1, max_size=4), min_size=1, max_size=4)


@examples(30)
@given(LOGITS)
def test_every_combination_comes_once_the_likeliest_first(numbers):
    logits = {f"c{place}": values for place, values in enumerate(numbers)}
    found = []
    for answer in by_preference(logits):
        for name, values in answer.items():
            assert sorted(values) == sorted(logits[name])
        found.append(sum(logits[name][_first(values, logits[name])] for name, values in answer.items()))
    expected = [sum(chosen) for chosen in itertools.product(*numbers)]
    assert found == pytest.approx(sorted(expected, reverse=True))


def _first(values, before):
    """The option in front; among equals the one that was moved, which the first logit of all tells nothing about."""
    best = max(values)
    front = [place for place, value in enumerate(values) if value == best]
    moved = [place for place in front if before[place] != best]
    return moved[0] if moved else front[0]


def test_the_first_is_as_it_was_and_the_others_keep_their_order():
    logits = {"op": [0.2, 0.9, 0.4], "input": [1.0, 0.3]}
    first, second, *_ = by_preference(logits)
    assert first == logits
    assert second == {"op": [0.2, 0.4, 0.9], "input": [1.0, 0.3]}


def test_many_choices_are_no_burden():
    """The best of 5^30 combinations, without a list of them."""
    logits = {str(number): [0.1 * number, 0.0, 0.3, 0.2, 0.5] for number in range(30)}
    assert len(list(itertools.islice(by_preference(logits), 1000))) == 1000
