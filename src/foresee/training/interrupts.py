"""Ctrl-C at a moment at which nothing is half done."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """Holds Ctrl-C (and a polite kill) back until `here` is called; a second one is not held back.

    Only in the main thread, where signals arrive, and only where somebody answers them at all.

    >>> with Interrupts() as interrupts:
    ...     interrupts.here()
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self.asked: int | None = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in self.SIGNALS:
                before = signal.getsignal(number)
                if callable(before):
                    self._before[number] = before
                    signal.signal(number, self._hold)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        if kind is None:
            self.here()

    def _hold(self, number: int, frame: FrameType | None) -> None:
        if self.asked is not None:
            self._before[number](number, frame)
        self.asked = number

    def here(self) -> None:
        """Now is a good moment: what was asked for meanwhile is raised."""
        if self.asked is not None:
            number, self.asked = self.asked, None
            self._before[number](number, None)
            raise KeyboardInterrupt
