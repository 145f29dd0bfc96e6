"""Live progress on a terminal, a line now and then elsewhere: of a search, of its steps, of scoring the sample of a table."""

from __future__ import annotations

import time
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from foresee.cli.app import err, stopped
from foresee.quantities import format_seconds
from foresee.runs.events import Event

#: seconds between two lines where there is no terminal
BETWEEN = 5
#: results from which on the time that is left can be told; the first ones are slow, and come several at once
FEW = 3


class Watch:
    """Watches events and draws them; on something that is not a terminal it prints a line now and then."""

    def __init__(self, doing: str = "scoring", *, show: bool) -> None:
        self._doing = doing
        self._lines = show and not err.is_terminal
        self.done = self.total = self._fresh = self._failed = 0
        self._best = ""
        self._start = self._printed = time.monotonic()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            console=err,
            transient=True,
            disable=not (show and err.is_terminal),
        )
        self._task: Any = None

    def __enter__(self) -> Watch:
        self._bar.__enter__()
        self._task = self._bar.add_task(self._doing, total=None, facts="")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.__exit__(None, None, None)

    def observe(self, event: Event) -> None:
        """Take one event in."""
        if event.kind in ("step", "finalist"):
            self._step(event)
            return
        self.done, self.total = event.done, event.total
        self._count(event)
        if event.kind == "resumed":
            kept, steps = event.details.get("kept", event.done), event.details.get("steps", 0)
            also = f", and {steps} steps are done" if steps else ""
            err.print(f"resuming: {kept} of {event.total} are scored already{also}", highlight=False)
        if event.kind == "exhausted":
            err.print("every feasible architecture of the space has been proposed")
        facts = ", ".join(filter(None, [self._shown_best("[cyan]{}[/cyan]"), self._rate("[red]{}[/red]")]))
        self._bar.update(self._task, description=self._doing, completed=self.done, total=self.total, facts=facts)
        if self._lines and self._fresh and event.kind in ("scored", "failed", "finished"):
            words = [f"{self.done}/{self.total} scored", self._shown_best(), self._rate()]
            self._line(", ".join(filter(None, words)), last=event.kind == "finished")

    def stopped(self) -> int:
        """Say after how many, and that nothing is lost; the exit code."""
        return stopped(f" after {self.done} of {self.total}; the same command goes on from there" if self.total else "")

    def _count(self, event: Event) -> None:
        if event.kind in ("started", "resumed"):
            self._fresh = self._failed = 0  # a table of a paper is scored in several goes
        if event.kind in ("started", "resumed", "asked") and not self._fresh:
            self._start = time.monotonic()  # the rate is that of scoring, not of starting up
        if event.kind == "best":
            self._best = f"{event.details['merit']:.5g}"
        if event.kind in ("scored", "failed") and not event.details.get("replayed"):
            self._fresh += 1
            self._failed += event.kind == "failed"

    def _step(self, event: Event) -> None:
        """The finals and a searcher's own steps have a bar of their own: their name, how many are done of how many."""
        name, done, total = (event.details[key] for key in ("name", "step", "steps"))
        self._bar.update(self._task, description=name, completed=done, total=total, facts="")
        if self._lines and not event.details["replayed"]:
            self._line(f"{name}: {done}/{total}", last=done == total)

    def _shown_best(self, form: str = "{}") -> str:
        return f"best {form.format(self._best)}" if self._best else ""

    def _rate(self, form: str = "{}") -> str:
        passed = time.monotonic() - self._start
        if not self._fresh or passed <= 0:
            return ""
        rate = self._fresh / passed
        words = [f"{rate:.2g}/s" if rate < 99 else f"{rate:,.0f}/s"]
        if self.done < self.total and self._fresh >= FEW:
            words += [f"{format_seconds((self.total - self.done) / rate)} left"]
        words += [form.format(f"{self._failed} failed")] if self._failed else []
        return ", ".join(words)

    def _line(self, text: str, *, last: bool) -> None:
        """At most one line in five seconds, and one at the end."""
        now = time.monotonic()
        if last or now - self._printed >= BETWEEN:
            self._printed = now
            err.print(text, highlight=False)
