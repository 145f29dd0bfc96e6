"""A search: ask, score, store, tell, until enough is scored. Kill it at any moment; resuming gives the same end.

The sequence of calls a searcher sees is fixed by the window alone (see `searchers.base`). A resumed search replays that
sequence from the store: stored results are told without scoring, the rest is scored. If a replayed proposal differs from the
stored one, the code has changed in between; the run is refused rather than continued into a mixture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from foresee.batch import as_batches
from foresee.budgets import Clock, LatencyTable, Limit, Limits
from foresee.data import Data, GivenBatches
from foresee.devices import usable
from foresee.errors import InputError, RunError, SettingsMismatchError
from foresee.proxies.base import Proxy
from foresee.runs import engines
from foresee.runs.engines.base import Outcome
from foresee.runs.environment import environment
from foresee.runs.events import Announcer, Event, Observer
from foresee.runs.folder import RunFolder, read
from foresee.runs.record import CandidateRow, Record, ScoreRow
from foresee.runs.store import Store
from foresee.scoring.evaluation import Evaluation, Scored
from foresee.scoring.settings import SearchSettings
from foresee.searchers.base import Proposal, Result, Searcher, make
from foresee.spaces.base import Space
from foresee.spaces.candidate import Candidate


@dataclass(frozen=True)
class Run:
    """A finished or interrupted search.

    `best` builds the network it names: `run.best.build()`. `record` holds every candidate with its scores.
    """

    record: Record
    folder: Path | None = None
    space: Space[Any] | None = None

    @property
    def status(self) -> str:
        """Status of the run: finished, interrupted or running."""
        return self.record.status

    @cached_property
    def best(self) -> Candidate:
        """The candidate with the greatest merit."""
        row = self.record.best
        if row is None:
            raise RunError("no candidate of this run has a score; the report lists the reasons")
        return self.candidate(row)

    def candidate(self, row: CandidateRow) -> Candidate:
        """A stored candidate, able to build its network."""
        evaluation = Evaluation(SearchSettings.from_json(self.record.settings), self.space)
        settings = dict(evaluation.settings.space_settings)
        if ":" in evaluation.settings.space:
            settings.setdefault("task", self.record.environment["task"])  # an own space may build for a task
        plain = {
            "space": evaluation.settings.space,
            "settings": settings,
            "architecture": row.architecture,
            "task": self.record.environment["task"],
            "id": row.id,
            "identity": row.identity,
            "scores": {name: score.value for name, score in row.scores.items()},
            **row.counts,
            "seed": evaluation.settings.seed,
            "weights_seed": evaluation.weights_seed,
        }
        return Candidate.from_json(plain, space=self.space)

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """A run from its folder, also while it is still going on."""
        return cls(read(folder), Path(folder))


def search(
    space: str | Space[Any],
    proxies: str | Sequence[str] = ("foresee",),
    searcher: str = "evolution",
    budgets: Iterable[Limit] = (),
    *,
    evaluations: int = 100,
    seed: int = 0,
    data: str | Data | Any = "digits",
    out: str | Path | None = None,
    resume: bool = False,
    engine: str = "serial",
    workers: int | None = None,
    observers: Iterable[Observer] = (),
    **settings: Any,
) -> Run:
    """Search a space for the architecture that scores best within the budgets.

    Args:
        space: a registered name, a space, or `module:function`.
        proxies: one or several proxies; the first steers, the others are recorded.
        searcher: `evolution`, `random`, ...
        budgets: hard limits such as `fs.budgets.params < 1e6`; nothing outside them is ever scored.
        evaluations: candidates to score.
        seed: decides everything that is random.
        data: what proxies look at: a name, a path, a `Data`, a tensor, `(inputs, labels)`, or a list of these.
        out: run folder; without it the run lives in memory only.
        resume: go on with the run in `out` (or start, where there is none yet).
        engine: `serial` or `processes`.
        workers: processes to use; by default one per core.
        observers: called with every `Event`.
        **settings: any other field of `SearchSettings`.

    Returns:
        The run. `run.best.build()` is the network.

    >>> import foresee as fs
    >>> run = fs.search("nasbench201", proxies=["params"], searcher="random", budgets=[fs.budgets.params < 1e6],
    ...                 evaluations=5, data="synthetic")
    >>> run.status, len(run.record.candidates)
    ('finished', 5)
    """
    names = [proxies] if isinstance(proxies, str) else list(proxies)
    if any(isinstance(name, Proxy) for name in names):
        raise InputError("proxies: name them ('dextr', 'dextr:reference'); settings go into proxy_settings")
    made = space if isinstance(space, Space) else None
    given, reference = (None, data) if isinstance(data, str) else _given(data)
    asked = SearchSettings(
        space=str(space) if made is None else _reference(made, out),
        space_settings=made.settings() if made is not None else settings.pop("space_settings", {}),
        proxies=tuple(names),
        searcher=searcher,
        limits=Limits(budgets).to_json(),
        evaluations=evaluations,
        seed=seed,
        data=reference,
        **settings,
    )
    return run_search(
        asked, out=out, resume=resume, engine=engine, workers=workers, observers=observers, space=made, data=given
    )


def run_search(
    settings: SearchSettings,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    engine: str = "serial",
    workers: int | None = None,
    observers: Iterable[Observer] = (),
    space: Space[Any] | None = None,
    data: Data | None = None,
) -> Run:
    """Run a search from its settings; see `search`. An interruption marks the run and passes on."""
    evaluation = Evaluation(settings, space, data)
    evaluation.proxies  # noqa: B018 - names, settings and data are checked before anything is made
    usable(settings.device)
    searcher = make(
        settings.searcher,
        evaluation.space,
        evaluation.task,
        Limits.from_json(settings.limits),
        settings.seed,
        dict(settings.searcher_settings),
    )
    evaluation.groups  # noqa: B018
    searcher.memory_batch = settings.memory_batch
    table = LatencyTable.load(settings.latency_table) if settings.latency_table else None
    searcher.clock = Clock(settings.device, settings.threads, table)
    facts = environment(
        device=settings.device, data_fingerprint=evaluation.data.fingerprint, task=evaluation.task.to_json()
    )
    with ExitStack() as stack:
        # Starts no process yet; made before the folder, so that a wrong name leaves nothing behind.
        engine_made = stack.enter_context(engines.make(engine, evaluation, workers))
        folder = None if out is None else RunFolder(out)
        store = _open_store(folder, settings, facts, resume, stack)
        announce = Announcer(observers)
        # A measured latency cannot be measured again to the last digit: a run keeps what it saw, so that it replays.
        searcher.clock.known.update(store.get("latency", {}))
        searcher.clock.note = lambda identity, seconds: store.set("latency", searcher.clock.known)
        session = _Session(settings, searcher, store, engine_made, announce)
        store.set("status", "running")
        try:
            session.go()
        except BaseException as error:
            status = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            store.set("status", status)
            store.log(status, reason=str(error))
            _write_best(folder, Run(store.record(), folder.path if folder else None, space))
            announce(session.event("interrupted"))
            raise
        store.set("status", "finished")
        store.set("searcher_state", searcher.state())
        store.log("finished", acceptance=searcher.acceptance)
        run = Run(store.record(), folder.path if folder else None, space)
        _write_best(folder, run)
        announce(session.event("finished", acceptance=searcher.acceptance))
        return run


class _Session:
    """The loop of one search, with its place in the sequence."""

    def __init__(
        self, settings: SearchSettings, searcher: Searcher, store: Store, engine: engines.Engine, announce: Announcer
    ) -> None:
        self.settings, self.searcher, self.store, self.engine, self.announce = (
            settings,
            searcher,
            store,
            engine,
            announce,
        )
        self.stored = {row.id: row for row in store.candidates()}
        for row in self.stored.values():
            searcher.recall(row.architecture, {name: float(value) for name, value in row.counts.items()})
        self.recorded = list(dict.fromkeys(["params", "macs", *searcher.limits.quantities]))
        self.waiting: dict[int, Proposal] = {}
        self.results: dict[int, Result] = {}
        self.asked = self.told = self.done = 0
        self.best: float | None = None

    def event(self, kind: str, candidate: int | None = None, **details: Any) -> Event:
        return Event(kind, self.done, self.settings.evaluations, candidate, details)

    def go(self) -> None:
        kept = sum(row.status != "asked" for row in self.stored.values())
        self.announce(self.event("resumed" if self.stored else "started", kept=kept))
        exhausted = False
        while True:
            while not exhausted and self.asked < min(self.settings.evaluations, self.told + self.settings.window):
                exhausted = not self._ask()
            if self.told == self.asked:
                return
            while self.told not in self.results:
                self._take(self.engine.wait())
            self.searcher.tell([self.results.pop(self.told)])
            self.told += 1

    def _ask(self) -> bool:
        proposals = self.searcher.ask(1)
        if not proposals:
            self.store.log("exhausted", asked=self.asked)
            self.announce(self.event("exhausted"))
            return False
        [proposal] = proposals
        text = str(proposal.architecture)
        self.asked += 1
        row = self.stored.get(proposal.id)
        if row is not None and row.architecture != text:
            raise RunError(
                f"this run cannot be resumed by this version: candidate {row.id} is {row.architecture} in the run, but "
                f"{text} is proposed now; the space or searcher has changed"
            )
        if row is not None and row.status != "asked":
            self._note(proposal, row.merit, replayed=True)
            return True
        if row is None:
            counts = {name: _count(proposal.costs[name]) for name in self.recorded}
            self.store.add_candidate(
                proposal.id, architecture=text, identity=proposal.identity, parent=proposal.parent, counts=counts
            )
        self.waiting[proposal.id] = proposal
        self.announce(self.event("asked", proposal.id, architecture=text))
        self.engine.submit(proposal.id, text)
        return True

    def _take(self, outcome: Outcome) -> None:
        proposal = self.waiting.pop(outcome.job)
        merit = None
        if outcome.error is not None:
            self.store.finish_candidate(proposal.id, status="failed", reason=outcome.error, attempts=outcome.attempts)
        else:
            scored: Scored = outcome.value
            steering = scored.steering
            merit = steering.merit if steering.ok else None
            self.store.finish_candidate(
                proposal.id,
                status="scored" if steering.ok else "failed",
                reason="" if steering.ok else f"{steering.proxy}: {steering.status} ({steering.reason})",
                merit=merit,
                attempts=outcome.attempts,
                seconds=scored.seconds,
                scores=[
                    ScoreRow(s.proxy, s.value, s.status, s.reason, s.direction, s.seconds, s.peak_bytes, s.seed)
                    for s in scored.scores
                ],
            )
        self._note(proposal, merit, replayed=False, reason=outcome.error or "")

    def _note(self, proposal: Proposal, merit: float | None, *, replayed: bool, reason: str = "") -> None:
        self.results[proposal.id] = Result(proposal.id, proposal.architecture, merit)
        self.done += 1
        if merit is not None and (self.best is None or merit > self.best):
            self.best = merit
            self.announce(self.event("best", proposal.id, merit=merit, architecture=str(proposal.architecture)))
        kind = "scored" if merit is not None else "failed"
        self.announce(self.event(kind, proposal.id, merit=merit, replayed=replayed, reason=reason))


def _open_store(
    folder: RunFolder | None, settings: SearchSettings, facts: Mapping[str, Any], resume: bool, stack: ExitStack
) -> Store:
    """The store to write to: in memory, a new file, or the run to go on with once its settings are found equal."""
    plain = settings.to_json()
    if folder is None:
        return stack.enter_context(Store.create(":memory:", kind="search", settings=plain, environment=facts))
    if folder.exists and not resume:
        raise RunError(f"{folder.path} holds a run already: add --resume to go on with it, or choose another --out")
    if folder.exists:
        with Store.open(folder.store_path) as existing:
            _check_same(folder, settings, facts, existing)
    folder.hold()
    stack.callback(folder.release)
    if folder.exists:
        store = stack.enter_context(Store.open(folder.store_path, write=True))
        store.log("resumed")
        return store
    store = stack.enter_context(Store.create(folder.store_path, kind="search", settings=plain, environment=facts))
    folder.write_settings(plain)
    return store


def _check_same(folder: RunFolder, settings: SearchSettings, facts: Mapping[str, Any], store: Store) -> None:
    if store.get("kind") != "search":
        raise RunError(f"{folder.path} holds a run of another kind ({store.get('kind')})")
    differences = settings.differences(store.get("settings"))
    before = store.get("environment", {})
    for key in ("data_fingerprint", "task"):
        if before.get(key) != facts.get(key):
            differences.append(f"{key}: {facts.get(key)} here, {before.get(key)} in the run")
    if differences:
        raise SettingsMismatchError(f"{folder.path} was run with other settings: {'; '.join(differences)}")


def _count(value: float) -> float:
    """Whole numbers stay whole in the store; latency is a fraction."""
    return int(value) if value == int(value) else value


def _write_best(folder: RunFolder | None, run: Run) -> None:
    if folder is not None and run.record.best is not None:
        folder.write_best(run.best.to_json())


def _reference(space: Space[Any], out: str | Path | None) -> str:
    """How the settings name a space handed over; one that cannot be found again may live in memory, not in a folder."""
    try:
        return space.reference
    except InputError:
        if out is not None:
            raise
        return f"given:{space!r}"


def _given(data: Any) -> tuple[Data, str]:
    """Data handed over in Python: described in the settings by its fingerprint."""
    made = data if isinstance(data, Data) else GivenBatches(as_batches(data))
    return made, f"given:{made.fingerprint}"
