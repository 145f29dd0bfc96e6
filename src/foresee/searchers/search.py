"""A search from what was asked to what was found. Kill it at any moment; resuming gives the same end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from foresee.budgets import Clock, LatencyTable, Limit, Limits
from foresee.data import Data, GivenBatches
from foresee.errors import InputError, RunError, SettingsMismatchError, shown
from foresee.handed import as_batches
from foresee.proxies.base import Proxy
from foresee.runs import engines
from foresee.runs.environment import environment
from foresee.runs.events import Announcer, Observer
from foresee.runs.folder import RunFolder, write_whole
from foresee.runs.progress import watched
from foresee.runs.record import CHOSEN, FOREMOST
from foresee.runs.store import Store
from foresee.scoring.cache import Cache
from foresee.scoring.scorer import Scorer, scorer_of
from foresee.searchers.base import Searcher, make, usual_evaluations
from foresee.searchers.finalists import hold_finals
from foresee.searchers.problem import Known, Measured, Problem, objectives_of
from foresee.searchers.run import Run, write_front
from foresee.searchers.session import Session
from foresee.searchers.settings import EXTENDABLE, SearchSettings
from foresee.searchers.winner import keep_drawings, look_at_winner
from foresee.spaces.base import Space
from foresee.spaces.find import Said, get
from foresee.spaces.own.source import digest
from foresee.training import encoding
from foresee.training.recipe import Recipe
from foresee.training.recipe import recipe as get_recipe

#: where a run keeps what was trained before looking, and the event that says so
WARMUP = "warmup"
#: the event that says which limits hold that nobody asked for
LIMITED = "limited"
#: where a run keeps the source of a function that no name leads back to
SOURCE = "source.txt"


def search(
    space: Said,
    proxies: str | Sequence[str] = ("foresee",),
    searcher: str = "evolution",
    budgets: Iterable[Limit] = (),
    *,
    evaluations: int | None = None,
    finalists: int | None = None,
    seed: int = 0,
    data: str | Data | Any = "digits",
    out: str | Path | None = None,
    resume: bool = False,
    engine: str = "serial",
    workers: int | None = None,
    observers: Iterable[Observer] = (),
    measured: Mapping[str, float] | Measured | None = None,
    cache: str | Path | None = None,
    progress: bool = False,
    train_best: int = 0,
    recipe: str | Path | Recipe | None = None,
    train_folds: int | None = None,
    train_seeds: int | None = None,
    **settings: Any,
) -> Run:
    """Search a space for the architecture that scores best within the budgets.

    Args:
        space: a registered name, a space, a function `make_net(pick)`, or `module:function`.
        proxies: one or several proxies; the first steers, the others are recorded.
        searcher: `evolution`, `random`, ...
        budgets: hard limits such as `fs.budgets.params < 1e6`; nothing outside them is ever scored. Where there are none, a
            space may have its own for few samples (`Space.usual_limits`); the run says so.
        evaluations: candidates to score: as many as the searcher usually proposes (mostly 100), or as the run that is resumed
            has; more of them extend it.
        finalists: how many of the best are scored again at the end under fresh seeds: 5, or as in the run that is resumed.
        seed: decides everything that is random.
        data: what proxies look at: a name, a path, a `Data`, a tensor, `(inputs, labels)`, or a list of these.
        out: run folder, with `report.html` in it at the end; without it the run lives in memory only.
        resume: go on with the run in `out` (or start, where there is none yet). Its settings must be those it had, but for
            `evaluations` (more of them), `finalists` and `finalist_seeds`.
        engine: `serial` or `processes`.
        workers: processes to use; by default one per core.
        observers: called with every `Event`.
        measured: what was measured of architectures, by text, more is better: a mapping, or a function of a list of texts
            (None where nothing was). For searchers that ask for it, and for the objective `measured`.
        cache: file of scores already computed, where those that a searcher asks for beside its candidates are kept too.
        progress: show how far it is, in one line; also in a notebook.
        train_best: train so many of the foremost on the data, in `trained/` of the folder; `run.trained` names the best.
        recipe: by which they are trained; None: `fast`, or by the size of a click log `ctr`, `ctr_middle`, `ctr_small`.
        train_folds: pieces of the rows that are not test rows, by which the winner is chosen; see `train_best`.
        train_seeds: trainings on each of them.
        **settings: any other field of `SearchSettings` or `ScoringSettings`.

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
    made = None if isinstance(space, str) else get(space)
    said = {"evaluations": evaluations, "finalists": finalists}
    settings = {
        "evaluations": usual_evaluations(searcher),
        **as_in_run(out, resume),
        **settings,
        **{key: value for key, value in said.items() if value is not None},
    }
    given, reference = (None, data) if isinstance(data, str) else _given(data)
    asked = SearchSettings.of(
        space=str(space) if made is None else _reference(made, out),
        space_settings=made.settings() if made is not None else settings.pop("space_settings", {}),
        proxies=tuple(names),
        searcher=searcher,
        limits=Limits(budgets).to_json(),
        seed=seed,
        data=reference,
        **settings,
    )
    watching = watched(observers, progress)
    if train_best and recipe is not None:
        get_recipe(recipe)  # a wrong name is said before the search, not after it
    run = run_search(
        asked,
        out=out,
        resume=resume,
        engine=engine,
        workers=workers,
        observers=watching,
        space=made,
        data=given,
        measured=measured,
        cache=cache,
    )
    if not train_best:
        return run
    from foresee.searchers.foremost import train_best as train_foremost

    again: dict[str, Any] = {"folds": train_folds, "seeds": train_seeds, "workers": workers or 1}
    trained = train_foremost(run, train_best, recipe, data=data, observers=watching, **again)
    return replace(run, trained=trained)


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
    measured: Mapping[str, float] | Measured | None = None,
    cache: str | Path | None = None,
) -> Run:
    """Run a search from its settings; see `search`. An interruption marks the run and passes on."""
    scorer = scorer_of(
        space or settings.space,
        settings.scoring,
        space_settings=settings.space_settings,
        data=data,
        formulas=True,  # a count needs no network, and is the same
    )
    settings, unasked = _usually_limited(settings, scorer, out, resume)
    problem = _problem(settings, scorer, measured)
    searcher = make(settings.searcher, problem, settings.searcher_settings)
    problem.scorer.check()
    facts = environment(device=problem.device, data_fingerprint=problem.data.fingerprint, task=problem.task.to_json())
    if problem.measure is not None:
        facts["measured"] = getattr(problem.measure, "fingerprint", "a function")
    code = "" if out is None else scorer.space.code
    if code:
        facts["source"] = digest(code)
    with ExitStack() as stack:
        if cache is not None:
            problem.cache = stack.enter_context(Cache(cache))
        # Starts no process yet; made before the folder, so that a wrong name leaves nothing behind.
        engine_made = stack.enter_context(engines.make(engine, problem.scorer, workers))
        folder = None if out is None else RunFolder(out)
        store = _open_store(folder, settings, searcher, facts, resume, stack, code)
        problem.folder = folder.path if folder else None
        if folder is not None:
            encoding.keep(encoding.encoding_of(problem.data), folder.path)
        if unasked and not store.events(LIMITED):
            store.log(LIMITED, limits=unasked, samples=problem.data.epoch_samples)
        announce = Announcer(observers)
        # A measured latency cannot be measured again to the last digit: a run keeps what it saw, so that it replays.
        problem.clock.known.update(store.kept("latency"))
        problem.clock.note = lambda identity, seconds: store.keep("latency", identity, seconds)
        session = Session(searcher, store, engine_made, announce, settings.window)
        session.extended = settings.extends(SearchSettings.of_run(store.get("settings")))
        session.settings = settings.to_json()
        try:
            if settings.scoring.warms:
                _warm_up(scorer, store, folder, resume, announce)
            if settings.measure is not None:
                where = None if folder is None else folder.path / "measure"
                cast("Any", problem.measure).prepare(where, resume=resume, observers=[announce])
            session.go()
            if (chosen := searcher.chosen()) is not None:
                named = list(searcher.foremost())
                store.log(CHOSEN, chosen, **({FOREMOST: named} if named else {}))
            hold_finals(session, settings)
            look_at_winner(session)
        except BaseException as error:
            if isinstance(error, RunError) and not session.begun:  # what is stored does not fit: it is left as it is
                raise
            status = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            with suppress(RunError):  # what ended the run is worth more than why that cannot be noted
                store.set("status", status)
                store.log(status, reason=str(error))
                run = Run(store.record(), folder.path if folder else None, scorer.space)
                _write_best(folder, run)
                keep_drawings(store, run, problem)
                announce(session.event("interrupted"))
            raise
        store.set("status", "finished")
        store.set("searcher_state", searcher.state())
        gate = searcher.gate
        store.log(
            "finished",
            acceptance=gate.acceptance,
            passed_over=gate.failures,
            reason=gate.reason,
            rejected=gate.rejected,
        )
        run = Run(store.record(), folder.path if folder else None, scorer.space)
        _write_best(folder, run)
        if keep_drawings(store, run, problem):
            run = replace(run, record=store.record())
        announce(session.event("finished", acceptance=gate.acceptance))
        return run


