"""What a mistake looks like at the door of the command."""

from __future__ import annotations

import sys

import pytest
import typer

from foresee.cli import entry
from foresee.cli.app import stopped
from foresee.cli.start import Signals


@pytest.fixture
def broken(monkeypatch):
    """A command that raises what it is told to."""

    def call(error):
        def app(**_):
            raise error

        monkeypatch.setattr(entry, "app", app)
        monkeypatch.setattr(sys, "argv", ["foresee", "proxies"])

    return call


def test_what_nobody_expected_is_one_line_with_a_hint(broken, capfd, monkeypatch):
    monkeypatch.delenv("FORESEE_TRACE", raising=False)
    broken(KeyError("grad\nnorm"))
    assert entry.guarded() == 70
    said = capfd.readouterr().err
    assert said == "foresee: unexpected KeyError: 'grad\\nnorm' (a mistake of ours; FORESEE_TRACE=1 shows where)\n"
    broken(MemoryError())
    assert entry.guarded() == 70
    assert "unexpected MemoryError (a mistake" in capfd.readouterr().err


def test_the_trace_is_shown_when_it_is_asked_for(broken, capfd, monkeypatch):
    monkeypatch.setenv("FORESEE_TRACE", "1")
    broken(KeyError("grad_norm"))
    assert entry.guarded() == 70
    assert "Traceback" in capfd.readouterr().err


def test_tests_see_the_exception_itself(broken):
    broken(KeyError("grad_norm"))
    with pytest.raises(KeyError):
        entry.run()


def test_an_interruption_that_comes_out_as_something_else_is_one(broken, capfd, monkeypatch):
    monkeypatch.setattr(Signals, "seen", True)
    broken(ImportError("numpy was not imported"))
    assert entry.guarded() == 130
    assert capfd.readouterr().err == "stopped\n"


def test_ctrl_c_is_130(broken, capfd):
    broken(KeyboardInterrupt())
    assert entry.guarded() == 130
    assert capfd.readouterr().err == "stopped\n"


@pytest.fixture
def interrupted(monkeypatch):
    """A command of the real command line that is interrupted, as typer sees it; it may have said so itself."""

    def call(words):
        app = typer.Typer()

        @app.command()
        def only() -> None:
            if words is not None:
                stopped(words)
            raise KeyboardInterrupt

        monkeypatch.setattr(entry, "app", app)
        monkeypatch.setattr(sys, "argv", ["foresee"])

    return call


@pytest.mark.parametrize(("words", "line"), [(None, "stopped\n"), (" after 3 of 4", "stopped after 3 of 4\n")])
def test_an_interruption_is_said_once_whoever_says_it(interrupted, capfd, words, line):
    for _ in range(2):
        interrupted(words)
        assert entry.guarded() == 130
        assert capfd.readouterr().err == line
