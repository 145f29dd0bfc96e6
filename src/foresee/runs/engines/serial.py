"""One job after another, in this process."""

from __future__ import annotations

from collections import deque
from typing import Any

from foresee.errors import RunError
from foresee.runs.engines.base import Engine, Outcome, Work, attempt, engines


@engines.register("serial")
class Serial(Engine):
    """One job after another, in this process: a job is done when it is waited for. A job that ends its process ends ours."""

    summary = "in this process"

    def __init__(self, work: Work, workers: int | None = None) -> None:
        self._work = work
        self._queue: deque[tuple[int, Any]] = deque()

    def submit(self, job: int, payload: Any) -> None:
        """Queue a job."""
        self._queue.append((job, payload))

    def wait(self) -> Outcome:
        """Do the oldest job now."""
        if not self._queue:
            raise RunError("no job is queued: nothing to wait for")
        job, payload = self._queue.popleft()
        return attempt(self._work, job, payload)

    def __exit__(self, *_: object) -> None:
        self._queue.clear()