def _warm_up(scorer: Scorer, store: Store, folder: RunFolder | None, resume: bool, announce: Announcer) -> None:
    """Train what is to be trained before looking, or go on with it, and let the run remember what that was."""
    where = None if folder is None else folder.path / WARMUP
    done = scorer.prepare(where, resume=resume, observers=[announce])
    if not store.events(WARMUP):
        store.log(WARMUP, **done)


def as_in_run(out: str | Path | None, resume: bool) -> dict[str, Any]:
    """What may change on resume, as it is in the run to go on with: what is not said stays. Empty where there is no run."""
    before = _before(out, resume)
    return {} if before is None else {name: getattr(before, name) for name in EXTENDABLE}


def _before(out: str | Path | None, resume: bool) -> SearchSettings | None:
    """The settings of the search to go on with."""
    folder = RunFolder(out) if resume and out is not None else None
    if folder is None or not folder.exists:
        return None
    with Store.open(folder.store_path) as store:
        return SearchSettings.of_run(store.get("settings")) if store.get("kind") == "search" else None


def _usually_limited(
    settings: SearchSettings, scorer: Scorer, out: str | Path | None, resume: bool
) -> tuple[SearchSettings, dict[str, dict[str, float]]]:
    """The settings with the limits that the space has for so few samples, and those limits, where nobody asked for any.

    A run from before there were such limits goes on without.
    """
    before = _before(out, resume)
    if settings.limits or (before is not None and not before.limits):
        return settings, {}
    if before is not None and _was_limited(Path(str(out))):  # what is usual may have changed since
        return replace(settings, limits=before.limits), {}
    usual = scorer.space.usual_limits(scorer.task, scorer.data.epoch_samples)
    return (replace(settings, limits=usual), usual) if usual else (settings, {})


