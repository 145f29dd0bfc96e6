"""Pieces of work that know nothing of each other, some at once in processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from foresee.errors import RunError

T = TypeVar("T")
R = TypeVar("R")


def each(run: Callable[[T], R], pieces: Sequence[T], workers: int) -> Iterator[R]:
    """What becomes of every piece, in their order. An error of a piece is raised here; what still works then, or at Ctrl-C,
    is ended at once, so a piece that is to go on another time has to keep what it has.

    One worker or one piece stays in this process. Else function and pieces travel, so they must be picklable.

    >>> list(each(abs, [-1, 2, -3], 1))
    [1, 2, 3]
    """
    if workers < 2 or len(pieces) < 2:
        yield from map(run, pieces)
        return
    from foresee.runs.engines.processes import Processes

    there: dict[int, Any] = {}
    with Processes(_Caught(run), min(workers, len(pieces))) as engine:
        for number, piece in enumerate(pieces):
            engine.submit(number, piece)
        for number in range(len(pieces)):
            while number not in there:
                outcome = engine.wait()
                if outcome.error is not None:
                    raise RunError(outcome.error)
                there[outcome.job] = outcome.value
            value, error = there.pop(number)
            if error is not None:
                raise error
            yield value


class _Caught:
    """Work whose error is handed back as it is; an engine would make words of it."""

    def __init__(self, run: Callable[[Any], Any]) -> None:
        self.run = run

    def __call__(self, piece: Any) -> tuple[Any, Exception | None]:
        """The value, or the error."""
        try:
            return self.run(piece), None
        except Exception as error:
            return None, error
