"""From texts to arrays: what is missing, what is malformed."""

from __future__ import annotations

import numpy as np

from foresee.data.clicks.reading.chunk import chunk_of
from foresee.data.clicks.reading.texts import Texts, key
from foresee.data.clicks.schema import Schema

TIMED = Schema(
    label="y",
    positive=("+",),
    negative=("-",),
    numeric=("hour", "n"),
    categories=("day",),
    derived={
        name: {"from": "t", "take": take, "format": "iso"} for name, take in (("hour", "hour"), ("day", "weekday"))
    },
    time="t",
    split={"by": "time"},
)


def test_derived_columns_and_times() -> None:
    texts = {
        "y": Texts.of(["+", "-", "-", "+"]),
        "n": Texts.of(["1", "", "x", "2"]),
        "t": Texts.of(["2014-10-21 23:00", "2014-10-20 01:00", "2014-10-20 01:00", "noon"]),
    }
    found = chunk_of(texts, TIMED, lambda rows: (rows + 10).tolist())
    assert found.labels is not None
    assert found.times is not None
    assert found.labels.tolist() == [1, 0]  # "-" is a word for missing, but here it is a label
    assert found.numbers["hour"].tolist() == [23.0, 1.0]
    assert found.keys["day"].tolist() == [key("1"), key("0")]
    assert np.diff(found.times).tolist() == [-46 * 3600.0]
    assert [(one.line, one.reason) for one in found.malformed] == [
        (12, "n is 'x': not a number"),
        (13, "t is 'noon': not a time of the form iso"),
    ]
    assert found.texts["n"][1] == ""
    assert len(found) == 2


def test_a_time_that_is_missing_is_no_reason_but_for_the_order() -> None:
    texts = {"y": Texts.of("+"), "n": Texts.of("1"), "t": Texts.of([""])}
    assert len(chunk_of(texts, TIMED, lambda rows: rows.tolist())) == 0
    found = chunk_of(texts, TIMED.but(split={}), lambda rows: rows.tolist())
    assert np.isnan(found.numbers["hour"]).tolist() == [True]
    assert found.keys["day"].tolist() == [0]


def test_parts_by_column() -> None:
    known = Schema(label="y", numeric=("n",), split={"by": "column", "column": "s"})
    texts = {"y": Texts.of("0101"), "n": Texts.of("1234"), "s": Texts.of(["train", "dev", "rx_late", "test"])}
    found = chunk_of(texts, known, lambda rows: rows.tolist())
    assert found.parts is not None
    assert found.parts.tolist() == [0, 1, -1, 2]


def test_without_labels() -> None:
    known = Schema(label="y", numeric=("n",))
    found = chunk_of({"n": Texts.of("12")}, known, lambda rows: rows.tolist(), labelled=False)
    assert found.labels is None
    assert len(found) == 2
