"""One line of progress: in a notebook, on a terminal, and where nothing can be written over."""

from __future__ import annotations

import io
import sys
from itertools import pairwise
from types import SimpleNamespace

import pytest

from foresee.runs import progress
from foresee.runs.events import Event
from foresee.runs.progress import Line, Tally, in_notebook, watched


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when the test says so."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


class Screen(io.StringIO):
    """Standard error, a terminal or not."""

    def __init__(self, terminal: bool):
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def _play(line, clock, many=300, each=0.1):
    line(Event("started", 0, many))
    for done in range(1, many + 1):
        clock[0] += each
        line(Event("best", done - 1, many, done, {"merit": float(done)}))
        line(Event("scored", done, many, done))
    line(Event("finished", many, many))


def test_a_line_now_and_then_where_nothing_can_be_written_over(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", screen := Screen(terminal=False))
    _play(Line(), clock)
    lines = screen.getvalue().splitlines()
    assert 6 <= len(lines) <= 7  # 30 seconds, one in five, and the end
    assert lines[0].startswith("50/300 scored, best 51, 9.8/s, 25")
    assert lines[0].endswith(" s left")
    assert lines[-1] == "300/300 scored, best 300, 10/s"


def test_one_line_on_a_terminal(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", screen := Screen(terminal=True))
    _play(Line(), clock)
    written = screen.getvalue()
    assert written.count("\n") == 1
    assert written.endswith("\n")
    states = written.strip("\r\n").split("\r")
    assert len(states) <= 152  # five in a second at most
    assert all(len(after) >= len(before) for before, after in pairwise(states))  # nothing stays behind


class Shell:
    """A notebook's shell and its display: what was shown first, and what replaced it."""

    def __init__(self, monkeypatch):
        self.kernel, self.shown, self.updates = object(), [], []
        modules = SimpleNamespace(get_ipython=lambda: self), SimpleNamespace(display=self.display)
        for name, module in zip(("IPython", "IPython.display"), modules, strict=True):
            monkeypatch.setitem(sys.modules, name, module)

    def display(self, data, *, raw, display_id):
        assert raw
        assert display_id
        self.shown.append(data)
        return self

    def update(self, data, *, raw):
        assert raw
        self.updates.append(data)


def test_one_output_in_a_notebook(clock, monkeypatch):
    shell = Shell(monkeypatch)
    assert in_notebook()
    _play(Line(), clock)
    assert len(shell.shown) == 1
    assert 1 < len(shell.updates) <= 152
    assert shell.updates[-1]["text/plain"] == "300/300 scored, best 300, 10/s"
    assert '<progress value="300" max="300"' in shell.updates[-1]["text/html"]


def test_stopping_is_the_last_word(clock, monkeypatch):
    shell = Shell(monkeypatch)
    line = Line()
    line(Event("started", 0, 9))
    line(Event("interrupted", 4, 9))
    assert shell.shown[-1]["text/plain"] == "4/9 scored; stopped"


def test_steps_by_their_name_and_escaped(clock, monkeypatch):
    shell = Shell(monkeypatch)
    line = Line()
    clock[0] += 1
    line(Event("step", 0, 5, details={"name": "<b>rounds", "step": 2, "steps": 3, "replayed": False}))
    assert shell.shown[0]["text/plain"] == "<b>rounds: 2/3"
    assert "&lt;b&gt;rounds: 2/3" in shell.shown[0]["text/html"]


def test_no_notebook_without_a_kernel(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not in_notebook()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not in_notebook()


def test_a_space_that_is_over_before_its_time_has_nothing_left(clock):
    tally = Tally()
    tally.take(Event("started", 0, 60))
    clock[0] = 2.0
    for done in range(1, 5):
        tally.take(Event("scored", done, 60, done))
    assert str(tally) == "4/60 scored, 2/s, 28.0 s left"
    tally.take(Event("finished", 4, 60))
    assert str(tally) == "4/60 scored, 2/s"


def test_progress_is_one_more_observer():
    assert watched([print], progress=False) == [print]
    first, second = watched([print], progress=True)
    assert first is print
    assert isinstance(second, Line)


def test_a_phase_is_told_in_the_searchers_words():
    tally = Tally()
    tally.take(Event("started", 0, 10))
    tally.take(Event("scored", 1, 10, 0, {"merit": 1.0, "phase": "generation 2 of 5"}))
    assert str(tally).startswith("1/10 scored, generation 2 of 5")
    tally.take(Event("scored", 2, 10, 1, {"merit": 1.0, "phase": ""}))
    assert "generation" not in str(tally)
