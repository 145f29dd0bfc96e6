"""A course of training steps: which batch is which step, what is kept on the way, and how it is gone on with.

The batch of step k is number k of the epochs that the seed draws, what else a step needs comes from its number too (see
`training.steps`), and losses are averaged over windows that the number of steps alone decides. So a course that is killed and
gone on with ends bit for bit (on a CPU) as one that was never stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from foresee.batch import Batch
from foresee.data import Data
from foresee.errors import RunError, SettingsMismatchError
from foresee.runs.events import Announcer, Event
from foresee.seeds import derive
from foresee.task import Task
from foresee.training import checkpoints
from foresee.training.keeping import differences
from foresee.training.recipe import Recipe
from foresee.training.steps import Training

#: how many mean losses are kept of a course
WINDOWS = 50
#: seconds between two checkpoints, at least
BETWEEN = 20.0


@dataclass(frozen=True)
class Course:
    """So many steps over a data set by a recipe. The schedule is the recipe's, stretched or shrunk to the steps.

    Args:
        data: what is learnt from, with labels.
        recipe: all values.
        steps: how many optimiser steps.
        seed: decides the order of samples and all draws.
    """

    data: Data
    recipe: Recipe
    steps: int
    seed: int = 0

    @property
    def size(self) -> int:
        """Samples of a step: as the recipe says, or all there are."""
        return min(self.recipe.batch, self.data.epoch_samples)

    @property
    def epoch_steps(self) -> int:
        """Steps of one epoch; samples that do not fill a batch wait for the next."""
        return self.data.steps(self.size, drop_last=True)

    @property
    def window(self) -> int:
        """Steps that one mean loss is of."""
        return max(1, self.steps // WINDOWS)

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """The batches of the steps from `start` on."""
        number, place = divmod(start, self.epoch_steps)
        left = self.steps - start
        seed = derive(self.seed, "order")
        while left > 0:
            for batch in self.data.epoch(self.size, seed=seed, number=number, drop_last=True, start=place):
                if not left:
                    return
                left -= 1
                yield batch
            number, place = number + 1, 0

    def training(self, network: nn.Module, task: Task, device: torch.device | str = "cpu") -> Training:
        """The network's training, at its first step."""
        per_epoch = max(1, -(-self.steps // self.recipe.epochs))
        images = self.data.normalise is not False and not task.vocabularies and task.tokens is None
        statistics = self.data.statistics if images and self.recipe.augments else None
        how: dict[str, Any] = {"seed": self.seed, "device": device, "task": task, "statistics": statistics}
        return Training(network, self.recipe, steps=self.steps, per_epoch=per_epoch, **how)

    @property
    def facts(self) -> dict[str, Any]:
        """All that decides it, as plain values."""
        return {
            "data": self.data.fingerprint,
            "recipe": self.recipe.to_json(),
            "steps": self.steps,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Place:
    """Where a course is kept: `name.safetensors` and `name.json` in a folder, written at least `between` seconds apart."""

    folder: Path
    name: str
    between: float = BETWEEN

    def begin(self, said: Mapping[str, Any], resume: bool) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """What is kept there, if it is to be gone on with: of the same course, or it is refused."""
        if not checkpoints.exists(self.folder, self.name):
            return None
        if not resume:
            raise RunError(
                f"{self.folder} holds a checkpoint {self.name!r} already: say resume=True to go on with it, or name another "
                "folder"
            )
        tensors, facts = checkpoints.read(self.folder, self.name)
        there = {key: facts.get(key) for key in said}
        kept = there.get("recipe")
        if isinstance(kept, Mapping):  # one from before a recipe had all its values
            there["recipe"] = json.loads(json.dumps(Recipe.from_json(kept, where=self.name).to_json()))
        wrong = differences(said, there)
        if wrong:
            raise SettingsMismatchError(
                f"{self.folder / self.name}.json is of another training: {_cut('; '.join(wrong))}"
            )
        return tensors, facts

    def keep(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Write a checkpoint."""
        checkpoints.write(self.folder, self.name, tensors, facts)


def _cut(text: str, most: int = 600) -> str:
    """As much as a message can hold: a click log has hundreds of vocabularies."""
    return text if len(text) <= most else f"{text[:most]}..."


def follow(
    course: Course,
    training: Training,
    *,
    said: Mapping[str, Any] | None = None,
    before: Callable[[int], None] | None = None,
    place: Place | None = None,
    resume: bool = False,
    announce: Announcer | None = None,
    name: str = "training",
) -> list[float]:
    """Take all steps of a course, or those that are left; returns the mean loss of each window.

    Args:
        course: what to do.
        training: what does it.
        said: what else decides the outcome, kept with the checkpoint and compared when it is gone on with.
        before: called with each step's number before it is taken: sets a supernet to a path.
        place: where to keep it; None: nowhere.
        resume: go on with what is kept there.
        announce: told after each window.
        name: of the bar.
    """
    decided = json.loads(json.dumps({**course.facts, **(said or {})}))  # as it is read again
    losses: list[float] = []
    found = None if place is None else place.begin(decided, resume)
    if found is not None:
        tensors, facts = found
        losses = [float(one) for one in facts["losses"]]
        if facts["finished"]:
            load_finished(training.network, tensors)
            return losses
        training.restore(tensors, facts)
    total: Tensor | None = None
    kept = time.monotonic()
    for batch in course.batches(training.number):
        if before is not None:
            before(training.number)
        result = training.step(batch)
        total = result.loss if total is None else total + result.loss
        done = training.number
        if done % course.window and done < course.steps:
            continue
        losses.append(float(total) / (done - (done - 1) // course.window * course.window))
        total = None
        if announce is not None:
            details = {"name": name, "step": done, "steps": course.steps, "replayed": False}
            announce(Event("step", done, course.steps, details={**details, "loss": losses[-1], "rate": result.rate}))
        if place is not None and done < course.steps and time.monotonic() - kept >= place.between:
            place.keep(training.tensors(), {**decided, **training.facts(), "losses": losses, "finished": False})
            kept = time.monotonic()
    training.check()
    training.optimiser.zero_grad(set_to_none=True)
    if place is not None:  # what an optimiser remembers is of no use any more
        weights = {key: value for key, value in training.tensors().items() if key.startswith("network.")}
        place.keep(weights, {**decided, **training.facts(), "losses": losses, "finished": True})
    return losses


def load_finished(network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put the weights of a checkpoint into a network."""
    from foresee.training.steps import load_weights

    load_weights(network, {key.removeprefix("network."): one for key, one in tensors.items() if key[:8] == "network."})
