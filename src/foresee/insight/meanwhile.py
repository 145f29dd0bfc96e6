"""Work that processes of their own do while this one goes on with its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Event as Flag
from threading import Thread
from typing import TypeVar

from foresee.runs.events import Event, Observer

T = TypeVar("T")

#: seconds that a stopped work gets for letting its processes go
PATIENCE = 5.0


class _Stopped(BaseException):
    """Nobody waits for the work any more; no `Exception`, so that whoever passes events on does not take it for a mistake."""


@contextmanager
def meanwhile(work: Callable[[Observer], T], *, apart: bool) -> Iterator[Callable[[], T]]:
    """Begin a work, and hand over what waits for its result; left before that, the work ends with its next event.

    `work` takes an observer, to be told of each step. `apart` says that it only waits for other processes: it does so in a
    thread then, and must draw no numbers, since the random state is one for all threads. Else it begins when waited for.

    >>> with meanwhile(lambda tell: 6 * 7, apart=True) as wait:
    ...     wait()
    42
    """
    if not apart:
        yield lambda: work(lambda event: None)
        return
    made: Future[T] = Future()
    left = Flag()

    def heard(event: Event) -> None:
        if left.is_set():
            raise _Stopped

    def run() -> None:
        try:
            made.set_result(work(heard))
        except BaseException as error:
            made.set_exception(error)

    thread = Thread(target=run, daemon=True, name="meanwhile")
    thread.start()
    try:
        yield made.result
    finally:
        left.set()
        thread.join(PATIENCE)
