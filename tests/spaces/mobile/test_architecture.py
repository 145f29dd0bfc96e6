"""Texts of mobile networks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError
from foresee.spaces.mobile.architecture import Architecture, Layer, parse, runs

layers = st.builds(Layer, st.sampled_from([1.0, 2.3, 3.67, 6.0]), st.sampled_from([3, 5, 7]), st.booleans())
stages = st.lists(st.lists(layers, min_size=1, max_size=4).map(tuple), min_size=1, max_size=3).map(tuple)


@examples(50)
@given(stages.map(Architecture))
def test_round_trip(one):
    assert parse(str(one)) == one
    assert str(parse(str(one))) == str(one)


def test_equal_layers_are_written_once():
    one = parse("e6k3+e6k3 + e6k3s:e2.50k5x1")
    assert str(one) == "e6k3x2+e6k3s:e2.5k5"
    assert [count for _, _, count in runs(one.stages[0])] == [2, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("e6k3:e6", "stage 2: 'e6', expected such as e6k3x2"),
        ("e6k3:", "stage 2: ''"),
        ("e6k3x0", "stage 1: 'e6k3x0'"),
        ("e6k3 x2", "stage 1"),
        ("e-1k3", "stage 1: 'e-1k3'"),
        ("e6k3z", "stage 1: 'e6k3z'"),
    ],
)
def test_malformed_text_names_the_stage(text, message):
    with pytest.raises(InputError, match=message):
        parse(text)


def test_a_stage_without_layers_cannot_be_made():
    with pytest.raises(InputError, match="every stage needs at least one layer"):
        Architecture(((Layer(6.0, 3),), ()))
