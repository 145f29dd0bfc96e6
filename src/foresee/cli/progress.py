"""Live progress on a terminal, a line now and then elsewhere: of a search, and of scoring the sample of a table."""

from __future__ import annotations

import time
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from foresee.cli.app import err
from foresee.quantities import format_seconds
from foresee.runs.events import Event


class SearchProgress:
    """Watches the events of a search and draws them; on something that is not a terminal it prints a line now and then."""

    def __init__(self, *, show: bool) -> None:
        self._live = show and err.is_terminal
        self._lines = show and not err.is_terminal
        self._best = "none yet"
        self._start = time.monotonic()
        self._fresh = 0
        self._failed = 0
        self._counting = False
        self._printed = 0.0
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("best [cyan]{task.fields[best]}[/cyan]"),
            TextColumn("{task.fields[rate]}"),
            console=err,
            transient=True,
            disable=not self._live,
        )
        self._task: Any = None

    def __enter__(self) -> SearchProgress:
        self._bar.__enter__()
        self._task = self._bar.add_task("searching", total=None, best=self._best, rate="")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.__exit__(None, None, None)

    def observe(self, event: Event) -> None:
        """Take one event in."""
        if event.kind == "asked" and not self._fresh and not self._counting:
            self._start, self._counting = time.monotonic(), True  # the rate is that of scoring, not of starting up
        if event.kind == "best":
            self._best = f"{event.details['merit']:.5g}"
        if event.kind in ("scored", "failed") and not event.details.get("replayed"):
            self._fresh += 1
            self._failed += event.kind == "failed"
        if event.kind == "resumed":
            err.print(f"resuming: {event.details.get('kept', 0)} of {event.total} are scored already")
        if event.kind == "exhausted":
            err.print("every feasible architecture of the space has been proposed")
        self._bar.update(self._task, completed=event.done, total=event.total, best=self._best, rate=self._rate(event))
        if self._lines and event.kind in ("scored", "failed", "finished"):
            self._line(event)

    def _rate(self, event: Event) -> str:
        passed = time.monotonic() - self._start
        if not self._fresh or passed <= 0:
            return ""
        rate = self._fresh / passed
        left = format_seconds((event.total - event.done) / rate)
        failed = f", [red]{self._failed} failed[/red]" if self._failed else ""
        return f"{rate:.2g}/s, {left} left{failed}"

    def _line(self, event: Event) -> None:
        """At most one line in five seconds, and one at the end."""
        now = time.monotonic()
        if event.kind != "finished" and now - self._printed < 5:
            return
        self._printed = now
        err.print(f"{event.done}/{event.total} scored, best {self._best}, {self._rate(event)}", highlight=False)


class ScoringProgress:
    """Watches the events of `scored`: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, *, show: bool) -> None:
        self._lines = show and not err.is_terminal
        self.done = self.total = self._fresh = 0
        self._start = self._printed = time.monotonic()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("[bold]scoring"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            console=err,
            transient=True,
            disable=not (show and err.is_terminal),
        )
        self._task: Any = None

    def __enter__(self) -> ScoringProgress:
        self._bar.__enter__()
        self._task = self._bar.add_task("scoring", total=None, rate="")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.__exit__(None, None, None)

    def observe(self, event: Event) -> None:
        """Take one event in."""
        self.done, self.total = event.done, event.total
        if event.kind in ("started", "resumed"):
            self._start, self._fresh = time.monotonic(), 0  # a table of a paper is scored in several goes
            if event.kind == "resumed" and self._lines:
                err.print(f"{event.done} of {event.total} are scored already", highlight=False)
        self._fresh += event.kind in ("scored", "failed")
        self._bar.update(self._task, completed=event.done, total=event.total, rate=self._rate())
        now = time.monotonic()
        if self._lines and self._fresh and (event.kind == "finished" or now - self._printed > 5):
            self._printed = now
            err.print(f"{event.done}/{event.total} scored{self._rate(', ')}", highlight=False)

    def stopped(self) -> None:
        """Say after how many, and that nothing is lost."""
        after = f" after {self.done} of {self.total}; the same command goes on from there" if self.total else ""
        err.print(f"[yellow]stopped[/yellow]{after}", highlight=False)

    def _rate(self, before: str = "") -> str:
        passed = time.monotonic() - self._start
        if not self._fresh or passed <= 0:
            return ""
        rate = self._fresh / passed
        left = f", {format_seconds((self.total - self.done) / rate)} left" if self.done < self.total else ""
        return f"{before}{rate:.2g}/s{left}" if rate < 99 else f"{before}{rate:,.0f}/s{left}"
