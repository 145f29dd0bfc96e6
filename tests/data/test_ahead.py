"""Reading ahead: order, errors, and no more than was promised."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.data.ahead import ahead


@given(st.lists(st.integers()), st.integers(1, 5))
@examples(25)
def test_the_same_items_in_the_same_order(items: list[int], depth: int) -> None:
    assert list(ahead(iter(items), depth)) == items


def test_an_error_comes_in_its_place() -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise OSError("disk on fire")

    found = ahead(items())
    assert next(found) == 1
    assert next(found) == 2
    with pytest.raises(OSError, match="disk on fire"):
        next(found)


def test_no_more_than_the_depth_is_taken_and_the_thread_ends() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    before = threading.active_count()
    found = ahead(items(), 3)
    assert taken == []
    assert next(found) == 0
    found.close()  # type: ignore[attr-defined]
    assert len(taken) <= 4
    assert threading.active_count() == before


def test_items_are_taken_while_another_is_held() -> None:
    second = threading.Event()

    def items() -> Iterator[int]:
        yield 0
        second.set()
        yield 1

    found = ahead(items())
    assert next(found) == 0
    assert second.wait(10)  # nobody asked for it
    assert list(found) == [1]
