"""Answers in the order of their probability: against a list of all of them."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.searchers.preferred import by_preference

#: apart from each other, so that an answer tells which option is in front
VALUES = st.lists(st.integers(-30, 30).map(lambda n: n / 10), min_size=1, max_size=4, unique=True)
LOGITS = st.lists(VALUES, min_size=1, max_size=4)


@examples(30)
@given(LOGITS)
def test_every_combination_comes_once_the_likeliest_first(numbers):
    logits = {f"c{place}": values for place, values in enumerate(numbers)}
    weights = {name: torch.tensor(values).double().softmax(0) for name, values in logits.items()}
    answers = list(by_preference(logits))
    for name, expected in weights.items():
        torch.testing.assert_close(answers[0][name], expected)
        for answer in answers:
            torch.testing.assert_close(answer[name].sort().values, expected.sort().values)
    chosen = [tuple(int(vector.argmax()) for vector in answer.values()) for answer in answers]
    assert len(set(chosen)) == len(chosen) == math.prod(map(len, numbers))
    found = [sum(values[place] for values, place in zip(numbers, one, strict=True)) for one in chosen]
    assert found == pytest.approx(sorted(found, reverse=True))


def test_the_others_keep_their_order():
    _, second, *_ = by_preference({"op": [0.2, 0.9, 0.4], "input": [1.0, 0.3]})
    assert {name: vector.argsort(descending=True).tolist() for name, vector in second.items()} == {
        "op": [2, 1, 0],
        "input": [0, 1],
    }


def test_many_choices_are_no_burden():
    """The best of 5^30 combinations, without a list of them."""
    logits = {str(number): [0.1 * number, 0.0, 0.3, 0.2, 0.5] for number in range(30)}
    assert len(list(itertools.islice(by_preference(logits), 1000))) == 1000
