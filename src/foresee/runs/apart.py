"""Pieces of work that know nothing of each other, some at once in processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def each(run: Callable[[T], R], pieces: Sequence[T], workers: int) -> Iterator[R]:
    """What becomes of every piece, in their order; what has begun is ended before an error, or Ctrl-C, goes on its way.

    One worker or one piece stays in this process. Else function and pieces travel, so they must be picklable.

    >>> list(each(abs, [-1, 2, -3], 1))
    [1, 2, 3]
    """
    if workers < 2 or len(pieces) < 2:
        yield from map(run, pieces)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(min(workers, len(pieces)), mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(run, pieces)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
