"""Networks that are warmed up by themselves and scored after several levels of one training; scores are kept as they come."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
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
from foresee.seeds import derive
from foresee.training.recipe import Recipe
from foresee.training.steps import Training

#: by level and proxy: the scores of every network under every seed, [repeat][network]
Levels: TypeAlias = dict[tuple[int, str], list[list[Score]]]

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
    """How a network is warmed up: gradient descent, at a rate that stays, to the given numbers of steps.

    >>> Descent.of(WARM_UP).steps
    (0, 39, 78, 156)
    """

    steps: tuple[int, ...]
    batch: int
    lr: float
    momentum: float
    weight_decay: float

    @classmethod
    def of(cls, own: Mapping[str, Any]) -> Descent:
        """From settings like `WARM_UP`: a level in per cent of the samples is so many steps."""
        steps = tuple(round(level / 100 * own["samples"] / own["batch"]) for level in own["levels"])
        return cls(steps, own["batch"], own["lr"], own["momentum"], own["weight_decay"])

    @property
    def recipe(self) -> Recipe:
        """The same as a recipe."""
        return Recipe(
            optimiser="sgd",
            schedule="constant",
            batch=self.batch,
            lr=self.lr,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
        )


class Warming:
    """The work of an engine: from the text of an architecture and a seed to its scores after each level. Picklable."""

    def __init__(self, scorer: Scorer, descent: Descent) -> None:
        self.scorer, self.descent = scorer, descent

    def __call__(self, job: tuple[str, int]) -> list[list[Score]]:
        """Level by level, in the order of the scorer's proxies; after a training that failed, the reason."""
        text, seed = job
        found: list[list[Score]] = []
        with threads(self.scorer.settings.threads):
            try:
                for network in self.levels(text, seed):
                    found.append(self.scorer.of_network(network, seed=seed))  # noqa: PERF401 - what came before an error stays
            except TrainingError as error:
                ways = self.scorer.proxies.values()
                lost = [Score(one.full_name, None, "nan", str(error), one.direction, seed=seed) for one in ways]
                found += [lost] * (len(self.descent.steps) - len(found))
        return found

    def levels(self, text: str, seed: int) -> Iterator[nn.Module]:
        """The network after each level: one training, looked at on its way.

        It starts with the weights it is scored with at initialisation, so level 0 is the score without warm-up.
        """
        data, how = self.scorer.data, self.descent
        order, steps = derive(seed, "warm-up"), max(how.steps)
        training = Training(
            self.scorer.candidate(text, seed).build(),
            how.recipe,
            steps=steps,
            per_epoch=max(1, steps),
            seed=order,
            device=self.scorer.settings.device,
            task=self.scorer.task,
        )
        for goal in how.steps:
            while training.number < goal:
                training.step(data.batch(how.batch, seed=order, index=training.number))
            training.check()
            training.optimiser.zero_grad()  # a look expects no gradients that were left behind
            yield training.network


def warmed(workshop: Workshop, scorer: Scorer, texts: Sequence[str], own: Mapping[str, Any]) -> Levels:
    """The scores of the networks after each level of `own` (settings like `WARM_UP`), under the workshop's seeds.

    All scores of a network are kept in the workshop's cache when it is done: a run that was stopped goes on with the next.
    """
    descent, names = Descent.of(own), list(scorer.proxies)
    levels, seeds = list(own["levels"]), range(workshop.seed, workshop.seed + workshop.repeats)
    keys = _keys(scorer, descent)
    jobs = [(text, seed) for seed in seeds for text in dict.fromkeys(texts)]
    places = [(place, name) for place in range(len(levels)) for name in names]
    wanted = {job: [keys(job, *place) for place in places] for job in jobs}
    announce, work = Announcer(workshop.observers), Warming(scorer, descent)
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
        (levels[place], name): [[known[keys((text, seed), place, name)] for text in texts] for seed in seeds]
        for place, name in places
    }


def _keys(scorer: Scorer, descent: Descent) -> Any:
    """Under which key a score after warm-up is kept: all that the score depends on without it, and the warm-up."""
    cold = Keys(scorer)
    ways = [json.dumps({**asdict(descent), "steps": steps}) for steps in descent.steps]

    def key(job: tuple[str, int], place: int, name: str) -> str:
        text, seed = job
        return hashlib.sha256(f"warmed up\n{cold(text, name, seed)}\n{ways[place]}".encode()).hexdigest()

    return key
