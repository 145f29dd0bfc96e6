"""Checksums of many strings at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.benchmarks.formats import writers
from tests.properties import examples

from foresee.benchmarks.formats.crc32c import crc32c, masked


@examples(50)
@given(st.lists(st.binary(max_size=40), max_size=6))
def test_checksums_are_those_of_the_definition(strings):
    assert crc32c(strings).tolist() == [writers.crc32c(string) for string in strings]
    assert masked(strings).tolist() == [writers.masked(string) for string in strings]


def test_published_checksums():
    """The four of RFC 3720, B.4."""
    strings = [bytes(32), b"\xff" * 32, bytes(range(32)), bytes(range(31, -1, -1))]
    assert crc32c(strings).tolist() == [0x8A9136AA, 0x62A8AB43, 0x46DD794E, 0x113FDB5C]
