from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import RunError
from foresee.runs.values import known_as, number, pack, unpack

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
)


def exact(value):
    """A form in which numbers are equal only with type and bits."""
    if isinstance(value, float):
        return struct.pack("d", value)
    if isinstance(value, dict):
        return [(key, exact(part)) for key, part in value.items()]
    return [exact(part) for part in value] if isinstance(value, list) else (type(value), value)


@given(plain)
@examples(200)
def test_what_is_packed_is_unpacked_to_the_last_bit(value):
    assert exact(unpack(pack(value, "it"))) == exact(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0, 5e-324, 0.1 + 0.2, 1.7976931348623157e308])
def test_special_numbers(value):
    assert exact(unpack(pack([value], "it"))) == exact([value])


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {1: 2}}, "outcome: key 1 cannot be stored, keys must be text"),
        ([{"a": [{None: 2}]}], "outcome: key None"),
        ({"a": object()}, r"outcome: cannot be stored \(Object of type object"),
        ({"a": 10**5000}, "outcome: cannot be stored"),
        (nested(100_000), "outcome: nested too deeply"),
    ],
)
def test_what_would_come_back_as_something_else_is_refused(value, message):
    with pytest.raises(RunError, match=message):
        pack(value, "outcome")


def test_a_number_of_its_own_is_no_nan():
    assert [number(value, "it") for value in (None, 1.5, -math.inf)] == [None, 1.5, -math.inf]
    with pytest.raises(RunError, match="it: NaN cannot be stored"):
        number(math.nan, "it")


def test_a_long_identity_is_a_digest_whatever_its_characters():
    texts = ["x" * 200, "\ud800" * 200, "\ud800" * 201]
    assert len({known_as(text) for text in texts}) == 3
    assert all(len(known_as(text)) < 128 for text in texts)
    assert known_as("\ud800") == "\ud800"
