"""What a run tells while it goes on: the library emits events, whoever watches decides what to show."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_LOG = logging.getLogger("foresee")


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Kinds: "started", "resumed", "asked", "scored", "failed", "best", "step", "finalist", "finished",
    "interrupted". `done` and `total` count candidates.
    """

    kind: str
    done: int = 0
    total: int = 0
    candidate: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


Observer = Callable[[Event], None]


class Announcer:
    """Passes events on to observers and to the log. An observer that fails is left out from then on, never the run."""

    def __init__(self, observers: Iterable[Observer] = ()) -> None:
        self._observers = list(observers)

    def __call__(self, event: Event) -> None:
        """Tell everyone."""
        _LOG.debug("%s %s/%s %s %s", event.kind, event.done, event.total, event.candidate, dict(event.details))
        for observer in list(self._observers):
            try:
                observer(event)
            except Exception:
                _LOG.exception("an observer failed and is left out from here on")
                self._observers.remove(observer)
