"""The problem a searcher is to solve: all it may know and ask, in one place.

A searcher imports no table, no data set and no proxy: it asks its problem for costs, scores, a one-shot network, batches or
measured values, and whatever it gets depends on the settings and the seed alone.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from foresee.batch import Batch
from foresee.budgets import QUANTITIES, Clock, Costs, Limits
from foresee.data import Data, Synthetic
from foresee.devices import threads, usable
from foresee.errors import InputError, UnknownNameError, UnsupportedError, said
from foresee.proxies.base import Score
from foresee.runs.record import Objective
from foresee.scoring.cache import Cache
from foresee.scoring.keys import Keys
from foresee.scoring.one import scores
from foresee.scoring.scorer import Job, Scored, Scorer
from foresee.seeds import derive, stream
from foresee.spaces.base import Space
from foresee.spaces.one_shot import OneShot
from foresee.task import Task

#: from the texts of architectures to what was measured of them, more is better, None where nothing was
Measured = Callable[[Sequence[str]], Sequence[float | None]]
#: of so many architectures the costs are in hand
KEPT_COSTS = 1024
#: the objective that is what was measured
MEASURED = "measured"
NOTHING_MEASURED = (
    "this search needs measured values, and none were handed over (measured=..., or --table and --target)"
)


class Known:
    """What was measured, by text: `Measured` as a mapping is handed over."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    @property
    def fingerprint(self) -> str:
        """Tells these values from others."""
        return hashlib.sha256(repr(sorted(self._values.items())).encode()).hexdigest()[:16]

    def holds(self, text: str) -> bool:
        """Whether something was measured of an architecture."""
        return text in self._values

    def __call__(self, texts: Sequence[str]) -> list[float | None]:
        """The value of each architecture."""
        return [self._values.get(text) for text in texts]


class Levels:
    """What was measured with more and more effort, the cheapest first, each as it would be handed over alone.

    The last one is what a search follows; searchers that look at many cheaply first (`successive_halving`) ask the others.

    >>> epochs = Levels({"12 epochs": {"a": 80.0, "b": 70.0}, "200 epochs": {"a": 93.0, "b": 94.0}})
    >>> epochs(["a", "b"]), epochs.levels["12 epochs"](["b"])
    ([93.0, 94.0], [70.0])
    """

    def __init__(self, levels: Mapping[str, Mapping[str, float] | Measured]) -> None:
        if not levels:
            raise InputError("levels of what was measured: there is none")
        made = {name: Known(one) if isinstance(one, Mapping) else one for name, one in levels.items()}
        self._dearest: Any = made.pop(list(made)[-1])
        self.levels: dict[str, Measured] = made

    @property
    def fingerprint(self) -> str:
        """Tells these values from others."""
        parts = [getattr(one, "fingerprint", "a function") for one in (*self.levels.values(), self._dearest)]
        return ",".join(parts)

    def holds(self, text: str) -> bool:
        """Whether something was measured of an architecture with the greatest effort."""
        holds = getattr(self._dearest, "holds", None)
        return holds is None or bool(holds(text))

    def __call__(self, texts: Sequence[str]) -> Sequence[float | None]:
        """The value of each architecture, with the greatest effort."""
        found: Sequence[float | None] = self._dearest(texts)
        return found


