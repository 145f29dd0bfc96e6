"""What every store must keep, as tests.

    class TestMine(StoreSuite):
        store = MyStore

pytest finds the tests in the subclass. Every assertion says what was expected of which row. A store that keeps runs in memory
only says `lasting = False`: what concerns files is not asked of it.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from foresee.errors import RunError
from foresee.runs.folder import RunFolder
from foresee.runs.record import Record
from foresee.runs.store import Store
from foresee.testing.rows import DOUBTFUL, SCORE, SPOILT, add, difference, fill, killed, made, plan


class StoreSuite:
    """Base class; a subclass names its `store` and, where the defaults do not fit, the rest."""

    #: the class under test, with the methods of `foresee.runs.Store`
    store: ClassVar[type[Store]]
    #: whether runs outlive the process
    lasting: ClassVar[bool] = True
    #: after how many finished calls the writer is killed
    kills: ClassVar[tuple[int, ...]] = (1, 2, 4, 9, 15, 25)

    # -- what is tested -----------------------------------------------------------------------------------------------
    @property
    def kind(self) -> type[Store]:
        """The store under test."""
        if not hasattr(type(self), "store"):
            raise NotImplementedError("give the suite its store: store = MyStore")
        return self.store

    def place(self, folder: str) -> Path | str:
        """Where in a folder the store of a run is."""
        return Path(folder) / RunFolder.STORE if self.lasting else ":memory:"

    @contextmanager
    def writer(self, folder: str) -> Iterator[Store]:
        """The one writer of the run in a folder, in the way a search becomes it; a new run where there is none."""
        held = RunFolder(folder)
        if self.lasting:
            held.hold()
        try:
            place = self.place(folder)
            with self.kind.open(place, write=True) if held.exists else made(self.kind, place) as store:
                yield store
        finally:
            held.release()

    def newer(self, path: Path) -> None:
        """Make a stored run one of a newer schema."""
        database = sqlite3.connect(path)
        database.execute("PRAGMA user_version=99")
        database.close()

    # -- what is written is read --------------------------------------------------------------------------------------
    def test_everything_comes_back(self) -> None:
        """All rows, to the last bit: while it is written, when it is opened again to be read, and to be written."""
        with TemporaryDirectory() as folder:
            with self.writer(folder) as store:
                expected = fill(store)
                self._same(store.record(), expected, "while it is written")
                if self.lasting:
                    with self.kind.open(self.place(folder)) as reader:
                        self._same(reader.record(), expected, "seen by a reader while it is written")
            if self.lasting:
                for write in (False, True):
                    with self.kind.open(self.place(folder), write=write) as again:
                        self._same(again.record(), expected, f"opened again to be {'written' if write else 'read'}")

    def test_what_cannot_be_kept_is_refused(self) -> None:
        """NaN where None is kept, whole numbers too large for a column, keys that are no text: exact, or a `RunError`."""
        for what, change in DOUBTFUL.items():
            with TemporaryDirectory() as folder, self.writer(folder) as store:
                expected = fill(store)
                try:
                    expected = change(store, expected)
                except RunError as error:
                    _reason(error, what)
                self._same(store.record(), expected, f"{what}, neither refused nor kept")

    def test_half_a_call_is_nothing(self) -> None:
        """A call that is refused half-way (a proxy scored twice, a candidate that is there) leaves no trace."""
        with TemporaryDirectory() as folder, self.writer(folder) as store:
            expected = fill(store)
            calls: Mapping[str, Callable[[], None]] = {
                "a proxy that is scored twice": lambda: store.finish_candidate(
                    2, status="scored", scores=[SCORE, SCORE]
                ),
                "a candidate that is not in the run": lambda: store.finish_candidate(
                    99, status="scored", scores=[SCORE]
                ),
                "a candidate that is there already": lambda: add(store, 2),
            }
            for what, call in calls.items():
                self._refused(call, what)
                self._same(store.record(), expected, f"{what} was refused, but left something behind")

    def test_a_wrong_parent_is_refused(self) -> None:
        """A parent is an earlier candidate of the run; the message names both."""
        with TemporaryDirectory() as folder, self.writer(folder) as store:
            fill(store)
            add(store, 50)
            expected = store.record()
            for parent in (40, 41, 50, -1):
                message = self._refused(partial(add, store, 40, parent), f"parent {parent} of candidate 40")
                named = "40" in message and str(parent) in message
                assert named, f"the message names not both, candidate 40 and parent {parent}: {message}"
            self._same(store.record(), expected, "a wrong parent was refused, but left something behind")

    def test_steps_come_in_order(self) -> None:
        """0, 1, 2, ...; none twice, none left out."""
        with TemporaryDirectory() as folder, self.writer(folder) as store:
            step = partial(store.add_step, kind="epoch", outcome={}, seconds=0.0)
            self._refused(partial(step, 1), "step 1 before step 0")
            step(0)
            for number in (-1, 0, 2):
                self._refused(partial(step, number), f"step {number} after step 0")
            step(1)
            found = [step.number for step in store.steps()]
            assert found == [0, 1], f"steps 0 and 1 were stored, {found} are there"

    def test_values_are_kept_one_by_one(self) -> None:
        """Each is written once; those that an older run wrote as one fact are among them."""
        with TemporaryDirectory() as folder, self.writer(folder) as store:
            assert store.kept("latency") == {}, "something is kept before anything was"
            store.set("latency", {"a": 0.5, "b": 0.25})
            expected = {"a": 0.5, "b": 0.1 + 0.2, "c:*'": -0.0, "": 5e-324}
            for name in ("b", "c:*'", ""):
                store.keep("latency", name, expected[name])
            store.keep("latencies", "x", 1.0)
            found = store.kept("latency")
            assert repr(sorted(found.items())) == repr(sorted(expected.items())), (
                f"{expected} was kept, {found} is there"
            )

    # -- nothing is lost ----------------------------------------------------------------------------------------------
    def test_killed_at_any_moment(self) -> None:
        """What was finished is there, what was not is not there at all, and the run can be gone on with."""
        if not self.lasting:
            return
        for after in self.kills:
            with TemporaryDirectory() as folder:
                done = killed(self.kind, self.place(folder), after)
                with self.kind.open(self.place(folder)) as reader:
                    found = reader.record()
                unlike = [difference(found, self._after(calls)) for calls in (done, done + 1)]
                assert "" in unlike, f"killed after {done} calls: {unlike[0]}"
                with self.writer(folder) as store:
                    self._same(store.record(), found, "opened for writing after a kill")
                    store.set("title", "gone on with")
                with self.kind.open(self.place(folder)) as reader:
                    assert reader.get("title") == "gone on with", "what was written after a kill is not there"

    # -- what is not ours ---------------------------------------------------------------------------------------------
    def test_a_second_writer_is_refused(self) -> None:
        """As long as the first is there; it notices nothing."""
        if not self.lasting:
            return
        with TemporaryDirectory() as folder:
            with self.writer(folder) as store:
                expected = fill(store)
                self._refused(lambda: self._enter(folder), "a second writer")
                store.set("status", "finished")
                self._same(store.record(), replace(expected, status="finished"), "after a second writer was refused")
            with self.writer(folder) as store:
                assert store.get("status") == "finished", "what the first writer wrote is not there for the second"

    def test_a_reader_changes_nothing(self) -> None:
        """Neither by reading, nor by trying to write."""
        if not self.lasting:
            return
        with TemporaryDirectory() as folder:
            with self.writer(folder) as store:
                fill(store)
            before = _files(folder)
            with self.kind.open(self.place(folder)) as reader:
                reader.record()
                self._refused(lambda: reader.set("title", "mine"), "writing to a store that was opened to be read")
            assert _files(folder) == before, "a reader changed the folder"

    def test_a_file_that_is_there_is_never_overwritten(self) -> None:
        """A new run is made only where nothing is."""
        if not self.lasting:
            return
        with TemporaryDirectory() as folder:
            Path(self.place(folder)).write_text("precious")
            before = _files(folder)
            self._refused(lambda: made(self.kind, self.place(folder)).close(), "a new run in the place of a file")
            assert _files(folder) == before, "the file that was there has changed"

    def test_foreign_newer_and_damaged_files_are_refused_untouched(self) -> None:
        """To be read or written, with a reason."""
        if not self.lasting:
            return
        for what, spoil in {**SPOILT, "of a newer schema": self.newer}.items():
            with TemporaryDirectory() as folder:
                with self.writer(folder) as store:
                    fill(store)
                spoil(Path(self.place(folder)))
                before = _files(folder)
                for write in (False, True):
                    self._refused(partial(self._open, folder, write), f"a file {what}")
                    assert _files(folder) == before, f"a file {what} was refused, but the folder has changed"

    # -- help ---------------------------------------------------------------------------------------------------------
    def _refused(self, call: Callable[[], None], what: str) -> str:
        try:
            call()
        except RunError as error:
            return _reason(error, what)
        raise AssertionError(f"{what}: not refused")

    def _same(self, found: Record, expected: Record, where: str) -> None:
        unlike = difference(found, expected)
        assert not unlike, f"{where}: {unlike}"

    def _enter(self, folder: str) -> None:
        with self.writer(folder):
            pass

    def _open(self, folder: str, write: bool) -> None:
        self.kind.open(self.place(folder), write=write).close()

    def _after(self, calls: int) -> Record:
        """The record after so many calls of the plan, without a kill."""
        with TemporaryDirectory() as folder, made(self.kind, self.place(folder)) as store:
            for call in itertools.islice(plan(store), calls):
                call()
            return store.record()


def _reason(error: RunError, what: str) -> str:
    assert str(error).strip(), f"{what}: refused without a reason"
    return str(error)


def _files(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}
