"""How far a contest is: the candidates of all its runs, counted through."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from foresee.runs.events import Announcer, Event, Observer

#: events of a single run that are news of the contest too
PASSED_ON = ("asked", "scored", "failed", "step")


class Overall:
    """Tells observers of the events of each run in turn as events of the whole."""

    def __init__(self, observers: Iterable[Observer], total: int, kept: int = 0) -> None:
        self._tell, self.total, self.done = Announcer(observers), total, kept
        self._tell(Event("resumed" if kept else "started", kept, total, None, {"kept": kept}))

    def watching(self, doing: str) -> Observer:
        """An observer of the run that comes next; `doing` names it."""

        def observe(event: Event) -> None:
            if event.kind in PASSED_ON and (event.kind == "step" or not event.details.get("replayed")):
                details = {**event.details, "doing": doing}
                self._tell(replace(event, done=self.done + event.done, total=self.total, details=details))

        return observe

    def finish(self, evaluations: int) -> None:
        """One run is done."""
        self.done += evaluations
        if self.done >= self.total:
            self._tell(Event("finished", self.done, self.total))
