"""Framing of records; damaged files are in the tests of NAS-Bench-101."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.benchmarks.formats import writers
from tests.properties import examples

from foresee.benchmarks.formats import records as module
from foresee.benchmarks.formats.records import records


@examples(20)
@given(contents=st.lists(st.binary(max_size=50), max_size=9), batch=st.integers(1, 4))
def test_framing(tmp_path_factory, contents, batch):
    path = tmp_path_factory.mktemp("r") / "r"
    path.write_bytes(b"".join(map(writers.framed, contents)))
    before, module._BATCH = module._BATCH, batch
    try:
        assert list(records(path)) == contents
    finally:
        module._BATCH = before
