"""Scoring many architectures by many proxies: in parallel, each score once, to be stopped and gone on with at any moment.

One job is one architecture under one seed, by the proxies whose scores are not in the cache yet; they share their looks as
in a search. What a job gives does not depend on the other proxies, the order, the engine or the number of workers.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from foresee import data as data_room
from foresee.data import Data
from foresee.devices import usable
from foresee.errors import ForeseeError, InputError
from foresee.proxies.base import Direction, Proxy, Score, names_of
from foresee.runs import engines
from foresee.runs.environment import installed
from foresee.runs.events import Announcer, Event, Observer
from foresee.scoring.cache import Cache
from foresee.scoring.evaluation import Evaluation
from foresee.scoring.settings import SearchSettings
from foresee.scoring.versions import code, function_code
from foresee.spaces.base import Space
from foresee.task import Task

A = TypeVar("A")

#: proxies whose value the space's own formulas give, without a network
COUNTED = ("params", "macs")


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """The scores of one proxy: rows are architectures, columns are seeds; NaN where there is no value.

    `statuses` are those of the scores, `reasons` count why some have no value. `parts` are the numbers the values were made
    from, by name. `cached` is how many of the scores were known before.
    """

    proxy: str
    direction: Direction
    values: NDArray[np.float64]
    statuses: NDArray[np.str_]
    seconds: NDArray[np.float64]
    reasons: Counter[str] = field(default_factory=Counter)
    parts: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    cached: int = 0

    @property
    def merits(self) -> NDArray[np.float64]:
        """The values turned so that more is better, (n, seeds)."""
        return self.values if self.direction == "higher" else -self.values

    @property
    def merit(self) -> NDArray[np.float64]:
        """Mean merit over the seeds, (n,); NaN where a single one failed."""
        return np.asarray(self.merits.mean(axis=1))

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which architectures have no merit, (n,)."""
        return np.isnan(self.merit)


def scored(
    space: str | Space[Any],
    texts: Sequence[str],
    proxies: str | Sequence[str],
    *,
    task: Task | None = None,
    space_settings: Mapping[str, Any] | None = None,
    proxy_settings: Mapping[str, Mapping[str, Any]] | None = None,
    seeds: Sequence[int] = (0,),
    data: str | Data = "digits",
    batch_size: int | None = None,
    threads: int = 1,
    device: str = "cpu",
    engine: str = "serial",
    workers: int | None = None,
    cache: Cache | str | Path | None = None,
    observers: Iterable[Observer] = (),
) -> dict[str, ScoreMatrix]:
    """The scores of every architecture by every proxy under every seed.

    Args:
        space: a registered name, a space, or `module:function`.
        texts: the architectures.
        proxies: names, variants, wildcards.
        task: what the networks are built for; by default the data's own.
        space_settings: settings of a space named by text.
        proxy_settings: by proxy, settings that differ from the defaults.
        seeds: a seed decides weights, draws and batches of all architectures alike.
        data: what proxies look at: a name, a path, or a `Data` (made for the task).
        batch_size: samples per batch; by default what each proxy needs.
        threads: torch threads per worker.
        device: where networks are scored.
        engine: `serial` or `processes`; the result is the same.
        workers: processes to use; by default one per core.
        cache: scores already computed, and where new ones are kept: a `Cache`, or the path of one.
        observers: called with an `Event` for each job: "started" (or "resumed", where some were known), "scored", "failed",
            "finished".

    >>> cell = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|"
    >>> scored("nasbench201", [cell], ["params"])["params"].values
    array([[344346.]])
    """
    names = names_of(proxies)
    made = space if isinstance(space, Space) else None
    settings = SearchSettings(
        space="given" if made is not None else str(space),
        space_settings=dict(space_settings or {}),
        proxies=tuple(names),
        proxy_settings={name: dict(own) for name, own in (proxy_settings or {}).items() if name in names},
        data=data if isinstance(data, str) else "given",
        inputs=None if task is None else task.inputs,
        outputs=None if task is None else task.outputs,
        batch_size=batch_size,
        threads=threads,
        device=device,
    )
    looked_at = data_room.load(data, task=task) if isinstance(data, str) else data
    work = Work(settings, made, looked_at)
    work.check(seeds)
    with ExitStack() as stack:
        kept = cache if isinstance(cache, Cache) else stack.enter_context(Cache(cache))
        session = _Session(work, list(texts), list(seeds), kept, Announcer(observers))
        session.go(stack.enter_context(engines.make(engine, work, workers)))
        return session.matrices()


