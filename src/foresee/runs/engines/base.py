"""What an engine is: where jobs are done. Whichever is used, the results are the same.

    @engines.register("mine")
    class Mine(Engine):
        summary = "on my machines"

An engine gets one picklable callable `work` and, for each job, an id and a payload; `wait` hands back one finished job. It
knows nothing of what the work is, nor of how much is in a payload. A new engine is one new file in this room, and
`foresee.testing.EngineSuite` says what it has to keep. Where it computes a work may say itself (`device`), so that an engine
can give each worker a card of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from foresee.errors import said
from foresee.registry import Registry

Work = Callable[[Any], Any]

#: a job whose worker dies is tried once more
ATTEMPTS = 2


@dataclass(frozen=True)
class Outcome:
    """A finished job: its value, or the error that ended it, and how often it was tried."""

    job: int
    value: Any = None
    error: str | None = None
    attempts: int = 1


class Engine(ABC):
    """Does jobs. Used in a `with` block; leaving it stops everything that still runs.

    `workers` is how many jobs can run at once; None leaves that to the engine, and one that cannot choose ignores it.
    Making an engine starts nothing yet.
    """

    #: where the work is done, for listings
    summary: ClassVar[str] = ""

    #: how many jobs can run at once
    workers: int = 1

    @abstractmethod
    def __init__(self, work: Work, workers: int | None = None) -> None: ...

    @abstractmethod
    def submit(self, job: int, payload: Any) -> None:
        """Queue a job."""

    @abstractmethod
    def wait(self) -> Outcome:
        """Block until any job is finished and hand it over; a `RunError` where none is left to wait for."""

    def __enter__(self) -> Engine:
        return self

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...


engines: Registry[type[Engine]] = Registry("engine", group="foresee.engines", home="foresee.runs.engines")


def make(name: str, work: Work, workers: int | None = None) -> Engine:
    """An engine by name."""
    return engines[name](work, workers)


def device_of(work: Work) -> str:
    """Where the work computes, as it says itself; the CPU where it says nothing.

    >>> device_of(abs)
    'cpu'
    """
    return str(getattr(work, "device", "cpu"))


def attempt(work: Work, job: int, payload: Any) -> Outcome:
    """Do one job here and now; an exception is an outcome, and so is a stranger's `sys.exit()`."""
    try:
        return Outcome(job, work(payload))
    except (Exception, SystemExit) as error:
        return Outcome(job, error=said(error))
