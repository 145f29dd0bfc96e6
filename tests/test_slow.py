"""The list of slow tests names tests that are there: one that was moved or renamed would be forgotten by it."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent


def test_what_is_listed_is_there():
    listed = [line for line in (TESTS / "slow.txt").read_text().splitlines() if not line.startswith("#")]
    assert listed == sorted(set(listed))
    for one in listed:
        file, _, name = one.partition("::")
        text = (TESTS.parent / file).read_text()
        assert "::" in name or f"def {name}(" in text, one  # a method may be inherited
