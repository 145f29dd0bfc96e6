"""The suite passes on the store there is, in a file and in memory, and fails on stores that break one promise each."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from foresee.errors import RunError
from foresee.runs import Store
from foresee.testing import StoreSuite
from foresee.testing.rows import made


class TestFile(StoreSuite):
    store = Store


class TestMemory(StoreSuite):
    store = Store
    lasting = False


# -- the suite can fail -------------------------------------------------------------------------------------------------
class LosesSigns(Store):
    def finish_candidate(self, candidate, *, merit=None, **more):
        super().finish_candidate(candidate, merit=None if merit is None else merit + 0.0, **more)


class LosesParts(Store):
    def finish_candidate(self, candidate, *, scores=(), **more):
        super().finish_candidate(candidate, scores=[replace(score, parts={}) for score in scores], **more)


class LosesStepsOnOpening(Store):
    @classmethod
    def open(cls, path, *, write=False):
        store = super().open(path, write=write)
        store.lost = True
        return store

    def steps(self):
        return () if getattr(self, "lost", False) else super().steps()


class NoTimes(Store):
    def record(self):
        return replace(super().record(), created=0.0)


class NaNAsNone(Store):
    def finish_candidate(self, candidate, *, merit=None, **more):
        super().finish_candidate(candidate, merit=None if merit is None or math.isnan(merit) else merit, **more)


class KeysAsText(Store):
    def add_step(self, number, *, kind, outcome, seconds):
        super().add_step(
            number, kind=kind, outcome={str(key): value for key, value in outcome.items()}, seconds=seconds
        )


class NoReason(Store):
    def add_step(self, number, *, kind, outcome, seconds):
        try:
            super().add_step(number, kind=kind, outcome=outcome, seconds=seconds)
        except RunError:
            raise RunError from None


class HalfCalls(Store):
    """Leaves a note before it looks whether the rest can be done."""

    def finish_candidate(self, candidate, **more):
        self.log("trying", candidate)
        super().finish_candidate(candidate, **more)


class Forgiving(Store):
    """Wrong parents are left out, wrong steps ignored."""

    def add_candidate(self, candidate, *, parent, **more):
        try:
            super().add_candidate(candidate, parent=parent, **more)
        except RunError:
            super().add_candidate(candidate, parent=None, **more)

    def add_step(self, number, **more):
        try:
            super().add_step(number, **more)
        except RunError:
            return


class NamesNobody(Store):
    def add_candidate(self, candidate, **more):
        try:
            super().add_candidate(candidate, **more)
        except RunError:
            raise RunError("the parent is wrong") from None


class Buffers(Store):
    """Writes steps when it is closed or read."""

    def add_step(self, number, **more):
        self.waiting = [*getattr(self, "waiting", []), (number, more)]

    def flush(self):
        for number, more in getattr(self, "waiting", []):
            super().add_step(number, **more)
        self.waiting = []

    def close(self):
        self.flush()
        super().close()

    def record(self):
        self.flush()
        return super().record()


class TwoTransactions(Store):
    """Killed between a candidate and its scores; so that this happens for sure, it does it itself."""

    def finish_candidate(self, candidate, *, scores=(), **more):
        if candidate == 1 and multiprocessing.parent_process():
            super().finish_candidate(candidate, **more)
            os.kill(os.getpid(), signal.SIGKILL)
        super().finish_candidate(candidate, scores=scores, **more)


class EndsByItself(Store):
    def add_step(self, number, **more):
        if number == 1 and multiprocessing.parent_process():
            os._exit(0)
        super().add_step(number, **more)


class ReadersWrite(Store):
    @classmethod
    def open(cls, path, *, write=False):
        return super().open(path, write=True)


class ReadersLeaveFiles(Store):
    @classmethod
    def open(cls, path, *, write=False):
        if not write:
            (Path(path).parent / "read").touch()
        return super().open(path, write=write)


class Overwrites(Store):
    @classmethod
    def create(cls, path, **more):
        Path(path).unlink(missing_ok=True)
        return super().create(path, **more)


class StartsAnew(Store):
    """What cannot be opened is replaced."""

    @classmethod
    def open(cls, path, *, write=False):
        try:
            return super().open(path, write=write)
        except RunError:
            Path(path).unlink()
            return made(cls, path)


class PutsAside(Store):
    """What cannot be opened is refused, and moved out of the way."""

    @classmethod
    def open(cls, path, *, write=False):
        try:
            return super().open(path, write=write)
        except RunError:
            os.rename(path, f"{path}.bad")
            raise


class AnyWriter(StoreSuite):
    """Nobody holds the folder."""

    __test__ = False
    store = Store

    @contextmanager
    def writer(self, folder):
        path = self.place(folder)
        with self.kind.open(path, write=True) if path.exists() else made(self.kind, path) as store:
            yield store


@pytest.mark.parametrize(
    ("test", "broken", "message"),
    [
        ("everything_comes_back", LosesSigns, r"candidates\[1\]\.merit is 0\.0, expected -0\.0"),
        ("everything_comes_back", LosesParts, r"scores\['!'\]\.parts is {}, expected {'a': 0\.0, 'b': nan}"),
        ("everything_comes_back", LosesStepsOnOpening, r"while it is written: record\.steps is \(\)"),
        ("everything_comes_back", NoTimes, r"record\.created is False, expected True"),
        (
            "what_cannot_be_kept_is_refused",
            NaNAsNone,
            "a merit of NaN, neither refused nor kept: .* is None, expected nan",
        ),
        ("what_cannot_be_kept_is_refused", KeysAsText, "a key that is no text, neither refused nor kept"),
        ("what_cannot_be_kept_is_refused", NoReason, "a key that is no text: refused without a reason"),
        ("half_a_call_is_nothing", HalfCalls, "scored twice was refused, but left something behind"),
        ("a_wrong_parent_is_refused", Forgiving, "parent 40 of candidate 40: not refused"),
        ("a_wrong_parent_is_refused", NamesNobody, "the message names not both"),
        ("steps_come_in_order", Forgiving, "step 1 before step 0: not refused"),
        ("killed_at_any_moment", Buffers, r"killed after \d+ calls: record"),
        ("killed_at_any_moment", TwoTransactions, r"killed after 6 calls: record"),
        ("killed_at_any_moment", EndsByItself, "the writer ended by itself after 7 calls"),
        ("a_reader_changes_nothing", ReadersWrite, "writing to a store that was opened to be read: not refused"),
        ("a_reader_changes_nothing", ReadersLeaveFiles, "a reader changed the folder"),
        ("a_file_that_is_there_is_never_overwritten", Overwrites, "a new run in the place of a file: not refused"),
        ("foreign_newer_and_damaged_files_are_refused_untouched", StartsAnew, "a file that is empty: not refused"),
        ("foreign_newer_and_damaged_files_are_refused_untouched", PutsAside, "the folder has changed"),
    ],
)
def test_broken_promises_are_found(test, broken, message):
    checks = type("Checks", (StoreSuite,), {"store": broken, "kills": (25,)})()
    with pytest.raises(AssertionError, match=message):
        getattr(checks, f"test_{test}")()


def test_a_second_writer_is_found():
    with pytest.raises(AssertionError, match="a second writer: not refused"):
        AnyWriter().test_a_second_writer_is_refused()


def test_the_suite_asks_for_a_store():
    with pytest.raises(NotImplementedError, match="give the suite its store"):
        StoreSuite().test_everything_comes_back()
