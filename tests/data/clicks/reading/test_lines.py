"""Where records stand, beside `scan`."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.data.clicks.reading.blocks import scan
from foresee.data.clicks.reading.lines import Lines

FIELD = st.text(st.sampled_from('ab,"\n'), max_size=4)


@examples(60)
@given(st.lists(st.lists(FIELD, min_size=2, max_size=4), min_size=1, max_size=10), st.booleans(), st.booleans())
def test_as_scanned(rows: list[list[str]], blank: bool, ended: bool) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n\n" if blank else "\n").writerows(rows)
    content = written.getvalue().encode()
    content = content if ended else content.removesuffix(b"\n")
    records = scan(content, 0, ",", final=True)[0]
    lines = Lines(content, ",")
    assert lines.numbers.tolist() == [one.line for one in records]
    assert lines.fields.tolist() == [len(one.fields or ()) for one in records]
    assert lines.of_fields(2).tolist() == [one.line for one in records if len(one.fields or ()) == 2]
    assert lines.not_of_fields(2) == [
        (one.line, len(one.fields or ())) for one in records if len(one.fields or ()) != 2
    ]
