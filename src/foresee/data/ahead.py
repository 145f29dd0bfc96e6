"""Reading ahead: the next batches are read by another thread while the present one is learnt from."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

#: how many are read ahead
DEPTH = 2


def ahead(items: Iterator[T], depth: int = DEPTH) -> Generator[T, None, None]:
    """The same items in the same order, up to `depth` of them taken in advance by a thread of their own.

    Nothing is taken before the first is asked for; an error comes in the place of the item that raised it; left in the
    middle, the thread ends with what it has begun.

    >>> list(ahead(iter(range(5))))
    [0, 1, 2, 3, 4]
    """
    end = object()
    waiting: deque[Future[object]] = deque()
    with ThreadPoolExecutor(1) as reader:
        try:
            waiting.extend(reader.submit(next, items, end) for _ in range(depth))
            while (item := waiting.popleft().result()) is not end:
                waiting.append(reader.submit(next, items, end))
                yield item  # type: ignore[misc]
        finally:
            for one in waiting:
                one.cancel()
