from __future__ import annotations

import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError
from foresee.runs.toml import dumps

plain = st.one_of(
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False),
    st.text(st.characters(blacklist_categories=("Cs",))),
    st.lists(st.integers(-5, 5), max_size=3),
    st.lists(st.text(st.characters(blacklist_categories=("Cs",))), max_size=3),
)
keys = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=8)
tables = st.recursive(
    st.dictionaries(keys, plain, max_size=4), lambda t: st.dictionaries(keys, st.one_of(plain, t), max_size=3)
)


@given(tables)
@examples(200)
def test_reading_gives_back_what_was_written(values):
    assert tomllib.loads(dumps(values)) == values


def test_none_is_left_out_and_nan_survives():
    back = tomllib.loads(dumps({"a": None, "b": math.nan, "c": {"d": None}}))
    assert set(back) == {"b"} or back["c"] == {}
    assert math.isnan(back["b"])


def test_what_has_no_form_is_refused():
    with pytest.raises(InputError, match="object"):
        dumps({"a": object()})
