"""Ctrl-C is held back until a good moment, once."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from foresee.training.interrupts import Interrupts

# ruff: noqa: PT012  # what happens between the signal and the exception is what is tested


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_held_back_until_here() -> None:
    before = signal.getsignal(signal.SIGINT)
    done = []
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:
        press()
        done.append(interrupts.asked)
        interrupts.here()
        done.append("not reached")
    assert done == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_is_not_held_back() -> None:
    with pytest.raises(KeyboardInterrupt), Interrupts():
        press()
        press()
        raise AssertionError("not reached")


def test_raised_at_the_end_at_the_latest() -> None:
    with pytest.raises(KeyboardInterrupt), Interrupts():
        press()


def test_another_error_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), Interrupts():
        press()
        raise ZeroDivisionError


def test_in_another_thread_nothing_is_touched() -> None:
    before = signal.getsignal(signal.SIGINT)

    def work() -> None:
        with Interrupts() as interrupts:
            assert signal.getsignal(signal.SIGINT) is before
            interrupts.here()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
