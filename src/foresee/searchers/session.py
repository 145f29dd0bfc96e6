"""The loop of one search: ask, score, store, tell, until enough is scored.

The sequence of calls a searcher sees is fixed by the window alone (see `searchers.base`). A resumed search replays that
sequence from the store: stored steps are advanced and stored results told without being made again, the rest is made. If a
replayed proposal differs from the stored one, the code has changed in between; the run is refused rather than continued into
a mixture. A result is told as it can be read from the store, so a searcher cannot see whether it was scored now or before.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from foresee.errors import BuildError, RunError, SearchError, said, storable
from foresee.proxies.base import Score
from foresee.runs.engines import Engine
from foresee.runs.events import Announcer, Event
from foresee.runs.record import CandidateRow, ScoreRow
from foresee.runs.store import Store
from foresee.runs.values import known_as, pack, unpack
from foresee.scoring.desk import Answer, Desk
from foresee.searchers.base import Result, Searcher
from foresee.searchers.failures import hopeless, in_words
from foresee.searchers.gate import Proposal
from foresee.searchers.replay import Replay


class Session:
    """One searcher, its store and its engine, with the place in the sequence."""

    def __init__(self, searcher: Searcher, store: Store, engine: Engine, announce: Announcer, window: int) -> None:
        self.searcher, self.problem, self.store, self.announce = searcher, searcher.problem, store, announce
        self.window = min(window, searcher.window or window)
        self.desk = Desk(engine, self.problem.scorer.together)
        self.problem.gather = self.desk.gather
        self.names = list(self.problem.scorer.proxies)
        self.stored = Replay(store, self.problem)
        self.stored.check()
        self.begun = False
        #: what a resumed run is given more of, as name: [before, now], and the settings it has from now on
        self.extended: Mapping[str, list[int]] = {}
        self.settings: Mapping[str, Any] = {}
        self.outcomes = {row.number: row.outcome for row in store.steps()}
        self.waiting: dict[int, Proposal] = {}
        self.unsent: list[Proposal] = []
        self.results: dict[int, Result] = {}
        self.asked = self.told = self.done = self.steps = self.failures = 0
        self._met = len(self.outcomes)
        self.best: float | None = None

    @property
    def resumed(self) -> bool:
        """Whether something was stored by an earlier session."""
        return self.stored.last >= 0 or self._met > 0

    def event(self, kind: str, candidate: int | None = None, **details: Any) -> Event:
        """An event at this point of the run."""
        return Event(kind, self.done, self.problem.evaluations, candidate, details)

    def _begin(self) -> None:
        """Whatever was stored fits so far: from here on the run is written to."""
        if not self.begun:
            self.begun = True
            if self.resumed:
                self.store.log("resumed", None, **self.extended)
            self.store.set("status", "running")
            if self.extended:
                self.store.set("settings", self.settings)

    def go(self) -> None:
        """From the first candidate to the last."""
        begun = "resumed" if self.resumed else "started"
        self.announce(self.event(begun, kept=self.stored.kept, steps=self._met))
        exhausted = False
        while True:
            while not exhausted and (room := self._room()):
                exhausted = not self._ask(room)
            if self.told == self.asked:
                if not exhausted and self.asked < self.problem.evaluations:
                    raise RunError(
                        f"searcher {self.searcher.name} waits for more results before candidate {self.asked} than there are"
                    )
                self._begin()
                return
            while self.told not in self.results:
                if self.unsent:
                    self._send()
                else:
                    self._take(self.desk.wait())
            self._tell(self.results.pop(self.told))

    def _tell(self, result: Result) -> None:
        self.searcher.tell([result])
        self.told += 1
        self.failures += result.merit is None
        if hopeless(
            self.failures, self.told
        ):  # by what was told, in its order: a resumed run gives up at the same place
            rows = self.store.candidates(0, self.told)
            failed = [(row.architecture, row.reason) for row in rows if row.merit is None]
            scored = [row.architecture for row in rows if row.merit is not None]
            raise SearchError(
                f"the search was given up: {in_words(failed, scored)}; mend these, or keep them from being drawn "
                "(pick.reject in an own space), and start a new run"
            )

    def _room(self) -> int:
        """How many may be asked for now: within the window, and none that waits for results still to come."""
        ahead = range(self.asked, min(self.problem.evaluations, self.told + self.window))
        return sum(1 for _ in takewhile(lambda one: self.searcher.told_before(one) <= self.told, ahead))

    # -- steps --------------------------------------------------------------------------------------------------------
    def _step_up_to(self, due: int) -> None:
        while self.steps < due:
            number, replayed = self.steps, self.steps in self.outcomes
            name, place, last = self.searcher.step_place(number)
            if not replayed:
                self._begin()
                start = time.perf_counter()
                # as it will be read from the store, so that this session sees what a later one would
                outcome = unpack(pack(self.searcher.step(number), f"outcome of step {number}"))
                seconds = time.perf_counter() - start
                self.store.add_step(number, kind=name, outcome=outcome, seconds=seconds)
                self.outcomes[number] = outcome
            self.searcher.advance(number, self.outcomes.pop(number))
            self.steps += 1
            self.announce(self.event("step", step=place, steps=last, name=name, replayed=replayed))

    # -- candidates ---------------------------------------------------------------------------------------------------
    def _ask(self, room: int) -> bool:
        self._step_up_to(self.searcher.steps_before(self.asked))
        count = sum(self.searcher.steps_before(self.asked + ahead) <= self.steps for ahead in range(room))
        self.stored.get(self.asked)  # what it cost is known
        proposals = self.searcher.ask(count)
        for proposal in proposals:
            self._hand_in(proposal)
        if self.asked > self.stored.last:  # all that is stored was met again as it is
            self._send()
        if len(proposals) < count:
            self._begin()
            self.store.log("exhausted", asked=self.asked)
            self.announce(self.event("exhausted"))
            return False
        return True

    def _hand_in(self, proposal: Proposal) -> None:
        self._check(proposal, str(proposal.architecture))
        self.asked += 1
        self.waiting[proposal.id] = proposal
        row = self.stored.get(proposal.id)
        if row is not None and row.status != "asked":
            self._note(row, replayed=True)
        else:
            self.unsent.append(proposal)

    def _send(self) -> None:
        """Store those that are new and have all of them scored."""
        unsent, self.unsent = self.unsent, []
        for proposal in unsent:
            self._score(proposal)

    def _score(self, proposal: Proposal) -> None:
        self._begin()
        text = str(proposal.architecture)
        counts, reason = self._counts(proposal)
        if self.stored.get(proposal.id) is None:
            self.store.add_candidate(
                proposal.id, architecture=text, identity=proposal.identity, parent=proposal.parent, counts=counts
            )
        self.announce(self.event("asked", proposal.id, architecture=text))
        if reason:  # what cannot be counted is not looked at
            self.store.finish_candidate(proposal.id, status="failed", reason=reason)
            self._note(self.store.candidate(proposal.id), replayed=False)
            return
        self.desk.submit(proposal.id, text, self.names, self.problem.seed)

    def _counts(self, proposal: Proposal) -> tuple[dict[str, float], str]:
        """What is kept of the costs, and why the first that cannot be found cannot; a stranger's space may raise anything."""
        counts: dict[str, float] = {}
        for name in self.problem.recorded:
            try:
                counts[name] = _count(proposal.costs[name])
            except RunError:  # a latency was measured and could not be stored
                raise
            except BuildError as error:  # it is not the count that is wrong
                return counts, storable(str(error))
            except (Exception, SystemExit) as error:
                return counts, f"{name} cannot be found ({said(error)})"
        return counts, ""

    def _check(self, proposal: Proposal, text: str) -> None:
        """A searcher's mistake is said where it is made."""
        if proposal.id != self.asked:
            raise RunError(f"searcher {self.searcher.name} proposed candidate {proposal.id}, expected {self.asked}")
        if proposal.parent is not None and not 0 <= proposal.parent < proposal.id:
            raise RunError(
                f"searcher {self.searcher.name} gave candidate {proposal.id} the parent {proposal.parent}, "
                "which is not an earlier one"
            )
        row = self.stored.get(proposal.id)
        if row is None:
            return
        facts = {
            "": (row.architecture, text),
            "the identity of ": (known_as(row.identity), proposal.identity),
            "the parent of ": (row.parent, proposal.parent),
        }
        for what, (stored, now) in facts.items():
            if stored != now:
                raise RunError(
                    f"this run cannot be resumed by this version: {what}candidate {row.id} is {stored!s:.300} in the run, "
                    f"but {now!s:.300} is proposed now; the space or searcher has changed"
                )

    def _take(self, answer: Answer) -> None:
        proposal, scored = self.waiting[answer.ticket], answer.scored
        if scored.error is not None:
            self.store.finish_candidate(
                proposal.id, status="failed", reason=scored.error, attempts=answer.attempts, seconds=scored.seconds
            )
        else:
            scores = {score.proxy: score for score in scored.scores}
            costs = {name: proposal.costs[name] for name in self.problem.recorded}
            values = self.problem.values(str(proposal.architecture), scores, costs)
            missing = storable(self.problem.missing(values, scores))
            first = self.problem.objectives[0]
            self.store.finish_candidate(
                proposal.id,
                status="failed" if missing else "scored",
                reason=missing,
                merit=None if missing else first.merit(values[first.name]),
                attempts=answer.attempts,
                seconds=scored.seconds,
                objectives={} if missing else values,
                scores=[_row(score) for score in scored.scores],
            )
        self._note(self.store.candidate(proposal.id), replayed=False)

    def _note(self, row: CandidateRow, *, replayed: bool) -> None:
        proposal = self.waiting.pop(row.id)
        self.results[row.id] = result = self._result(proposal, row)
        self.done += 1
        merit = result.merit
        if merit is not None and (self.best is None or merit > self.best):
            self.best = merit
            self.announce(self.event("best", row.id, merit=merit, architecture=row.architecture))
        kind, phase = "scored" if merit is not None else "failed", self.searcher.phase(row.id)
        self.announce(self.event(kind, row.id, merit=merit, replayed=replayed, reason=row.reason, phase=phase))

    def _result(self, proposal: Proposal, row: CandidateRow) -> Result:
        objectives = self.problem.objectives if row.status == "scored" else ()
        return Result(
            row.id,
            proposal.architecture,
            tuple(one.merit(row.objectives[one.name]) for one in objectives),
            dict(row.objectives),
            {name: _score(score) for name, score in row.scores.items()},
            dict(row.counts),
            row.reason,
            row.seconds,
        )


def _row(score: Score) -> ScoreRow:
    fields = {name: getattr(score, name) for name in ScoreRow.__dataclass_fields__}
    return ScoreRow(**{**fields, "reason": storable(score.reason)})


def _score(row: ScoreRow) -> Score:
    return Score(**{name: getattr(row, name) for name in ScoreRow.__dataclass_fields__})


def _count(value: float) -> float:
    """Whole numbers stay whole in the store; latency is a fraction."""
    return int(value) if value == int(value) else value
