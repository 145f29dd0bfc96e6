"""What every searcher must do, as tests.

    class TestMine(SearcherSuite):
        searcher = "mine"
        settings = {"population": 8}

pytest finds the tests in the subclass. A searcher that needs a space of its own kind gives `space`.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar
from unittest.mock import patch
from zlib import crc32

import numpy as np
import torch

from foresee.budgets import Limits
from foresee.errors import InfeasibleError, InputError
from foresee.runs.engines import Engine, Outcome, Serial
from foresee.runs.events import Announcer, Event
from foresee.runs.record import Record
from foresee.runs.store import Store
from foresee.scoring.scorer import Job, Scored, Scorer
from foresee.searchers.base import Searcher, make, searchers
from foresee.searchers.problem import Problem, objectives_of
from foresee.searchers.search import run_search
from foresee.searchers.session import Session
from foresee.searchers.settings import SearchSettings
from foresee.spaces.base import spaces

#: draws after which the suite takes a limit for one that nothing meets
FEW = 60


class SearcherSuite:
    """Base class; a subclass names the `searcher` and, where the defaults do not fit, the rest."""

    #: the registered name
    searcher: ClassVar[str] = ""
    settings: ClassVar[Mapping[str, Any]] = {}
    #: a space by name, small enough that scoring costs nothing
    space: ClassVar[str] = "nasbench201"
    space_settings: ClassVar[Mapping[str, Any]] = {"channels": 2, "cells": 1}
    proxies: ClassVar[tuple[str, ...]] = ("params",)
    objectives: ClassVar[tuple[str, ...]] = ()
    evaluations: ClassVar[int] = 16
    #: a limit that some but not all architectures meet, and one that none does
    limits: ClassVar[Mapping[str, Mapping[str, float]]] = {"params": {"max": 2500}}
    impossible: ClassVar[Mapping[str, Mapping[str, float]]] = {"params": {"max": 1}}
    #: after so many events (candidates and steps) the search is interrupted, and resumed
    interruptions: ClassVar[tuple[int, ...]] = (1, 7)

    # -- runs ---------------------------------------------------------------------------------------------------------
    def asked(self, **changes: Any) -> SearchSettings:
        """What is asked for."""
        plain = {
            "space": self.space,
            "space_settings": dict(self.space_settings),
            "proxies": self.proxies,
            "objectives": self.objectives,
            "searcher": self.searcher,
            "searcher_settings": dict(self.settings),
            "evaluations": self.evaluations,
            "limits": dict(self.limits),
            "data": "synthetic",
            "inputs": (3, 8, 8),
            "outputs": 4,
            "seed": 3,
        }
        return SearchSettings.of(**{**plain, **changes})

    def whole(self, engine: Callable[[Any], Engine] = Serial, scorer: type[Scorer] = Scorer, **changes: Any) -> Whole:
        """A run from beginning to end, in memory, with an engine and a scorer of the suite's own."""
        asked = self.asked(**changes)
        made = scorer(asked.space, asked.scoring, space_settings=asked.space_settings)
        problem = Problem(
            made, Limits.from_json(asked.limits), objectives_of(asked.objectives, made), asked.evaluations
        )
        searcher = make(asked.searcher, problem, asked.searcher_settings)
        with (
            Store.create(
                ":memory:", kind="search", settings=asked.to_json(), environment={}, objectives=problem.objectives
            ) as store,
            engine(made) as working,
        ):
            Session(searcher, store, working, Announcer(), asked.window).go()
            return Whole(store.record(), searcher)

    # -- tests --------------------------------------------------------------------------------------------------------
    def test_same_seed_same_run(self) -> None:
        """A run depends on its settings and its seed: on no global random state, which it leaves alone, nor on any other."""
        found, touched = [], []
        for start in (1, 2):
            with Globals(start) as state:
                found.append(self.whole().essence)
                touched += state.touched()
        assert not touched, f"global random numbers were used: those of {', '.join(sorted(set(touched)))}"
        assert found[0] == found[1], "equal seeds gave different runs"

    def test_limits_hold_and_nobody_comes_twice(self) -> None:
        """Every candidate is within the limits, new, and made from an earlier one."""
        found = self.whole()
        limits = Limits.from_json(self.limits)
        identities = [row.identity for row in found.record.candidates]
        assert identities, "not one candidate was asked for"
        assert len(set(identities)) == len(identities), "an identity came twice"
        for row in found.record.candidates:
            assert not limits.miss(row.counts), f"candidate {row.id} is outside the limits: {dict(row.counts)}"
            assert row.parent is None or row.parent < row.id, f"candidate {row.id} has a later parent {row.parent}"

    def test_a_limit_that_nothing_meets_is_said(self) -> None:
        """The error names the nearest miss."""
        said = ""
        try:
            with patch("foresee.searchers.gate.DRAWS", FEW):  # each is walked a long way in vain
                self.whole(limits=dict(self.impossible))
        except InfeasibleError as error:
            said = str(error)
        assert "nearest miss" in said or "no architecture" in said, (
            f"nothing meets the limit, and what was said is {said!r}"
        )

    def test_the_order_of_answers_does_not_matter(self) -> None:
        """Whoever finishes first, a searcher is told in order."""
        assert self.whole(Backwards).essence == self.whole().essence, "the run depends on who finished first"

    def test_every_engine_gives_the_same_run(self) -> None:
        """However many are scored at once, and whichever comes back first."""
        first = self.whole().essence
        for workers in (2, 3):
            shuffled = self.whole(lambda work, workers=workers: Shuffled(work, workers)).essence  # type: ignore[misc]
            assert shuffled == first, f"with {workers} at work the run ended differently"

    def test_objectives(self) -> None:
        """One that follows several has a front of them; one that follows fewer says so, and who can."""
        two: dict[str, Any] = {"proxies": ("naswot",), "objectives": ("naswot", "params"), "batch_size": 8}
        kind, said = searchers[self.searcher], ""
        try:
            found = self.whole(**two).record
        except InputError as error:
            said = str(error)
        if kind.objectives is not None:
            able = [name for name in searchers if searchers[name].objectives is None]
            assert "objective" in said, f"it follows {kind.objectives}, and two were taken: {said!r}"
            assert all(name in said for name in able), f"who can follow several is not said: {said!r}"
            return
        assert not said, f"it follows any number of objectives, but two were refused: {said}"
        scored = [row for row in found.candidates if row.status == "scored"]
        assert scored, "not one candidate was scored"
        assert all(set(row.objectives) == {"naswot", "params"} for row in scored), "an objective has no value"

    def test_it_fits_its_space(self) -> None:
        """It says of every kind of space whether it can search it, and here it can."""
        kind = searchers[self.searcher]
        for name in spaces:
            why = kind.fits(spaces[name])
            assert isinstance(why, str), f"of {name} it says {why!r}, expected words"
        assert not kind.fits(spaces[self.space]), f"it does not fit {self.space}, on which it is tested"

    def test_failures_are_survived(self) -> None:
        """Candidates without a score are told as such, and the search goes on."""
        found = self.whole(scorer=Fragile)
        failed = [row for row in found.record.candidates if row.status == "failed"]
        assert failed or len(found.record.candidates) < 3, "the suite's fragile scorer failed on none"
        assert len(found.record.candidates) == len(self.whole().record.candidates), "failures ended the search early"

    def test_interrupted_and_resumed_it_ends_the_same(self) -> None:
        """Stopped at any moment and resumed, a run ends as one that was never stopped, steps and state included."""
        whole = self.whole()
        for after in self.interruptions:
            with TemporaryDirectory() as folder:
                resumed = self._interrupted(Path(folder) / "run", after)
            assert resumed == whole.essence, f"interrupted after {after} events, the run ended differently"

    def test_given_more_it_ends_as_if_asked_for_all_at_once(self) -> None:
        """A run that is extended ends as one that was asked for so from the start; one that cannot says why (`by_total`)."""
        whole = self.whole()
        if whole.searcher.by_total:
            return
        with TemporaryDirectory() as folder:
            run_search(self.asked(evaluations=max(1, self.evaluations // 2)), out=folder)
            run = run_search(self.asked(), out=folder, resume=True)
            with Store.open(Path(folder) / "run.sqlite") as store:
                extended = essence(run.record, store.get("searcher_state"))
        assert extended == whole.essence, (
            "extended, the run ended differently: say what depends on the total in `by_total`"
        )

    def test_what_it_knows_is_plain(self) -> None:
        """The state is plain values, the same however often it is asked for."""
        searcher = self.whole().searcher
        state = searcher.state()
        assert json.loads(json.dumps(state)) == json.loads(json.dumps(searcher.state())), "the state is not plain"

    def _interrupted(self, folder: Path, after: int) -> Essence:
        seen = 0

        def interrupt(event: Event) -> None:
            nonlocal seen
            seen += event.kind in ("scored", "failed", "step")
            if seen >= after:
                raise KeyboardInterrupt

        with suppress(KeyboardInterrupt):
            run_search(self.asked(), out=folder, observers=[interrupt])
        run = run_search(self.asked(), out=folder, resume=True)
        with Store.open(folder / "run.sqlite") as store:
            return essence(run.record, store.get("searcher_state"))


#: all of a run that must not depend on engine, interruption or time
Essence = tuple[list[Any], list[Any], Any]


class Whole:
    """A finished run and its searcher."""

    def __init__(self, record: Record, searcher: Searcher) -> None:
        self.record, self.searcher = record, searcher

    @property
    def essence(self) -> Essence:
        """What must be equal."""
        return essence(self.record, json.loads(json.dumps(self.searcher.state())))


def essence(record: Record, state: Any) -> Essence:
    """Candidates with their scores, steps with what they gave, and what the searcher knew at the end."""
    candidates = [
        (
            *(row.id, row.architecture, row.identity, row.parent, row.status, row.reason, row.merit),
            *(dict(row.counts), dict(row.objectives)),
            *((one.proxy, one.value, one.status, one.spread, dict(one.parts)) for one in row.scores.values()),
        )
        for row in record.candidates
    ]
    return candidates, [(row.number, row.kind, row.outcome) for row in record.steps], state


class Backwards(Engine):
    """Does the newest job first: as unlike the serial engine as can be."""

    workers = 4

    def __init__(self, work: Any) -> None:
        self._work = work
        self._queue: deque[tuple[int, Any]] = deque()

    def submit(self, job: int, payload: Any) -> None:
        """Queue a job."""
        self._queue.append((job, payload))

    def wait(self) -> Outcome:
        """Do the newest."""
        job, payload = self._queue.pop()
        return Outcome(job, self._work(payload))

    def __exit__(self, *_: object) -> None:
        self._queue.clear()


class Shuffled(Engine):
    """Does several jobs at once and gives back any of them; which one depends on how many there were before."""

    def __init__(self, work: Any, workers: int = 3) -> None:
        self._work, self.workers = work, workers
        self._queue: list[tuple[int, Any]] = []
        self._done = 0

    def submit(self, job: int, payload: Any) -> None:
        """Queue a job."""
        self._queue.append((job, payload))

    def wait(self) -> Outcome:
        """Do one of the first few."""
        self._done += 1
        job, payload = self._queue.pop(7 * self._done % min(self.workers, len(self._queue)))
        return Outcome(job, self._work(payload))

    def __exit__(self, *_: object) -> None:
        self._queue.clear()


class Globals:
    """The global random numbers of Python, numpy and torch, begun anew for a while and put back."""

    def __init__(self, start: int) -> None:
        self._start = start

    def __enter__(self) -> Globals:
        self._before = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
        random.seed(self._start)
        np.random.seed(self._start)  # noqa: NPY002
        torch.manual_seed(self._start)
        self._begun = self._now()
        return self

    def __exit__(self, *_: object) -> None:
        random.setstate(self._before[0])
        np.random.set_state(self._before[1])  # noqa: NPY002
        torch.set_rng_state(self._before[2])

    def touched(self) -> list[str]:
        """Whose were drawn from."""
        now = self._now()
        return [name for name, state in self._begun.items() if now[name] != state]

    def _now(self) -> dict[str, Any]:
        _, keys, place, *_ = np.random.get_state()  # noqa: NPY002
        return {
            "random": random.getstate(),
            "numpy": (np.asarray(keys).tolist(), place),
            "torch": torch.get_rng_state().tolist(),
        }


class Fragile(Scorer):
    """Every third architecture it meets cannot be scored; which one depends on its text alone."""

    def __call__(self, job: Job) -> list[Scored]:
        """The scores, or a failure."""
        found = super().__call__(job)
        unlucky = [crc32(text.encode()) % 3 == 0 for text in job.texts]
        return [Scored(error="unlucky") if bad else one for one, bad in zip(found, unlucky, strict=True)]