def parsed(space: Space[A], texts: Iterable[str], where: str = "") -> list[A]:
    """The architectures of texts; one that the space cannot read is an error that says `where` the text is from."""
    found = []
    for text in texts:
        try:
            found.append(space.parse(text))
        except ForeseeError as error:
            shown = text if len(text) <= 60 else f"{text[:59]}…"
            raise InputError(
                f"{where or 'the table'}: {shown!r} is no architecture of {space.name}: {error}"
            ) from error
    return found


class Work:
    """What a worker does with a job (text, seed, names of proxies). Picklable; each worker prepares its own looks."""

    def __init__(self, settings: SearchSettings, space: Space[Any] | None, data: Data) -> None:
        self.settings, self._given_space, self.data = settings, space, data
        self._evaluations: dict[tuple[int, tuple[str, ...]], Evaluation] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_evaluations": {}}

    def evaluation(self, seed: int, names: tuple[str, ...]) -> Evaluation:
        """The evaluation by some of the proxies under one seed; its batches are drawn once."""
        key = (seed, names)
        if key not in self._evaluations:
            own = {name: self.settings.proxy_settings[name] for name in names if name in self.settings.proxy_settings}
            settings = replace(self.settings, seed=seed, proxies=names, proxy_settings=own)
            self._evaluations[key] = Evaluation(settings, self.space, self.data)
        return self._evaluations[key]

    @property
    def space(self) -> Space[Any]:
        """The space, made once."""
        if self._given_space is None:
            self._given_space = Evaluation(self.settings, None, self.data).space
        return self._given_space

    def __call__(self, job: tuple[str, int, tuple[str, ...]]) -> list[Score]:
        """Score one architecture."""
        text, seed, names = job
        counted = [name for name in names if name in COUNTED]
        found = dict(self._counted(text, seed, counted))
        rest = tuple(name for name in names if name not in COUNTED)
        if rest:
            found |= {score.proxy: score for score in self.evaluation(seed, rest)(text).scores}
        return [found[name] for name in names]

    def _counted(self, text: str, seed: int, names: Sequence[str]) -> Iterable[tuple[str, Score]]:
        """What the network would be counted at, by the space's formulas: a thousand times quicker than building it."""
        if not names:
            return
        start = time.perf_counter()
        evaluation = self.evaluation(seed, tuple(names))
        counts = self.space.counts(self.space.parse(text), evaluation.task)
        seconds = time.perf_counter() - start
        for name in names:
            yield name, Score(name, float(getattr(counts, name)), seconds=seconds, seed=seed)

    def check(self, seeds: Sequence[int]) -> None:
        """Names, settings and data, before anything is begun."""
        if not seeds:
            raise InputError("no seed was given: at least one is needed")
        usable(self.settings.device)
        whole = self.evaluation(seeds[0], tuple(self.settings.proxies))
        whole.proxies, whole.groups  # noqa: B018

    @cached_property
    def proxies(self) -> dict[str, Proxy]:
        """The proxies by full name, with their settings."""
        return {one.full_name: one for one in self.evaluation(0, tuple(self.settings.proxies)).proxies}

    # -- identity of a score ------------------------------------------------------------------------------------------
    @cached_property
    def _ground(self) -> dict[str, Any]:
        """What all scores have in common, but for the data."""
        space = self.space
        own = getattr(space, "make_net", None)  # a user's own space: its code is theirs
        reference = spaces_reference(space)
        return {
            "foresee": installed("foresee"),
            "space": [reference, space.settings(), code(type(space).__module__), own and function_code(own)],
            "task": self.evaluation(0, tuple(self.settings.proxies)).task.to_json(),
        }

    @cached_property
    def _proxy_identity(self) -> dict[str, str]:
        return {name: self._identify(one) for name, one in self.proxies.items()}

    def _identify(self, proxy: Proxy) -> str:
        """All that a score by this proxy depends on, but for architecture and seed.

        One that looks at no data shares its scores between data sets.
        """
        plain = dict(self._ground, proxy=[proxy.full_name, dict(proxy.settings), function_code(proxy.formula)])
        if proxy.name not in COUNTED:
            kind = self.settings.device.partition(":")[0]
            plain |= {"threads": self.settings.threads, "device": kind, "torch": installed("torch")}
        if proxy.needs.data:
            size = self.settings.batch_size or proxy.needs.batch
            plain["data"] = [self.data.fingerprint, proxy.needs.batches, size, code(type(self.data).__module__)]
        return json.dumps(plain, sort_keys=True, default=repr)

    def key(self, text: str, proxy: str, seed: int) -> str:
        """The key of a score in the cache."""
        return hashlib.sha256("\n".join([self._proxy_identity[proxy], text, str(seed)]).encode()).hexdigest()