@dataclass
class Problem:
    """What is searched, under which limits, for which objectives; and a way to look at architectures.

    Args:
        scorer: scores architectures of the space; space, task, data, device and seed are its own.
        limits: what an architecture may cost; nothing outside is ever scored.
        objectives: what is followed, and which way is better; the first one ranks.
        evaluations: how many candidates may be scored.
        clock: measures latency, or sums it from a table.
        memory_batch: samples per batch that a limit on memory is for.
        measure: what was measured of architectures, where somebody handed that over.
        gather: scores several architectures; a run puts its engine here.
        cache: scores already computed, and where those that a searcher asks for are kept; none: in no file.
        folder: of the run, where a searcher may keep what is too much for its store (weights); none: it lives in memory.

    >>> from foresee.scoring import Scorer, ScoringSettings
    >>> problem = Problem(Scorer("nasbench201", ScoringSettings(proxies=("params",))))
    >>> cell = problem.space.parse("|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|")
    >>> problem.costs(cell)["params"], problem.scores([cell], ["params"])[0]["params"].value
    (344346.0, 344346.0)
    """

    scorer: Scorer
    limits: Limits = field(default_factory=Limits)
    objectives: tuple[Objective, ...] = ()
    evaluations: int = 1
    clock: Clock = field(default_factory=Clock)
    memory_batch: int = 1
    measure: Measured | None = None
    gather: Callable[[Sequence[str], Sequence[str], int, Mapping[str, Any]], Sequence[Scored]] | None = None
    cache: Cache | None = None
    folder: Path | None = None
    _costs: dict[str, Costs] = field(default_factory=dict, init=False, repr=False)
    _known: dict[str, dict[str, float]] = field(default_factory=dict, init=False, repr=False)
    _keys: dict[Scorer, Keys] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.objectives:
            self.objectives = objectives_of((), self.scorer)
        if self.measure is None and any(one.name == MEASURED for one in self.objectives):
            raise UnsupportedError(NOTHING_MEASURED)

    @property
    def space(self) -> Space[Any]:
        """Where architectures come from."""
        return self.scorer.space

    @property
    def task(self) -> Task:
        """What networks are built for."""
        return self.scorer.task

    @property
    def data(self) -> Data:
        """What is looked at."""
        return self.scorer.data

    @property
    def device(self) -> str:
        """Where networks are looked at."""
        return self.scorer.settings.device

    @property
    def seed(self) -> int:
        """Decides everything that is random."""
        return self.scorer.settings.seed

    def stream(self, *use: int | str) -> random.Random:
        """Random numbers for one use."""
        return stream(self.seed, *use)

    # -- looking ------------------------------------------------------------------------------------------------------
    def costs(self, architecture: Any) -> Costs:
        """What an architecture costs, each quantity found once."""
        text = str(architecture)
        found = self._costs.get(text)
        if found is None:
            known = dict(self._known.get(text, {}))
            found = Costs(self.space, architecture, self.task, self.memory_batch, self.clock, known)
            self._costs[text] = found
            if len(self._costs) > KEPT_COSTS:  # the oldest: who is asked about it again counts it again
                del self._costs[next(iter(self._costs))]
        return found

    def recall(self, costs: Mapping[str, Mapping[str, float]]) -> None:
        """What architectures were found to cost before, by text: saves finding it again when a run is replayed.

        It takes the place of what was recalled last.
        """
        self._known = {text: dict(of) for text, of in costs.items()}

    def scores(
        self,
        architectures: Sequence[Any],
        proxies: Sequence[str] | None = None,
        seed: int | None = None,
        space_settings: Mapping[str, Any] | None = None,
    ) -> list[dict[str, Score]]:
        """The scores of architectures by any proxies (by default those of the run); a failure is a score with its reason.

        `space_settings` are settings of the space that differ from the run's: narrower networks, for instance.
        """
        names = tuple(self.scorer.proxy(name).full_name for name in proxies or self.scorer.settings.proxies)
        chosen, texts = self.seed if seed is None else seed, [str(one) for one in architectures]
        changed = dict(space_settings or {})
        key = self._key_maker(self.scorer.other(changed))
        known = self._cached(texts, names, chosen, key)
        missing = list(dict.fromkeys(text for text in texts if len(known.get(text, {})) < len(names)))
        found = (self.gather or self._here)(missing, names, chosen, changed) if missing else ()
        for text, one in zip(missing, found, strict=True):
            known[text] = self.complete(one, names, chosen)
            if self.cache is not None:
                self.cache.put(text, {key(text, name, chosen): score for name, score in known[text].items()})
        return [{name: known[text][name] for name in names} for text in texts]

    def _cached(self, texts: Sequence[str], names: Sequence[str], seed: int, key: Keys) -> dict[str, dict[str, Score]]:
        """What the cache knows, by text and proxy."""
        found: dict[str, dict[str, Score]] = {}
        if self.cache is not None:
            asked = {key(text, name, seed): (text, name) for text in texts for name in names}
            for found_key, score in self.cache.get(asked).items():
                text, name = asked[found_key]
                found.setdefault(text, {})[name] = score
        return found

    def _key_maker(self, scorer: Scorer) -> Keys:
        """Under which keys the scores of a scorer are kept."""
        if scorer not in self._keys:
            self._keys[scorer] = Keys(scorer)
        return self._keys[scorer]

    def complete(self, scored: Scored, names: Sequence[str], seed: int) -> dict[str, Score]:
        """Scores by name; where there are none, the reason by every proxy."""
        if scored.error is None:
            return {one.proxy: one for one in scored.scores}
        ways = {name: self.scorer.proxy(name).direction for name in names}
        return {name: Score(name, None, "failed", scored.error, way, seed=seed) for name, way in ways.items()}

    def _here(
        self, texts: Sequence[str], names: Sequence[str], seed: int, space_settings: Mapping[str, Any]
    ) -> Sequence[Scored]:
        return self.scorer(Job(tuple(texts), tuple(names), seed, tuple(space_settings.items())))

    def scores_of(
        self,
        network: nn.Module,
        proxies: Sequence[str] | None = None,
        seed: int | None = None,
        *,
        batches: Sequence[Batch] = (),
        initialise: str | None = None,
    ) -> dict[str, Score]:
        """The scores of a network that is there (a one-shot network under some weights), by any proxies; else as `scores`.

        It is looked at where it is, not by the engine. `batches` are looked at instead of those that the seed draws, by
        weights that `initialise` draws from the seed.
        """
        wanted = [self.scorer.proxy(name) for name in proxies or self.scorer.settings.proxies]
        names, chosen = [one.full_name for one in wanted], self.seed if seed is None else seed
        with threads(self.scorer.settings.threads):
            try:
                if not batches:
                    return dict(zip(names, self.scorer.of_network(network, names, chosen), strict=True))
                how: dict[str, Any] = {"device": self.device, "initialise": initialise, "memory": math.inf}
                return dict(scores(network, list(batches), wanted, seed=chosen, **how))
            except (Exception, SystemExit) as error:  # a stranger's network may raise anything
                return self.complete(Scored(error=said(error)), names, chosen)

    def batches(self, count: int, size: int, seed: int | None = None) -> list[Batch]:
        """What proxies look at."""
        return self.data.batches(count, size, seed=self.seed if seed is None else seed)

    def noise(self, size: int, number: int) -> Batch:
        """Batch `number` of noise in the shape of the data: standard normal inputs, labels uniform over the outputs."""
        return Synthetic(self.task).batch(size, seed=derive(self.seed, "noise"), index=number)

    def one_shot(self, task: Task | None = None, **options: Any) -> OneShot[Any]:
        """All architectures in one module, for the task or another; its weights are drawn from the seed alone."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(self.seed, "weights"))
            return self.space.one_shot(task or self.task, **options).to(usable(self.device))

    def measured(self, architectures: Sequence[Any], level: str = "") -> list[float | None]:
        """What was measured of architectures (accuracies of a table, say); None where nothing was.

        `level` is one of the cheaper `levels`; by default the dearest, which the objective `measured` is.
        """
        if self.measure is None:
            raise UnsupportedError(NOTHING_MEASURED)
        if level and level not in self.levels:
            raise UnknownNameError("level of what was measured", level, self.levels)
        measure = getattr(self.measure, "levels", {})[level] if level else self.measure
        return list(measure([str(one) for one in architectures]))

    @property
    def levels(self) -> tuple[str, ...]:
        """What was measured with less effort (after fewer epochs, say), the cheapest first; mostly there is nothing."""
        return tuple(getattr(self.measure, "levels", ()))

    def measurable(self, architecture: Any) -> bool:
        """Whether a search for what was measured has a use for it: a table that does not hold it never will."""
        holds = getattr(self.measure, "holds", None)
        return holds is None or all(one.name != MEASURED for one in self.objectives) or holds(str(architecture))

    # -- objectives ---------------------------------------------------------------------------------------------------
    @property
    def recorded(self) -> list[str]:
        """The costs that are kept of every candidate."""
        costs = [one.name for one in self.objectives if self.is_cost(one)]
        return list(dict.fromkeys(["params", "macs", *self.limits.quantities, *costs]))

    def values(self, text: str, scores: Mapping[str, Score], costs: Mapping[str, float]) -> dict[str, float]:
        """The value of every objective that has one, of the architecture with this text."""
        found: dict[str, float | None] = {}
        for one in self.objectives:
            if one.name == MEASURED:
                (found[one.name],) = self.measured([text])
            else:
                found[one.name] = costs.get(one.name) if self.is_cost(one) else scores[one.name].value
        return {name: float(value) for name, value in found.items() if value is not None}

    def missing(self, values: Mapping[str, float], scores: Mapping[str, Score]) -> str:
        """Why an objective has no value, in words; "" where all have."""
        for one in self.objectives:
            if one.name in values:
                continue
            if one.name not in scores:
                return "nothing was measured of it" if one.name == MEASURED else f"{one.name} cannot be found"
            return f"{one.name}: {scores[one.name].status} ({scores[one.name].reason})"
        return ""

    def is_cost(self, objective: Objective) -> bool:
        """Whether it is a cost, which depends on no seed, and not a proxy of the same name."""
        return objective.name in QUANTITIES and objective.direction == "lower"


def objectives_of(names: Sequence[str], scorer: Scorer) -> tuple[Objective, ...]:
    """What the names mean: `measured` is what was measured, more is better; the name of a cost is that cost, less is
    better; any other is a proxy of the scorer. By default the steering proxy, whatever its name.
    """
    if not names:
        steering = next(iter(scorer.proxies.values()))
        return (Objective(steering.full_name, steering.direction),)
    found = []
    for name in names:
        if name == MEASURED:
            found.append(Objective(name, "higher"))
        elif name in QUANTITIES:
            found.append(Objective(name, "lower"))
        elif name in scorer.proxies:
            found.append(Objective(name, scorer.proxies[name].direction))
        else:
            raise UnknownNameError("objective", name, [*scorer.proxies, MEASURED, *QUANTITIES])
    return tuple(found)
