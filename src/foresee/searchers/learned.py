"""Measured here, by a little training: what a search follows as `measured` where no table is at hand.

`inherited` trains one supernet on most of the data, and an architecture's value is what its inherited network is worth on the
rest. `last_layer` does the same, and before it judges a network it trains its last layer for some steps while all else is
frozen: NASRecNet's scoring. `trained` trains each architecture by itself, briefly: HNAS' evaluation on DARTS (thesis 7.6.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from foresee.data import Data
from foresee.data.base import digest
from foresee.devices import threads
from foresee.errors import InputError, TrainingError, UnknownNameError
from foresee.probes.last import last_layer
from foresee.runs.events import Observer
from foresee.scoring.scorer import Scorer
from foresee.seeds import derive
from foresee.spaces.base import Space
from foresee.supernets import evaluating
from foresee.supernets.course import Course, follow
from foresee.supernets.recipes import usual_recipe
from foresee.supernets.supernet import Supernet
from foresee.training.evaluations import Evaluation
from foresee.training.loop import train
from foresee.training.recipe import Recipe
from foresee.training.recipe import recipe as recipe_of

#: how an architecture can be measured here
WAYS = ("inherited", "last_layer", "trained")
#: those of them that train a supernet first
SHARING = ("inherited", "last_layer")
#: optimiser steps of the last layer, and their recipe
STEPS, LAST = 500, "nasrec_last"
#: the recipe of short trainings
SHORT = "hnas_short"
#: of the data, kept for validation where the recipe keeps nothing
KEPT = 0.3


class Learned:
    """What architectures are worth on data that nothing was learnt from, found here; more is better.

    The accuracy in per cent; of yes-or-no tasks (click logs) and of regressions the loss, turned round.

    Args:
        scorer: of the run; space, task, data, seed, device and threads are its own.
        way: `inherited`, `last_layer` or `trained`.
        recipe: a name or file; by default that of the space's supernet, or `hnas_short`.
        steps: of `last_layer`: how many the last layer is trained for, by the recipe `nasrec_last` in batches of the
            supernet's size; 500 by default.
    """

    def __init__(self, scorer: Scorer, way: str, recipe: str | None = None, steps: int | None = None) -> None:
        if way not in WAYS:
            raise UnknownNameError("way to measure", way, WAYS)
        self.scorer, self.way = scorer, way
        if way in SHARING and type(scorer.space).one_shot is Space.one_shot:
            raise InputError(
                f"measure = {way!r}: space {scorer.space.name} has no one-shot network; say 'trained' instead"
            )
        if steps is not None and way != "last_layer":
            raise InputError(f"measure_steps = {steps}: only measure = 'last_layer' has steps of its own")
        self.recipe: Recipe = recipe_of(recipe or (usual_recipe(scorer.space) if way in SHARING else SHORT))
        self.last: Recipe = recipe_of(LAST, batch=self.recipe.batch)
        self.steps = STEPS if steps is None else steps
        self.seed = derive(scorer.settings.seed, "measure")
        self._known: dict[str, float | None] = {}
        self._supernet: Supernet | None = None

    @property
    def fingerprint(self) -> str:
        """Tells these values from others."""
        own = (self.last.to_json(), self.steps) if self.way == "last_layer" else ()
        return digest("learned", self.way, self.recipe.to_json(), self.scorer.data.fingerprint, self.seed, *own)

    @cached_property
    def parts(self) -> Mapping[str, Data]:
        """What is learnt from, and what is judged by: `train` and `val`."""
        kept = self.recipe.validation or KEPT
        return self.scorer.data.split({"train": 1 - kept, "val": kept}, seed=self.seed)

    def prepare(
        self, folder: str | Path | None = None, *, resume: bool = False, observers: Iterable[Observer] = ()
    ) -> None:
        """Train the supernet, or go on with it in the folder; there is nothing to do for short trainings."""
        if self.way in SHARING and self._supernet is None:
            settings = self.scorer.settings
            with threads(settings.threads):
                made = Supernet(self.scorer.space, self.scorer.task, seed=self.seed, device=settings.device)
                how: dict[str, Any] = {"out": folder, "resume": resume, "observers": observers}
                self._supernet = made.train(self.parts["train"], recipe=self.recipe, **how)

    def __call__(self, texts: Sequence[str]) -> list[float | None]:
        """The value of each architecture; None where its training came to nothing."""
        self.prepare()
        for text in texts:
            if text not in self._known:
                with threads(self.scorer.settings.threads):
                    self._known[text] = self._measure(text)
        return [self._known[text] for text in texts]

    def _measure(self, text: str) -> float | None:
        if self._supernet is not None:
            if self.way == "last_layer":
                return self._with_last_layer(self._supernet, text)
            return _value(self._supernet.evaluate(text, self.parts["val"]))
        given: dict[str, Any] = {
            "validation": self.parts["val"],
            "seed": self.seed,
            "device": self.scorer.settings.device,
        }
        try:
            found = train(self.scorer.candidate(text), self.parts["train"], self.recipe, **given)
        except TrainingError:  # a loss that is no number: nothing was measured of it
            return None
        return None if found.validation is None else _value(found.validation)

    def _with_last_layer(self, supernet: Supernet, text: str) -> float | None:
        """Its inherited network on the rest, after the last layer of a copy was trained; the supernet stays as it is."""
        network = evaluating.own(supernet.inherit(text)).requires_grad_(False)
        for one in last_layer(network).values():
            one.requires_grad_(True)
        # The same batches for all architectures: they are compared under equal luck.
        course = Course(self.parts["train"], self.last, self.steps, derive(self.seed, "last"))
        try:
            follow(course, course.training(network, self.scorer.task, self.scorer.settings.device))
        except TrainingError:
            return None
        looked = evaluating.looks(self.parts["train"], seed=derive(self.seed, "statistics"))
        return _value(evaluating.judge(evaluating.settled(network, looked), self.parts["val"]))


def _value(found: Evaluation) -> float:
    right = None if found.yes_or_no else found.accuracy
    return -found.loss if right is None else 100 * right
