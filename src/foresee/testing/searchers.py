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

import torch

from foresee.budgets import Limits
from foresee.errors import InfeasibleError
from foresee.runs.engines import Engine, Outcome, Serial
from foresee.runs.events import Announcer, Event
from foresee.runs.record import Record
from foresee.runs.store import Store
from foresee.scoring.scorer import Job, Scored, Scorer
from foresee.searchers.base import Searcher, make
from foresee.searchers.problem import Problem, objectives_of
from foresee.searchers.search import run_search
from foresee.searchers.session import Session
from foresee.searchers.settings import SearchSettings


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
        """A run depends on its settings and its seed, and on no global random state, which it leaves alone."""
        before = random.getstate(), torch.get_rng_state()
        first = self.whole()
        random.seed(1)
        torch.manual_seed(1)
        try:
            second = self.whole()
        finally:
            changed = random.getstate() != random.Random(1).getstate(), torch.initial_seed() != 1
            random.setstate(before[0])
            torch.set_rng_state(before[1])
        assert first.essence == second.essence, "equal seeds gave different runs"
        assert not any(changed), "the global random state was used"

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
            self.whole(limits=dict(self.impossible))
        except InfeasibleError as error:
            said = str(error)
        assert "nearest miss" in said or "no architecture" in said, (
            f"nothing meets the limit, and what was said is {said!r}"
        )

    def test_the_order_of_answers_does_not_matter(self) -> None:
        """Whoever finishes first, a searcher is told in order."""
        assert self.whole(Backwards).essence == self.whole().essence, "the run depends on who finished first"

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


class Fragile(Scorer):
    """Every third architecture it meets cannot be scored; which one depends on its text alone."""

    def __call__(self, job: Job) -> list[Scored]:
        """The scores, or a failure."""
        found = super().__call__(job)
        unlucky = [sum(text.encode()) % 3 == 0 for text in job.texts]
        return [Scored(error="unlucky") if bad else one for one, bad in zip(found, unlucky, strict=True)]
