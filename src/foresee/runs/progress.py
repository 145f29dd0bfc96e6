"""How far something is: counted from its events, told in words, and shown in one line that is written over itself.

`Tally` counts and finds the words, for whoever draws them. `Line` is an observer that draws them itself: in a notebook as one
output that is replaced, on a terminal as one line, anywhere else as a line now and then.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Iterable
from typing import Any

from foresee.lazy import find
from foresee.quantities import format_seconds
from foresee.runs.events import Event, Observer

#: seconds between two lines where nothing can be written over, and between two states where it can
BETWEEN, OFTEN = 5.0, 0.2
#: results from which on the time that is left can be told; the first ones are slow, and come several at once
FEW = 3


class Tally:
    """Counts events: how many are done of how many, how many of them now, how many failed, and the best so far.

    `word` is what is said of those that are done.
    """

    def __init__(self, word: str = "scored") -> None:
        self.word = word
        self.done = self.total = self.fresh = self._failed = 0
        self._best, self._over = "", False
        #: what the last candidate is a part of, in the searcher's words; "" where of nothing
        self.phase = ""
        self._start = time.monotonic()

    def take(self, event: Event) -> None:
        """Take one event in, of candidates."""
        self.done, self.total, self._over = event.done, event.total, event.kind in ("finished", "interrupted")
        if event.kind in ("started", "resumed"):
            self.fresh = self._failed = 0  # a table of a paper is scored in several goes
        if event.kind in ("started", "resumed", "asked") and not self.fresh:
            self._start = time.monotonic()  # the rate is that of scoring, not of starting up
        if event.kind == "best":
            self._best = f"{event.details['merit']:.5g}"
        if event.kind in ("scored", "failed") and not event.details.get("replayed"):
            self.fresh += 1
            self._failed += event.kind == "failed"
        if event.kind in ("scored", "failed"):
            self.phase = str(event.details.get("phase", ""))

    def best(self, form: str = "{}") -> str:
        """The best so far, in a form of whoever shows it; "" where there is none."""
        return f"best {form.format(self._best)}" if self._best else ""

    def rate(self, form: str = "{}") -> str:
        """How fast it goes, how long it will take still, and how many failed, these in a form."""
        passed = time.monotonic() - self._start
        if not self.fresh or passed <= 0:
            return ""
        rate = self.fresh / passed
        words = [f"{rate:.2g}/s" if rate < 99 else f"{rate:,.0f}/s"]
        if self.done < self.total and self.fresh >= FEW and not self._over:  # a small space is over before its time
            words += [f"{format_seconds((self.total - self.done) / rate)} left"]
        words += [form.format(f"{self._failed} failed")] if self._failed else []
        return ", ".join(words)

    def __str__(self) -> str:
        return ", ".join(filter(None, [f"{self.done}/{self.total} {self.word}", self.phase, self.best(), self.rate()]))


class Line:
    """An observer that shows how far it is in one line."""

    def __init__(self) -> None:
        self._tally = Tally()
        self._screen = _Notebook() if in_notebook() else _Terminal() if sys.stderr.isatty() else _Lines()
        self._shown = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Take one event in; at most so often, and at the end."""
        if {"name", "step", "steps"} <= event.details.keys():
            name, done, total = (event.details[key] for key in ("name", "step", "steps"))
            text = f"{name}: {done}/{total}"
        else:
            self._tally.take(event)
            done, total, text = event.done, event.total, str(self._tally)
        last = event.kind in ("finished", "interrupted")
        text += "; stopped" if event.kind == "interrupted" else ""
        now = time.monotonic()
        if last or now - self._shown >= self._screen.between:
            self._shown = now
            self._screen.show(text, done, total, last=last)


def watched(observers: Iterable[Observer], progress: bool) -> list[Observer]:
    """The observers, and a line of progress where it is wanted."""
    return [*observers, *([Line()] if progress else [])]


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook. IPython that nobody has imported is not running."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class _Lines:
    """A line now and then."""

    between = BETWEEN

    def show(self, text: str, done: int, total: int, *, last: bool) -> None:
        print(text, file=sys.stderr, flush=True)


class _Terminal:
    """One line that is written over."""

    between = OFTEN

    def __init__(self) -> None:
        self._width = 0

    def show(self, text: str, done: int, total: int, *, last: bool) -> None:
        self._width = max(self._width, len(text))
        print(f"\r{text.ljust(self._width)}", end="\n" if last else "", file=sys.stderr, flush=True)


class _Notebook:
    """One output of the cell, replaced: a bar where pages are shown, the words alone where they are not."""

    between = OFTEN

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str, done: int, total: int, *, last: bool) -> None:
        bar = f'<progress value="{done}" max="{max(total, 1)}" style="vertical-align:middle;margin-right:0.8em"></progress>'
        shown = {"text/plain": text, "text/html": f"<div>{bar}{html.escape(text)}</div>"}
        if self._handle is None:
            self._handle = find("IPython.display", "display")(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)
