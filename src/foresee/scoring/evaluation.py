"""Scoring one candidate: what a worker does, in any process.

A score is a function of the architecture and the settings alone: weights and draws come from the run's seed, the same for
all candidates of a run, so that candidates are compared under equal luck and nothing depends on order or on who worked.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torch import nn

from foresee import data as data_room
from foresee.batch import Batch
from foresee.data import Data
from foresee.devices import threads
from foresee.proxies import base as proxies_base
from foresee.proxies.base import Proxy, Score
from foresee.scoring.one import scores
from foresee.scoring.settings import SearchSettings
from foresee.seeds import derive
from foresee.spaces.base import Space
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import get as get_space
from foresee.task import Task


@dataclass(frozen=True)
class Scored:
    """What comes back for one candidate."""

    scores: tuple[Score, ...]
    seconds: float

    @property
    def steering(self) -> Score:
        """The score that steers the search."""
        return self.scores[0]


class Evaluation:
    """From the text of an architecture to its scores. Picklable: each worker prepares its own space, data and batches.

    `given` holds a space, data or batches handed over in Python, which no settings can describe.
    """

    def __init__(
        self, settings: SearchSettings, given_space: Space[Any] | None = None, given_data: Data | None = None
    ) -> None:
        self.settings, self._given_space, self._given_data = settings, given_space, given_data

    def __getstate__(self) -> dict[str, Any]:
        return {key: self.__dict__[key] for key in ("settings", "_given_space", "_given_data")}

    @cached_property
    def space(self) -> Space[Any]:
        """The space searched in."""
        if self._given_space is not None:
            return self._given_space
        settings = dict(self.settings.space_settings)
        if ":" in self.settings.space:
            settings.setdefault("task", self.task.to_json())  # an own space may build for a task: let it know which
        return get_space(self.settings.space, **settings)

    @cached_property
    def data(self) -> Data:
        """The data the proxies look at, in the shape the networks take."""
        if self._given_data is not None:
            return self._given_data
        own = data_room.load(self.settings.data)
        if self.settings.inputs is None and self.settings.outputs is None:
            return own
        return data_room.load(self.settings.data, task=self._fitted(own.task))

    @cached_property
    def task(self) -> Task:
        """What the networks are built for."""
        return self._fitted(self.data.task)

    def _fitted(self, task: Task) -> Task:
        """The data's task with what the settings ask for instead."""
        inputs, outputs = self.settings.inputs or task.inputs, self.settings.outputs or task.outputs
        return replace(task, inputs=inputs, outputs=outputs)

    @cached_property
    def proxies(self) -> list[Proxy]:
        """The proxies asked for, the steering one first."""
        return [proxies_base.get(name, self.settings.proxy_settings.get(name)) for name in self.settings.proxies]

    @cached_property
    def groups(self) -> list[tuple[list[Proxy], list[Batch]]]:
        """Proxies that want the same amount of data, with that data: the same batches for all candidates.

        A score must not depend on which other proxies were asked for, so a proxy never gets more data than it wants by
        itself; those that want alike share their passes.
        """
        wanted: dict[tuple[int, int], list[Proxy]] = {}
        for proxy in self.proxies:
            size = self.settings.batch_size or proxy.needs.batch
            wanted.setdefault((proxy.needs.batches, size), []).append(proxy)
        return [
            (group, self.data.batches(count, size, seed=self.settings.seed)) for (count, size), group in wanted.items()
        ]

    def scores(self, network: nn.Module) -> dict[str, Score]:
        """All proxies of one network, in the order they were asked for."""
        found: dict[str, Score] = {}
        for group, batches in self.groups:
            found |= scores(
                network,
                batches,
                group,
                seed=self.settings.seed,
                repeats=self.settings.repeats,
                device=self.settings.device,
            )
        return {proxy.full_name: found[proxy.full_name] for proxy in self.proxies}

    @property
    def weights_seed(self) -> int:
        """From which every candidate's weights are drawn."""
        return derive(self.settings.seed, "weights")

    def candidate(self, text: str, **details: Any) -> Candidate:
        """The candidate with this text, able to build its network."""
        return Candidate(self.space, self.space.parse(text), self.task, {"weights_seed": self.weights_seed, **details})

    def __call__(self, text: str) -> Scored:
        """Build the network of this text and score it."""
        start = time.perf_counter()
        with threads(self.settings.threads):
            found = self.scores(self.candidate(text).build())
        return Scored(tuple(found.values()), time.perf_counter() - start)
