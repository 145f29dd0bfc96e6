"""A supernet: the one-shot network of a space, trained, from which every architecture inherits its weights."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import torch
from torch import nn

from foresee.data import Data
from foresee.devices import usable
from foresee.errors import InputError, RunError
from foresee.runs.events import Announcer, Observer
from foresee.seeds import derive
from foresee.spaces.base import Space
from foresee.spaces.find import get
from foresee.supernets import evaluating
from foresee.supernets.course import BETWEEN, Course, Place, follow, load_finished
from foresee.supernets.level import stated_steps, steps_of
from foresee.supernets.recipes import usual_recipe
from foresee.supernets.sampling import Sampler, usual
from foresee.task import Task
from foresee.training import checkpoints
from foresee.training.evaluations import Evaluation
from foresee.training.recipe import Recipe
from foresee.training.recipe import recipe as recipe_of

#: the checkpoint's name
NAME = "supernet"


class Supernet:
    """One set of weights for all networks of a space.

    Args:
        space: a space, or its name.
        task: what goes in and out.
        seed: decides the weights it begins with.
        device: where it lives.
        **form: options of the space's one-shot network: `channels`, `layers`, `partial`, ...

    >>> from foresee.data import Synthetic
    >>> supernet = Supernet("nasbench201", Task((3, 8, 8), 3), channels=4, cells=1)
    >>> supernet.train(Synthetic(Task((3, 8, 8), 3)), steps=2).steps
    2
    >>> cell = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|"
    >>> supernet.inherit(cell)(torch.ones(2, 3, 8, 8)).shape
    torch.Size([2, 3])
    """

    def __init__(
        self, space: str | Space[Any], task: Task, *, seed: int = 0, device: torch.device | str = "cpu", **form: Any
    ) -> None:
        self.space = get(space) if isinstance(space, str) else space
        self.task, self.seed, self.form = task, seed, form
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(seed, "weights"))
            try:
                self.one_shot = self.space.one_shot(task, **form)
            except TypeError as error:
                odd = str(error).partition("argument ")[2].strip("'") or str(error)
                raise InputError(f"the one-shot network of {self.space.name} has no {odd}; leave it out") from error
        self.one_shot.to(usable(device))
        self.steps = 0
        #: mean losses of the training, over equally many steps each
        self.losses: list[float] = []
        self._data: Data | None = None

    # -- training -----------------------------------------------------------------------------------------------------
    def train(
        self,
        data: Data,
        steps: int | None = None,
        share: float | None = None,
        recipe: str | Path | Recipe | None = None,
        *,
        sampler: Sampler | None = None,
        out: str | Path | None = None,
        resume: bool = False,
        observers: Iterable[Observer] = (),
        between: float = BETWEEN,
        name: str = "supernet",
        **changes: Any,
    ) -> Self:
        """Train all paths together, one part of the network a step.

        Args:
            data: what is learnt from, with labels.
            steps: optimiser steps; or
            share: of all samples that the recipe's training would see (0.1: 10 %); by default all of them.
            recipe: a name, a file or a `Recipe`; by default what the space's paper says (see `recipes`).
            sampler: which part a step trains; by default NASRec's any-path for NASRec, uniform draws for all others.
            out: a folder for the checkpoint `supernet.safetensors` with `supernet.json`.
            resume: go on with the checkpoint in `out`, if there is one; it ends as if it had never been stopped.
            observers: called with an `Event` "step" now and then.
            between: seconds between two checkpoints, at least.
            name: what events call it.
            **changes: values of the recipe that are to be others (`batch=32`).
        """
        chosen = recipe_of(usual_recipe(self.space) if recipe is None else recipe, **changes)
        if steps is not None and share is not None:
            raise InputError("supernet: say steps or share, not both")
        whole = stated_steps(1.0, data, chosen) if share is None else steps_of(share, data, chosen)
        count = whole if steps is None else steps
        if count < 0:
            raise InputError(f"supernet: steps = {count}, expected 0 or more")
        course = Course(data, chosen, count, derive(self.seed, "supernet"))
        follows = sampler or usual(self.space, derive(self.seed, "paths"), course.epoch_steps)
        self.one_shot.train()
        self.losses = follow(
            course,
            course.training(self.one_shot, self.task, self.device),
            said={**self.facts, **follows.facts},
            before=lambda step: follows(self.one_shot, step),
            place=None if out is None else Place(Path(out), NAME, between),
            resume=resume,
            announce=Announcer(observers),
            name=name,
        )
        self.steps, self._data = count, data
        return self

    @property
    def device(self) -> torch.device:
        """Where it lives."""
        return next(self.one_shot.parameters()).device

    @property
    def facts(self) -> dict[str, Any]:
        """What it is, as plain values: all that is needed to make it again."""
        return {
            "space": self.space.reference,
            "space_settings": self.space.settings(),
            "form": dict(self.form),
            "task": self.task.to_json(),
            "weights_seed": self.seed,
        }

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        space: Space[Any] | None = None,
        device: torch.device | str = "cpu",
        digest: str | None = None,
    ) -> Self:
        """The supernet whose training was kept in a folder, finished or not.

        Args:
            folder: where `supernet.json` lies.
            space: its space, if that is at hand; by default it is found by its name.
            device: where it is to live.
            digest: the sha256 that its weights must have.
        """
        said = checkpoints.read_facts(Path(folder), NAME)
        if digest is not None and said[checkpoints.DIGEST] != digest:
            raise RunError(f"{folder}: the supernet there is another than the one that was warmed up (another sha256)")
        tensors, facts = checkpoints.read(folder, NAME)
        made = get(facts["space"], **facts["space_settings"]) if space is None else space
        task = Task.from_json(facts["task"])
        found = cls(made, task, seed=facts["weights_seed"], device=device, **facts["form"])
        load_finished(found.one_shot, tensors)
        found.steps, found.losses = facts["step"], facts["losses"]
        return found

    # -- what comes of it ---------------------------------------------------------------------------------------------
    def inherit(self, architecture: Any) -> nn.Module:
        """The stand-alone network of an architecture (or its text), its weights in the supernet's storage.

        It computes, bit for bit, what the supernet computes on the architecture's path; NASRec's does so only at the
        greatest widths, for there layer norms look at all features of the supernet and at the chosen ones of the network.
        """
        return self.one_shot.inherit(self.space.parse(architecture) if isinstance(architecture, str) else architecture)

    def evaluate(
        self, architecture: Any, data: Data, *, like: Data | None = None, batches: int = evaluating.BATCHES
    ) -> Evaluation:
        """Loss and accuracy of an architecture with inherited weights.

        Where it keeps batch statistics, they are estimated again on `batches` of `like` (by default what the supernet was
        trained on, or else `data`), on a copy: the supernet's stay as they are.
        """
        source = like or self._data or data
        looked = evaluating.looks(source, seed=derive(self.seed, "statistics"), batches=batches)
        return evaluating.judge(evaluating.settled(self.inherit(architecture), looked), data)
