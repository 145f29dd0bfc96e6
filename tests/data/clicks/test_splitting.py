"""What a split says, and what it leaves unsaid."""

from __future__ import annotations

from foresee.data.clicks.splitting import whole_split


def test_what_is_unsaid() -> None:
    assert whole_split({}, "s") == {"by": "random", "train": 0.8, "val": 0.1, "test": 0.1, "seed": 0}
    assert whole_split({"by": "order", "train": 0.9, "test": 0.1}, "s") == {
        "by": "order", "train": 0.9, "val": 0.0, "test": 0.1,
    }  # fmt: skip
    split = {"by": "column", "column": "f", "values": {"train": [1, 2], "test": [3]}}
    assert whole_split(split, "s") == {**split, "values": {"train": ["1", "2"], "test": ["3"]}}


def test_a_whole_split_is_itself() -> None:
    for split in ({}, {"by": "time", "train": 1.0}, {"by": "column", "column": "f"}):
        once = whole_split(split, "s")
        assert whole_split(once, "s") == once
