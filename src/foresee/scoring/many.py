"""Scoring many architectures by many proxies: in parallel, each score once, to be stopped and gone on with at any moment.

What is asked for is one architecture under one seed, by the proxies whose scores are not in the cache yet; they share their
looks as in a search. What comes of it does not depend on the other proxies, the order, the engine or the number of workers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from foresee.data import Data
from foresee.data.base import digest
from foresee.errors import ForeseeError, InputError
from foresee.proxies.base import Direction, Score, names_of
from foresee.runs import engines
from foresee.runs.events import Announcer, Event, Observer
from foresee.scoring.cache import Cache
from foresee.scoring.desk import Desk
from foresee.scoring.keys import Keys
from foresee.scoring.scorer import Scored, Scorer, scorer_of
from foresee.scoring.settings import ScoringSettings
from foresee.spaces.base import Space
from foresee.task import Task

A = TypeVar("A")


@dataclass(frozen=True, eq=False, repr=False)
class ScoreMatrix:
    """The scores of one proxy: rows are architectures, columns are seeds; NaN where there is no value.

    `statuses` are those of the scores, `reasons` count why some have no value. `parts` are the numbers the values were made
    from, by name. `cached` is how many of the scores were known before, `stacked` how many were read from stacks of
    architectures.
    """

    proxy: str
    direction: Direction
    values: NDArray[np.float64]
    statuses: NDArray[np.str_]
    seconds: NDArray[np.float64]
    reasons: Counter[str] = field(default_factory=Counter)
    parts: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    cached: int = 0
    stacked: int = 0

    def __repr__(self) -> str:
        rows, seeds = self.values.shape
        return f"<ScoreMatrix of {self.proxy}: {rows} architectures, {seeds} seeds, {self.reasons.total()} without a value>"

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
    proxies: str | Sequence[str] | ScoringSettings,
    *,
    seeds: Sequence[int] | None = None,
    task: Task | None = None,
    space_settings: Mapping[str, Any] | None = None,
    data: str | Data | None = None,
    engine: str = "serial",
    workers: int | None = None,
    cache: Cache | str | Path | None = None,
    observers: Iterable[Observer] = (),
    warm: str | Path | None = None,
    **settings: Any,
) -> dict[str, ScoreMatrix]:
    """The scores of every architecture by every proxy under every seed.

    Args:
        space: a registered name, a space, or `module:function`.
        texts: the architectures.
        proxies: names, variants, wildcards; or whole `ScoringSettings`.
        seeds: a seed decides weights, draws and batches of all architectures alike; by default as many as `repeats` says,
            from the settings' seed on.
        task: what the networks are built for; by default the data's own.
        space_settings: settings of a space named by text.
        data: what proxies look at: a name, a path, or a `Data` (made for the task).
        engine: `serial`, `processes`, ...; the result is the same.
        workers: processes to use; by default one per core.
        cache: scores already computed, and where new ones are kept: a `Cache`, or the path of one.
        observers: called with an `Event` for each architecture and seed: "started" (or "resumed", where some were known),
            "scored", "failed", "finished".
        warm: folder for what a warm-up trains, where it is gone on with too.
        **settings: any other field of `ScoringSettings`: batch_size, threads, device, proxy_settings, ...

    >>> cell = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|"
    >>> scored("nasbench201", [cell], ["params"])["params"].values
    array([[344346.]])
    """
    asked = asked_settings(proxies, settings)
    if task is not None:
        asked = replace(asked, inputs=task.inputs, outputs=task.outputs)
    if isinstance(data, str):
        asked = replace(asked, data=data)
    chosen = [asked.seed + repeat for repeat in range(asked.repeats)] if seeds is None else list(seeds)
    if not chosen:
        raise InputError("no seed was given: at least one is needed")
    given = data if isinstance(data, Data) else None
    alike = replace(asked, repeats=1, seed=chosen[0])
    scorer = scorer_of(space, alike, space_settings=space_settings, data=given, formulas=True)
    scorer.check()
    with ExitStack() as stack:
        kept = cache if isinstance(cache, Cache) else stack.enter_context(Cache(cache))
        session = _Session(scorer, list(texts), chosen, kept, Announcer(observers), warm)
        session.go(stack.enter_context(engines.make(engine, scorer, workers)))
        return session.matrices()


def asked_settings(proxies: str | Sequence[str] | ScoringSettings, more: Mapping[str, Any]) -> ScoringSettings:
    """Whole settings as they are, or names with what else was said; settings of proxies not asked for are left out."""
    if isinstance(proxies, ScoringSettings):
        return replace(proxies, proxies=tuple(names_of(proxies.proxies)), **more)
    names = names_of(proxies)
    own = {name: dict(one) for name, one in (more.get("proxy_settings") or {}).items() if name in names}
    return ScoringSettings.of(**{**more, "proxies": tuple(names), "proxy_settings": own})


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


class _Session:
    """All scores of one call: those in the cache at once, the rest as they are made."""

    def __init__(
        self,
        scorer: Scorer,
        texts: list[str],
        seeds: list[int],
        cache: Cache,
        announce: Announcer,
        warm: str | Path | None = None,
    ) -> None:
        self.scorer, self.texts, self.seeds, self.cache, self.announce = scorer, texts, seeds, cache, announce
        self.warm = warm
        self.key = Keys(scorer)
        self.names = list(scorer.proxies)
        self.distinct = list(dict.fromkeys(texts))
        self.found: dict[tuple[str, int, str], Score] = {}
        self.known: set[tuple[str, int, str]] = set()
        self.stacked: set[tuple[str, int, str]] = set()

    def go(self, engine: engines.Engine) -> None:
        """Look up, score what is missing, keep it."""
        asked = {
            self.key(text, name, seed): (text, seed, name)
            for text in self.distinct
            for seed in self.seeds
            for name in self.names
        }
        self.found = {asked[key]: score for key, score in self.cache.get(asked).items()}
        self.known = set(self.found)
        missing: list[tuple[str, int, tuple[str, ...]]] = []
        for seed in self.seeds:
            for text in self.distinct:
                names = tuple(name for name in self.names if (text, seed, name) not in self.found)
                if names:
                    missing.append((text, seed, names))
        if missing:
            self.scorer.prepare(self._warm_place(), resume=True, observers=[self.announce])
        total = len(self.seeds) * len(self.distinct)
        done = total - len(missing)
        self.announce(
            Event("resumed" if done else "started", done, total, details={"kept": done, "ways": self.scorer.ways})
        )
        desk = Desk(engine, self.scorer.together)
        for ticket, (text, seed, names) in enumerate(missing):
            desk.submit(ticket, text, names, seed)
        for _ in missing:
            answer = desk.wait()
            text, seed, names = missing[answer.ticket]
            scores = self._scores(answer.scored, names, seed)
            self.cache.put(text, {self.key(text, one.proxy, seed): one for one in scores})
            self.found |= {(text, seed, one.proxy): one for one in scores}
            self.stacked |= {(text, seed, name) for name in answer.scored.stacked}
            done += 1
            bad = [one for one in scores if not one.ok]
            reason = "; ".join(f"{one.proxy}: {one.reason}" for one in bad)
            details = {"architecture": text, "seed": seed, "reason": reason}
            self.announce(Event("failed" if bad else "scored", done, total, answer.ticket, details))
        self.announce(Event("finished", done, total))

    def _warm_place(self) -> Path | None:
        """A folder for each warm-up: the same command goes on there, another one does not find it in its way."""
        if self.warm is None:
            return None
        return Path(self.warm) / digest(json.dumps(self.scorer.beyond, sort_keys=True, default=repr))

    def _scores(self, scored: Scored, names: Sequence[str], seed: int) -> Sequence[Score]:
        """The scores; where the text is no architecture or the worker died, the reason by every proxy."""
        if scored.error is None:
            return scored.scores
        ways = self.scorer.proxies
        return [Score(name, None, "failed", scored.error, ways[name].direction, seed=seed) for name in names]

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
            self.scorer.proxies[name].direction,
            column(one.value for one in every),
            np.array([one.status for one in every], np.str_).reshape(shape),
            column(one.seconds for one in every),
            Counter(f"{one.status}: {one.reason}" if one.reason else one.status for one in every if not one.ok),
            {part: column(one.parts.get(part) for one in every) for part in parts},
            sum((text, seed, name) in self.known for text in self.texts for seed in self.seeds),
            sum((text, seed, name) in self.stacked for text in self.texts for seed in self.seeds),
        )
