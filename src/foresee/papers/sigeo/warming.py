"""Networks that are warmed up by themselves and scored after several levels of one training; scores are kept as they come."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from torch import nn

from foresee.devices import threads
from foresee.errors import TrainingError
from foresee.papers.workshop import Workshop
from foresee.proxies.base import Score
from foresee.runs import engines
from foresee.runs.events import Announcer, Event
from foresee.scoring.cache import Cache
from foresee.scoring.keys import Keys
from foresee.scoring.scorer import Scorer
from foresee.scoring.versions import code
from foresee.seeds import derive
from foresee.training.recipe import Recipe
from foresee.training.steps import Training

#: by level and proxy: the scores of every network under every seed, [repeat][network]
Levels: TypeAlias = dict[tuple[int, str], list[list[Score]]]

#: the code that trains: scores that another one made are made again
TRAINED = "foresee.training.steps"
#: a level is a share of so many samples. The paper does not say how a network is warmed up: here as NAS-Bench-201 trains,
#: without augmentation
WARM_UP: dict[str, Any] = {
    "levels": (0, 10, 20, 40),
    "samples": 50_000,
    "batch": 128,
    "lr": 0.1,
    "momentum": 0.9,
    "weight_decay": 5e-4,
}


@dataclass(frozen=True)
class Descent:
    """How networks are warmed up: gradient descent, at a rate that stays, to so many steps for each level.

    >>> Descent.of(WARM_UP).steps
    (0, 39, 78, 156)
    """

    levels: tuple[int, ...]
    steps: tuple[int, ...]
    recipe: Recipe

    @classmethod
    def of(cls, own: Mapping[str, Any]) -> Descent:
        """From settings like `WARM_UP`: a level in per cent of the samples is so many steps."""
        levels = tuple(own["levels"])
        values = {key: own[key] for key in ("batch", "lr", "momentum", "weight_decay")}
        recipe = Recipe.of(optimiser="sgd", schedule="constant", **values)
        return cls(levels, tuple(round(level / 100 * own["samples"] / recipe.batch) for level in levels), recipe)


class Warming:
    """The work of an engine: from the text of an architecture and a seed to its scores after each level. Picklable.

    Every network is warmed up by itself.
    """

    way = "alone"

    def __init__(self, scorer: Scorer, descent: Descent) -> None:
        self.scorer, self.descent, self.levels = scorer, descent, descent.levels

    def __getstate__(self) -> dict[str, Any]:
        return {key: self.__dict__[key] for key in ("scorer", "descent", "levels")}

    @property
    def device(self) -> str:
        """Where it trains; an engine gives its workers cards by this."""
        return self.scorer.device

    def __call__(self, job: tuple[str, int]) -> list[list[Score]]:
        """Level by level, in the order of the scorer's proxies; after a training that failed, the reason."""
        text, seed = job
        found: list[list[Score]] = []
        with threads(self.scorer.settings.threads):
            try:
                for network in self.networks(text, seed):
                    found.append(self.scorer.of_network(network, seed=seed))  # noqa: PERF401 - what came before an error stays
            except TrainingError as error:
                ways = self.scorer.proxies.values()
                lost = [Score(one.full_name, None, "nan", str(error), one.direction, seed=seed) for one in ways]
                found += [lost] * (len(self.levels) - len(found))
        return found

    def networks(self, text: str, seed: int) -> Iterator[nn.Module]:
        """The network after each level: one training, looked at on its way.

        It starts with the weights it is scored with at initialisation, so level 0 is the score without warm-up.
        """
        data, recipe, steps = self.scorer.data, self.descent.recipe, max(self.descent.steps)
        order = derive(seed, "warm-up")
        training = Training(
            self.scorer.candidate(text, seed).build(),
            recipe,
            steps=steps,
            per_epoch=max(1, steps),
            seed=order,
            device=self.scorer.settings.device,
            task=self.scorer.task,
        )
        for goal in self.descent.steps:
            while training.number < goal:
                training.step(data.batch(recipe.batch, seed=order, index=training.number))
            training.check()
            training.optimiser.zero_grad()  # a look expects no gradients that were left behind
            yield training.network

    @cached_property
    def _cold(self) -> Keys:
        return Keys(self.scorer)

    def key(self, job: tuple[str, int], place: int, name: str) -> str:
        """Under which key a score after warm-up is kept: all that it depends on without it, and the warm-up."""
        text, seed = job
        how = json.dumps([self.way, self.descent.steps[place], self.descent.recipe.to_json(), code(TRAINED)])
        return hashlib.sha256(f"warmed up\n{self._cold(text, name, seed)}\n{how}".encode()).hexdigest()


def warmed(workshop: Workshop, work: Warming, texts: Sequence[str]) -> Levels:
    """The scores of the networks after each level, under the workshop's seeds.

    All scores of a network are kept in the workshop's cache when it is done: a run that was stopped goes on with the next.
    """
    names, seeds = list(work.scorer.proxies), range(workshop.seed, workshop.seed + workshop.repeats)
    jobs = [(text, seed) for seed in seeds for text in dict.fromkeys(texts)]
    places = [(place, name) for place in range(len(work.levels)) for name in names]
    wanted = {job: [work.key(job, *place) for place in places] for job in jobs}
    announce = Announcer(workshop.observers)
    with Cache(workshop.cache) as cache, engines.make(workshop.engine, work, workshop.workers) as engine:
        known = cache.get(key for row in wanted.values() for key in row)
        todo = [job for job in jobs if any(key not in known for key in wanted[job])]
        done = len(jobs) - len(todo)
        announce(Event("resumed" if done else "started", done, len(jobs), details={"kept": done}))
        for ticket, job in enumerate(todo):
            engine.submit(ticket, job)
        for _ in todo:
            outcome = engine.wait()
            job = todo[outcome.job]
            if outcome.error is None:
                scores = [one for row in outcome.value for one in row]
            else:  # this network's fate alone, and tried again by the next run
                scores = [Score(name, None, "failed", outcome.error, seed=job[1]) for _, name in places]
            found = dict(zip(wanted[job], scores, strict=True))
            cache.put(job[0], found)
            known |= found
            done += 1
            details = {"architecture": job[0], "seed": job[1], "reason": outcome.error or ""}
            announce(Event("failed" if outcome.error else "scored", done, len(jobs), outcome.job, details))
        announce(Event("finished", done, len(jobs)))
    return {
        (work.levels[place], name): [[known[work.key((text, seed), place, name)] for text in texts] for seed in seeds]
        for place, name in places
    }
