"""Live progress on a terminal, a line now and then elsewhere: of a search, of its steps, of scoring the sample of a table."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from foresee.cli.app import err, stopped
from foresee.runs.events import Event
from foresee.runs.progress import BETWEEN, Tally


class Watch:
    """Watches events and draws them; on something that is not a terminal it prints a line now and then."""

    def __init__(self, doing: str = "scoring", *, show: bool, done: str = "scored") -> None:
        self._doing = doing
        self._lines = show and not err.is_terminal
        self._tally = Tally(done)
        self._printed = time.monotonic()
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
        self._tally.take(event)
        self._doing = event.details.get("doing", self._doing)
        if event.kind == "resumed":
            kept, steps = event.details.get("kept", event.done), event.details.get("steps", 0)
            also = f", and {steps} steps are done" if steps else ""
            err.print(f"resuming: {kept} of {event.total} are {self._tally.word} already{also}", highlight=False)
        if event.kind in ("started", "resumed") and event.details.get("ways"):
            err.print(escape(event.details["ways"]), highlight=False)
        if event.kind == "exhausted":
            err.print("every feasible architecture of the space has been proposed")
        tally = self._tally
        facts = ", ".join(
            filter(None, [escape(tally.phase), tally.best("[cyan]{}[/cyan]"), tally.rate("[red]{}[/red]")])
        )
        self._bar.update(self._task, description=self._doing, completed=tally.done, total=tally.total, facts=facts)
        if self._lines and tally.fresh and event.kind in ("scored", "failed", "finished"):
            self._line(str(tally), at_once=event.kind == "finished")

    def stopped(self) -> int:
        """Say after how many, and that nothing is lost; the exit code."""
        done, total = self._tally.done, self._tally.total
        return stopped(f" after {done} of {total}; the same command goes on from there" if total else "")

    def _step(self, event: Event) -> None:
        """The finals and a searcher's own steps have a bar of their own: their name, how many are done of how many."""
        name, done, total = (event.details[key] for key in ("name", "step", "steps"))
        self._bar.update(self._task, description=name, completed=done, total=total, facts="")
        if self._lines and not event.details["replayed"]:
            self._line(f"{name}: {done}/{total}", at_once=done in (0, total))

    def _line(self, text: str, *, at_once: bool) -> None:
        """At most one line in five seconds, but for the first and the last."""
        now = time.monotonic()
        if at_once or now - self._printed >= BETWEEN:
            self._printed = now
            err.print(text, highlight=False, soft_wrap=True)


class Epochs(Watch):
    """Draws a training: a bar over all its steps, with loss, accuracy, rate and the time that is left."""

    def observe(self, event: Event) -> None:
        """Take one event in."""
        if event.kind == "step":
            self._step(event)
        elif event.kind == "resumed":
            err.print(f"resuming: {event.done:,} of {event.total:,} steps are done already", highlight=False)
        elif event.kind == "epoch" and self._lines:
            said = event.details
            judged = "" if said["val_loss"] is None else f", validation loss {said['val_loss']:.3f}"
            area, right = said.get("val_auc"), said["val_accuracy"]
            if area is not None:
                judged += f" and AUC {area:.4f}"
            elif right is not None:
                judged += f" and {100 * right:.2f} % right"
            self._line(f"epoch {said['number']}: loss {said['loss']:.3f}{judged}", at_once=event.done == event.total)


class Stages(Epochs):
    """Draws ensembles in the making: who chooses, and which member is being trained, stand before the bar of a training."""

    def __init__(self, doing: str = "ensemble", *, show: bool) -> None:
        super().__init__(doing, show=show)
        self._sampler, self._member, self._tells = "", "", show

    def observe(self, event: Event) -> None:
        """Take one event in."""
        if event.kind == "step":
            self._step(event)
        elif event.kind == "started" and "step" not in event.details:  # a sampler, not one of its trainings
            self._sampler, self._member = str(event.details.get("name", "")), ""
        elif event.kind in ("chosen", "member"):
            self._member = f"member {event.done + 1 if event.kind == 'member' else 1} of {event.total}"
            done = (
                f"{event.total} members are chosen"
                if event.kind == "chosen"
                else f"member {event.done} of {event.total} is trained"
            )
            self._say(f"{self._sampler}: {done}")
        elif event.kind == "compared":
            why = event.details.get("reason")
            self._say(
                f"{event.details['name']}: {f'failed, {why}' if why else 'measured'}, {event.done} of {event.total}"
            )

    def close(self) -> None:
        """Take the bar away, for what is printed next."""
        self._bar.stop()

    def _say(self, words: str) -> None:
        if self._tells:
            err.print(words, highlight=False, markup=False, soft_wrap=True)

    def _step(self, event: Event) -> None:
        name = ": ".join(filter(None, [self._sampler, self._member, str(event.details["name"])]))
        super()._step(replace(event, details={**event.details, "name": name}))
