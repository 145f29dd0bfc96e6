"""Warm-up: a little training before looking, as a level from 0 % (as initialised) to 100 % (one-shot).

A level is a share of all samples that the recipe's training would see, in optimiser steps; the recipe's schedule is shrunk to
them. The usual recipe is one pass over the data, so that 10 % are literally 10 % of the training samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from foresee.data import Data
from foresee.quantities import format_share, parse_share
from foresee.runs.events import Announcer
from foresee.seeds import derive
from foresee.supernets.course import Course, follow
from foresee.supernets.level import stated_steps, steps_of
from foresee.supernets.recipes import WARMUP
from foresee.supernets.words import in_words
from foresee.task import Task
from foresee.training.recipe import Recipe
from foresee.training.recipe import recipe as recipe_of


@dataclass(frozen=True)
class Warmup:
    """What is trained before looking.

    Args:
        share: the level, from 0 to 1.
        recipe: all values of the training.
        data: what is learnt from.
        by: `supernet` or `network`.
    """

    share: float
    recipe: Recipe
    data: Data
    by: str = "network"

    @property
    def steps(self) -> int:
        """Optimiser steps."""
        return steps_of(self.share, self.data, self.recipe)

    @property
    def facts(self) -> dict[str, Any]:
        """What is recorded with a run."""
        size = min(self.recipe.batch, self.data.epoch_samples)
        stated = stated_steps(self.share, self.data, self.recipe)
        return {
            "level": format_share(self.share),
            "by": self.by,
            "steps": self.steps,
            **({"stated_steps": stated} if stated != self.steps else {}),
            "samples": self.steps * size,
            "of": self.data.epoch_samples,
            "recipe": self.recipe.to_json(),
            "data": self.data.fingerprint,
        }

    @property
    def words(self) -> str:
        """The same in a sentence."""
        return in_words(self.facts)


def warmed(
    network: nn.Module,
    data: Data,
    level: str | float,
    *,
    recipe: str | Path | Recipe = WARMUP,
    seed: int = 0,
    device: torch.device | str = "cpu",
    task: Task | None = None,
) -> nn.Module:
    """The network itself after so much training from the weights it has; at 0 % nothing is touched.

    >>> from foresee.data import Synthetic
    >>> data = Synthetic(Task((4,), 3))
    >>> network = nn.Linear(4, 3)
    >>> before = network.weight.clone()
    >>> torch.equal(warmed(network, data, "0%").weight, before), torch.equal(warmed(network, data, "10%").weight, before)
    (True, False)
    """
    chosen = recipe_of(recipe)
    steps = steps_of(parse_share(level), data, chosen)
    if not steps:
        return network
    mode = network.training
    course = Course(data, chosen, steps, derive(seed, "warmup"))
    follow(course, course.training(network, task or data.task, device), announce=Announcer())
    return network.train(mode)