def spaces_reference(space: Space[Any]) -> str:
    """How a space is named: text from which it can be made again, or for one that cannot, what it is."""
    try:
        return space.reference
    except InputError:
        return repr(type(space))


class _Session:
    """All scores of one call: those in the cache at once, the rest as jobs finish."""

    def __init__(self, work: Work, texts: list[str], seeds: list[int], cache: Cache, announce: Announcer) -> None:
        self.work, self.texts, self.seeds, self.cache, self.announce = work, texts, seeds, cache, announce
        self.names = list(work.proxies)
        self.places: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            self.places.setdefault(text, []).append(place)
        self.found: dict[tuple[str, int, str], Score] = {}
        self.known: set[tuple[str, int, str]] = set()

    def go(self, engine: engines.Engine) -> None:
        """Look up, score what is missing, keep it."""
        asked = {
            self.work.key(text, name, seed): (text, seed, name)
            for text in self.places
            for seed in self.seeds
            for name in self.names
        }
        self.found = {asked[key]: score for key, score in self.cache.get(asked).items()}
        self.known = set(self.found)
        jobs: list[tuple[str, int, tuple[str, ...]]] = []
        for seed in self.seeds:
            for text in self.places:
                missing = tuple(name for name in self.names if (text, seed, name) not in self.found)
                if missing:
                    jobs.append((text, seed, missing))
        total = len(self.seeds) * len(self.places)
        done = total - len(jobs)
        self.announce(Event("resumed" if done else "started", done, total, details={"kept": done}))
        for number, job in enumerate(jobs):
            engine.submit(number, job)
        for _ in jobs:
            outcome = engine.wait()
            text, seed, names = jobs[outcome.job]
            scores = outcome.value if outcome.error is None else self._accident(names, seed, outcome.error)
            self.cache.put(text, {self.work.key(text, one.proxy, seed): one for one in scores})
            self.found |= {(text, seed, one.proxy): one for one in scores}
            done += 1
            bad = [one for one in scores if not one.ok]
            reason = "; ".join(f"{one.proxy}: {one.reason}" for one in bad)
            details = {"architecture": text, "seed": seed, "reason": reason}
            self.announce(Event("failed" if bad else "scored", done, total, outcome.job, details))
        self.announce(Event("finished", done, total))

    def _accident(self, names: Sequence[str], seed: int, error: str) -> list[Score]:
        """The job itself failed: the text is no architecture, or the worker died."""
        ways = self.work.proxies
        return [Score(name, None, "failed", error, ways[name].direction, seed=seed) for name in names]

    def matrices(self) -> dict[str, ScoreMatrix]:
        """The scores by proxy."""
        return {name: self._matrix(name) for name in self.names}

    def _matrix(self, name: str) -> ScoreMatrix:
        grid = [[self.found[text, seed, name] for seed in self.seeds] for text in self.texts]
        every = [one for row in grid for one in row]
        shape = (len(self.texts), len(self.seeds))

        def column(numbers: Iterable[float | None]) -> NDArray[np.float64]:
            return np.array([np.nan if one is None else one for one in numbers], np.float64).reshape(shape)

        parts = sorted({part for one in every for part in one.parts})
        return ScoreMatrix(
            name,
            self.work.proxies[name].direction,
            column(one.value for one in every),
            np.array([one.status for one in every], np.str_).reshape(shape),
            column(one.seconds for one in every),
            Counter(f"{one.status}: {one.reason}" if one.reason else one.status for one in every if not one.ok),
            {part: column(one.parts.get(part) for one in every) for part in parts},
            sum((text, seed, name) in self.known for text in self.texts for seed in self.seeds),
        )
