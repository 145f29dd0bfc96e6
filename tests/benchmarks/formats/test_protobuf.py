"""Fields of messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.benchmarks.formats import writers
from tests.properties import examples

from foresee.benchmarks.formats.protobuf import fields


@examples(50)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 1000), st.one_of(st.integers(0, 2**63), st.floats(allow_nan=False), st.binary(max_size=300))
        )
    )
)
def test_a_message_gives_back_its_fields(parts):
    message = b""
    for number, value in parts:
        if isinstance(value, int):
            message += writers.varint(number << 3) + writers.varint(value)
        elif isinstance(value, float):
            message += writers.double(number, value)
        else:
            message += writers.nested(number, value)
    assert list(fields(message)) == parts


@pytest.mark.parametrize("message", [b"\x08", b"\x12\x05ab", b"\x09\x00", b"\x0b", b"\x08" + b"\xff" * 11])
def test_bytes_that_are_no_message(message):
    with pytest.raises(ValueError):
        list(fields(message))