def _was_limited(out: Path) -> bool:
    """Whether a run has limits that nobody asked for."""
    with Store.open(RunFolder(out).store_path) as store:
        return bool(store.events(LIMITED))


def _problem(settings: SearchSettings, scorer: Scorer, measured: Mapping[str, float] | Measured | None) -> Problem:
    """What the settings ask for; names, proxies and their settings are checked on the way."""
    table = LatencyTable.load(settings.latency_table) if settings.latency_table else None
    if settings.measure is not None:
        if measured is not None:
            raise InputError("measure: measured values were handed over already; give one of them")
        from foresee.searchers.learned import Learned  # trains: not loaded where nothing is trained

        measured = Learned(scorer, settings.measure, settings.measure_recipe, settings.measure_steps)
    return Problem(
        scorer,
        Limits.from_json(settings.limits),
        objectives_of(settings.objectives, scorer),
        settings.evaluations,
        Clock(settings.scoring.device, settings.scoring.threads, table),
        settings.memory_batch,
        Known(measured) if isinstance(measured, Mapping) else measured,
    )


def _open_store(
    folder: RunFolder | None,
    settings: SearchSettings,
    searcher: Searcher,
    facts: Mapping[str, Any],
    resume: bool,
    stack: ExitStack,
    code: str = "",
) -> Store:
    """The store to write to: in memory, a new file, or the run to go on with once its settings are found equal."""
    asked: dict[str, Any] = {
        "kind": "search",
        "settings": settings.to_json(),
        "environment": facts,
        "objectives": searcher.problem.objectives,
    }
    if folder is None:
        return stack.enter_context(Store.create(":memory:", **asked))
    folder.hold()  # first, so that no other start puts a run there after this one has looked
    stack.callback(folder.release)
    if folder.exists and not resume:
        raise RunError(f"{folder.path} holds a run already: add --resume to go on with it, or choose another --out")
    if folder.exists:
        with Store.open(folder.store_path) as existing:
            _check_same(folder, settings, searcher, facts, existing)
    folder.write_settings(asked["settings"])  # before the store: where there is a run, there are its settings
    if code:  # for people to read and to compare; nothing is ever run from it
        write_whole(folder.path / SOURCE, code)
    if not folder.exists:
        return stack.enter_context(Store.create(folder.store_path, **asked))
    return stack.enter_context(Store.open(folder.store_path, write=True))


def _check_same(
    folder: RunFolder, settings: SearchSettings, searcher: Searcher, facts: Mapping[str, Any], store: Store
) -> None:
    if store.get("kind") != "search":
        raise RunError(f"{folder.path} holds a run of another kind ({store.get('kind')})")
    stored = SearchSettings.of_run(store.get("settings"))
    differences = settings.refused(stored)
    before = store.get("environment", {})
    for key in ("data_fingerprint", "task", "measured"):
        if before.get(key) != facts.get(key):
            here, there = (shown(one) if isinstance(one, Mapping) else one for one in (facts.get(key), before.get(key)))
            differences.append(f"{key}: {here} here, {there} in the run")
    if not differences and before.get("source") != facts.get("source"):
        what = settings.space.rpartition(":")[2]
        raise SettingsMismatchError(
            f"{folder.path}: the source of {what} is not the one of this run any more: put it back as it is in "
            f"{folder.path / SOURCE}, or start a new run in another folder"
        )
    if differences:
        raise SettingsMismatchError(
            f"{folder.path} was run with other settings: {'; '.join(differences)}; a run that is resumed may be given more "
            "evaluations, and other finalists and finalist_seeds, and nothing else"
        )
    if searcher.by_total and "evaluations" in settings.extends(stored):
        raise SettingsMismatchError(
            f"{folder.path}: a run of searcher {searcher.name} cannot be given more evaluations ({stored.evaluations} in the "
            f"run): {searcher.by_total}; start a new run"
        )


def _write_best(folder: RunFolder | None, run: Run) -> None:
    if folder is not None and run.record.best is not None:
        folder.write_best(run.best.to_json())
        write_front(run)


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
    # Of a loader or a data set as much is taken as the proxies ask for, but for those that want dozens of batches.
    made = data if isinstance(data, Data) else GivenBatches(as_batches(data, count=4, size=256))
    return made, f"given:{made.fingerprint}"
