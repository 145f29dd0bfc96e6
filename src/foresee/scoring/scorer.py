"""From the texts of architectures to their scores: what a worker does, in any process.

A score is a function of the architecture, the settings and the seed alone: weights and draws come from the seed, the same for
all architectures, so that they are compared under equal luck and nothing depends on order, on company or on who worked. The
unit of work is a list: a scorer that can look at several networks at once does so behind this door.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import nn

from foresee import data as data_room
from foresee.batch import Batch
from foresee.data import Data
from foresee.devices import threads, usable
from foresee.errors import DataError, ForeseeError, InputError, UnsupportedError, said
from foresee.lazy import find
from foresee.proxies import base as proxies_base
from foresee.proxies.base import Proxy, Score
from foresee.runs.events import Observer
from foresee.scoring.one import looked_at
from foresee.scoring.settings import ScoringSettings
from foresee.scoring.stacked.skeletons import choices_of
from foresee.scoring.stacked.stacking import JOB, Stacker, why_not
from foresee.seeds import derive
from foresee.spaces.base import Space
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import get
from foresee.task import Task

#: proxies whose value the space's own formulas give, a thousand times quicker than the network, and what they call it
COUNTED = {"params": "params", "macs": "macs", "flops": "flops", "az_complexity": "flops"}
#: batches of so many (seed, count, size) are kept in hand
KEPT_BATCHES = 16


@dataclass(frozen=True)
class Job:
    """Architectures to score together: by which proxies (full names), under which seed.

    `space_settings` are (name, value) pairs that differ from the scorer's own: networks of another width, for instance.
    """

    texts: tuple[str, ...]
    proxies: tuple[str, ...]
    seed: int
    space_settings: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Scored:
    """What came of one architecture: its scores, or the error that ended it before there were any."""

    scores: tuple[Score, ...] = ()
    seconds: float = 0.0
    error: str | None = None
    #: the proxies whose scores were read from a stack of architectures
    stacked: frozenset[str] = frozenset()


class Scorer:
    """Scores the architectures of one space. Picklable: each worker makes its own space, data and batches.

    Args:
        space: a space, or how it is called (`nasbench201`, `module:function`).
        settings: all that a score depends on beside the architecture.
        space_settings: settings of a space that is called by name.
        data: data handed over in Python, in place of what the settings name.
        formulas: take params, macs and flops from the space's formulas; where nothing else is asked, no network is built.

    >>> scorer = Scorer("nasbench201", ScoringSettings(proxies=("params",)), formulas=True)
    >>> cell = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|"
    >>> [one.scores[0].value for one in scorer(Job((cell, cell), ("params",), seed=0))]
    [344346.0, 344346.0]
    """

    def __init__(
        self,
        space: str | Space[Any],
        settings: ScoringSettings,
        *,
        space_settings: Mapping[str, Any] | None = None,
        data: Data | None = None,
        formulas: bool = False,
    ) -> None:
        self.settings, self.formulas = settings, formulas
        self._space, self._space_settings, self._data = space, dict(space_settings or {}), data
        self._batches: dict[tuple[int, int, int], list[Batch]] = {}
        self._proxies: dict[str, Proxy] = {}
        self._others: dict[str, Scorer] = {}
        self._reasons: dict[str, str] = {}
        #: how many architectures were looked at in stacks so far
        self.stacked = 0

    def __getstate__(self) -> dict[str, Any]:
        kept = {key: self.__dict__[key] for key in ("settings", "formulas", "_space", "_space_settings", "_data")}
        return {**kept, "_batches": {}, "_proxies": {}, "_others": {}, "_reasons": {}, "stacked": 0}

    def check(self) -> None:
        """Names, settings, device, space and data, before anything is begun."""
        usable(self.settings.device)
        if self.settings.warms and type(self).network is Scorer.network:
            raise InputError("a plain Scorer trains nothing: make the one of these settings with `scorer_of`")
        for proxy in self.proxies.values():
            self.batches(proxy, self.settings.seed)
        self.space  # noqa: B018 - a name that does not exist is said now
        if self.settings.stacked:
            for name in self.proxies:
                if not self._is_counted(name) and self.why_not_stacked(name):
                    raise InputError(f"stacked (--stacked): {self.why_not_stacked(name)}")

    # -- what is scored, by what, on what -----------------------------------------------------------------------------
    @cached_property
    def space(self) -> Space[Any]:
        """The space of the architectures."""
        if isinstance(self._space, Space):
            return self._space
        settings = dict(self._space_settings)
        if ":" in self._space:
            settings.setdefault("task", self.task.to_json())  # an own space may build for a task: let it know which
        return get(self._space, **settings)

    @cached_property
    def data(self) -> Data:
        """The data the proxies look at, in the shape the networks take."""
        if self._data is not None:
            return self._data
        if self.settings.tokens is not None:
            return data_room.load(self.settings.data, task=self.settings.fitted(Task()))
        schema: dict[str, Any] = {} if self.settings.schema is None else {"schema": self.settings.schema}
        return data_room.load(self.settings.data, inputs=self.settings.inputs, outputs=self.settings.outputs, **schema)

    @cached_property
    def task(self) -> Task:
        """What the networks are built for."""
        return self.settings.fitted(self.data.task)

    @cached_property
    def proxies(self) -> dict[str, Proxy]:
        """The proxies of the settings by full name, the steering one first."""
        found = [self.proxy(name) for name in self.settings.proxies]
        return {proxy.full_name: proxy for proxy in found}

    @property
    def device(self) -> str:
        """Where networks are looked at; an engine gives its workers cards by this."""
        return self.settings.device

    def proxy(self, name: str) -> Proxy:
        """Any proxy, with the settings that were given for it."""
        if name not in self._proxies:
            self._proxies[name] = proxies_base.get(name, self.settings.proxy_settings.get(name))
        return self._proxies[name]

    def batches(self, proxy: Proxy, seed: int) -> list[Batch]:
        """What a proxy looks at: the same batches for all architectures, never more than it wants by itself."""
        key = (seed, proxy.needs.batches, self.settings.batch_size or proxy.needs.batch)
        if key not in self._batches:
            if len(self._batches) >= KEPT_BATCHES:
                self._batches.clear()
            self._batches[key] = self.data.batches(key[1], key[2], seed=seed)
        return self._batches[key]

    def other(self, space_settings: Mapping[str, Any]) -> Scorer:
        """The scorer of the same space with other settings of it, made once; without any, this one."""
        if not space_settings:
            return self
        key = repr(sorted(space_settings.items()))
        if key not in self._others:
            given, name, own = self._space, self._space, self._space_settings
            if isinstance(given, Space):
                name, own = given.reference, given.settings()
            changed = {**own, **space_settings}
            made = type(self)(name, self.settings, space_settings=changed, data=self.data, formulas=self.formulas)
            made.space  # noqa: B018 - a setting that does not exist is said now
            self._others[key] = made
        return self._others[key]

    # -- networks -----------------------------------------------------------------------------------------------------
    def prepare(
        self, folder: str | Path | None = None, *, resume: bool = False, observers: Iterable[Observer] = ()
    ) -> Mapping[str, Any]:
        """Do what has to be done once before any score, and say what it was: nothing here, a warm-up in `WarmScorer`."""
        return {}

    @property
    def beyond(self) -> Mapping[str, Any]:
        """What scores depend on beyond the settings of a score without training; nothing here. Part of a cache's keys."""
        return {}

    @property
    def builds(self) -> bool:
        """Whether each network is built for its scores, with weights of its own."""
        return type(self).network is Scorer.network

    def network(self, text: str, seed: int | None = None) -> nn.Module:
        """The network of an architecture as it is looked at: with weights drawn from the seed."""
        return self.candidate(text, seed).build()

    def warmed(self, network: nn.Module, seed: int | None = None) -> nn.Module:
        """A network of anybody's as it is looked at: as it is."""
        return network

    def candidate(self, text: str, seed: int | None = None, **details: Any) -> Candidate:
        """The candidate with this text, able to build its network with the weights it is scored with."""
        weights = derive(self.settings.seed if seed is None else seed, "weights")
        return Candidate(self.space, self.space.parse(text), self.task, {"weights_seed": weights, **details})

    # -- scoring ------------------------------------------------------------------------------------------------------
    def __call__(self, job: Job) -> list[Scored]:
        """The scores of every architecture of a job, in its order. What goes wrong with one does not touch the others."""
        scorer = self.other(dict(job.space_settings))
        names = [name for name in job.proxies if not self._is_counted(name) and not scorer.why_not_stacked(name)]
        if not names:
            return [scorer._one(text, job.proxies, job.seed) for text in job.texts]
        rest = tuple(name for name in job.proxies if name not in names)
        found = scorer._stacked(job.texts, names, job.seed)
        self.stacked += sum(bool(one.stacked) for one in found) if scorer is not self else 0
        alone = [scorer._one(text, rest, job.seed) if rest else Scored() for text in job.texts]
        return [_joined(job.proxies, *pair) for pair in zip(found, alone, strict=True)]

    def of_network(
        self,
        network: nn.Module,
        names: Iterable[str] | None = None,
        seed: int | None = None,
        memory: str | float | None = math.inf,
        *,
        ours: bool = False,
    ) -> list[Score]:
        """A network that is there already, by some of the proxies, in the order they are named.

        What a machine has free must not decide what a search finds: nothing is refused for its `memory` unless one says so.

        A score must not depend on which others were asked for, so those that want alike batches share their looks. `ours` are
        networks that were built for this call.
        """
        seed = self.settings.seed if seed is None else seed
        wanted = [self.proxy(name) for name in names or self.settings.proxies]
        found: dict[str, Score] = {}
        groups: dict[int, tuple[list[Batch], list[Proxy]]] = {}
        for proxy in wanted:
            try:
                batches = self.batches(proxy, seed)
            except DataError as error:  # fewer samples than this one wants: the others may have enough
                blank = Score(proxy.full_name, None, "unsupported", str(error), direction=proxy.direction, seed=seed)
                found[proxy.full_name] = replace(blank, repeats=self.settings.repeats)
                continue
            groups.setdefault(id(batches), (batches, []))[1].append(proxy)
        for batches, group in groups.values():
            found |= looked_at(
                network,
                batches,
                group,
                seed=seed,
                repeats=self.settings.repeats,
                device=self.settings.device,
                memory=memory,
                ours=ours,
            )
        return [found[proxy.full_name] for proxy in wanted]

    # -- many at once -------------------------------------------------------------------------------------------------
    @property
    def together(self) -> int:
        """How many architectures it likes to have in one job: 1, or as many as are looked at together."""
        stacks = any(not self._is_counted(name) and not self.why_not_stacked(name) for name in self.proxies)
        return JOB if stacks else 1

    def why_not_stacked(self, name: str) -> str:
        """Why the scores of a proxy are not read from stacks of architectures; "" where they are."""
        if name not in self._reasons:
            self._reasons[name] = self._why_not_stacked(name)
        return self._reasons[name]

    def _why_not_stacked(self, name: str) -> str:
        if self.settings.stacked is False:
            return "one by one was asked for (stacked = false)"
        if type(self).network is not Scorer.network:
            return "networks are trained before they are looked at, each with weights of its own"
        if self.settings.stacked is None and torch.device(self.settings.device).type == "cpu":
            return "on a CPU architectures are looked at one by one unless stacks are asked for"
        return why_not(self.space, self.task, self.proxy(name))

    @property
    def ways(self) -> str:
        """How the proxies of the settings are read, in words; "" where none is read from stacks, as it is usual."""
        told = [name for name in self.proxies if not self._is_counted(name)]
        stacks = [name for name in told if not self.why_not_stacked(name)]
        if not stacks:
            return ""
        words = f"{', '.join(stacks)}: many architectures at once"
        return "; ".join([words, *(f"{name}: {self.why_not_stacked(name)}" for name in told if name not in stacks)])

    def _is_counted(self, name: str) -> bool:
        return self.formulas and name in COUNTED

    @cached_property
    def _stacker(self) -> Stacker:
        return Stacker(self.space, self.task, usable(self.settings.device), self.settings.memory)

    def _stacked(self, texts: Sequence[str], names: Sequence[str], seed: int) -> list[Scored]:
        """The scores of some proxies from stacks of all these architectures; the seconds are shared evenly.

        One that can be read but lies outside what is stacked is looked at by itself, unless stacks were asked for.
        """
        start = time.perf_counter()
        found: list[dict[str, Score] | str] = []
        ops: list[Sequence[str]] = []
        alone: list[int] = []
        for place, text in enumerate(texts):  # one that is no architecture is no other's affair
            try:
                ops.append(choices_of(self.space, self.space.parse(text)))
                found.append({})
            except ForeseeError as error:
                found.append(said(error))
                if isinstance(error, UnsupportedError) and not self.settings.stacked:
                    alone.append(place)
        read = [one for one in found if isinstance(one, dict)]
        try:
            with threads(self.settings.threads):
                for batches, proxies in self._by_batches(names, seed):
                    weights, repeats = derive(seed, "weights"), self.settings.repeats
                    made = self._stacker(ops, batches, proxies, seed=seed, weights_seed=weights, repeats=repeats)
                    for own, more in zip(read, made, strict=True):
                        own |= more
        except (DataError, RuntimeError, MemoryError) as error:
            found = [one if isinstance(one, str) else said(error) for one in found]
        share = (time.perf_counter() - start) / max(1, len(texts))
        self.stacked += sum(isinstance(one, dict) for one in found)
        scored = [
            Scored(error=one, seconds=share)
            if isinstance(one, str)
            else Scored(tuple(one[name] for name in names), share, stacked=frozenset(names))
            for one in found
        ]
        for place in alone:
            scored[place] = self._one(texts[place], tuple(names), seed)
        return scored

    def _by_batches(self, names: Sequence[str], seed: int) -> list[tuple[list[Batch], list[Proxy]]]:
        """Proxies that want alike batches, which share their looks."""
        groups: dict[int, tuple[list[Batch], list[Proxy]]] = {}
        for proxy in map(self.proxy, names):
            batches = self.batches(proxy, seed)
            groups.setdefault(id(batches), (batches, []))[1].append(proxy)
        return list(groups.values())

    # -- one by one ---------------------------------------------------------------------------------------------------
    def _one(self, text: str, names: Sequence[str], seed: int) -> Scored:
        start = time.perf_counter()
        try:
            with threads(self.settings.threads):
                counted = [name for name in names if self.formulas and name in COUNTED]
                found = self._counted(text, counted, seed)
                rest = [name for name in names if name not in found]
                if rest:
                    network = self.network(text, seed)
                    found |= dict(zip(rest, self.of_network(network, rest, seed, ours=self.builds), strict=True))
        except (
            Exception,
            SystemExit,
        ) as error:  # a stranger's network may raise anything; it is this architecture's fate alone
            return Scored(error=said(error), seconds=time.perf_counter() - start)
        return Scored(tuple(found[name] for name in names), time.perf_counter() - start)

    def _counted(self, text: str, names: Sequence[str], seed: int) -> dict[str, Score]:
        """What the network would be counted at, by the space's formulas; nothing where they cannot say."""
        if not names:
            return {}
        start = time.perf_counter()
        architecture = self.space.parse(text)
        try:
            counts = self.space.counts(architecture, self.task)
        except ForeseeError:
            return {}
        blank = Score("", None, seed=seed, repeats=self.settings.repeats)
        blank = replace(blank, spread=None if blank.repeats == 1 else 0.0, seconds=time.perf_counter() - start)
        return {name: replace(blank, proxy=name, value=float(getattr(counts, COUNTED[name]))) for name in names}


def _joined(names: Sequence[str], first: Scored, second: Scored) -> Scored:
    """What two ways gave of one architecture, in the order of the proxies."""
    error = first.error or second.error
    seconds = first.seconds + second.seconds
    if error is not None:
        return Scored(error=error, seconds=seconds)
    found = {one.proxy: one for one in (*first.scores, *second.scores)}
    return Scored(tuple(found[name] for name in names), seconds, stacked=first.stacked)


def scorer_of(
    space: str | Space[Any],
    settings: ScoringSettings,
    *,
    space_settings: Mapping[str, Any] | None = None,
    data: Data | None = None,
    formulas: bool = False,
) -> Scorer:
    """The scorer that the settings ask for: one that trains a little first lives further up the house, and is found by name.

    >>> type(scorer_of("nasbench201", ScoringSettings())).__name__
    'Scorer'
    >>> type(scorer_of("nasbench201", ScoringSettings(warmup="10%"))).__name__
    'WarmScorer'
    """
    kind: type[Scorer] = find("foresee.supernets.warm", "WarmScorer") if settings.warms else Scorer
    return kind(space, settings, space_settings=space_settings, data=data, formulas=formulas)
