"""Scores of networks that were trained a little first: by a supernet from which they inherit, or each by itself.

The supernet is trained once, where a run or a bench begins (`prepare`), and kept in a file; workers read that file, known by
its sha256. A worker that finds none trains it again: the same weights come of it, for seeds and threads decide everything.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import nn

from foresee.devices import threads
from foresee.quantities import parse_share
from foresee.runs.events import Observer
from foresee.scoring.scorer import Scorer
from foresee.scoring.versions import code
from foresee.spaces.base import Space
from foresee.supernets.recipes import usual_warmup
from foresee.supernets.supernet import NAME, Supernet
from foresee.supernets.warmup import Warmup, warmed
from foresee.training import checkpoints
from foresee.training.recipe import recipe


class WarmScorer(Scorer):
    """A scorer whose networks have been warmed up as its settings say.

    >>> from foresee.scoring import Job, ScoringSettings
    >>> settings = ScoringSettings(proxies=("grad_norm",), warmup="10%", batch_size=8, inputs=(3, 8, 8))
    >>> scorer = WarmScorer("nasbench201", settings, space_settings={"channels": 4, "cells": 1})
    >>> cell = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|"
    >>> scorer.prepare()["steps"], scorer(Job((cell,), ("grad_norm",), 0))[0].scores[0].ok
    (3, True)
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._supernet: Supernet | None = None
        self._kept: tuple[str, str] | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    def __getstate__(self) -> dict[str, Any]:
        if (
            self._supernet is not None and self._kept is None
        ):  # lives in memory only: those who work elsewhere need a file
            self._temporary = tempfile.TemporaryDirectory(prefix="foresee-warmup-")
            self._keep(self._temporary.name)
        return {**super().__getstate__(), "_kept": self._kept, "_supernet": None, "_temporary": None}

    def _keep(self, folder: str) -> None:
        assert self._supernet is not None
        tensors = {f"network.{key}": value for key, value in self._supernet.one_shot.state_dict().items()}
        progress = {"step": self._supernet.steps, "losses": self._supernet.losses, "finished": True}
        checkpoints.write(folder, NAME, tensors, {**self._supernet.facts, **progress})
        self._kept = (folder, checkpoints.read_facts(Path(folder), NAME)[checkpoints.DIGEST])

    # -- what is trained ----------------------------------------------------------------------------------------------
    @cached_property
    def warmup(self) -> Warmup:
        """What is trained before looking."""
        said = self.settings
        chosen = recipe(said.warmup_recipe or usual_warmup(self.task, self.data.epoch_samples))
        return Warmup(parse_share(said.warmup or "0%"), chosen, self.data, self.by)

    @property
    def by(self) -> str:
        """Who is trained."""
        if self.settings.warmup_by is not None:
            return self.settings.warmup_by
        return "network" if type(self.space).one_shot is Space.one_shot else "supernet"

    @property
    def beyond(self) -> Mapping[str, Any]:
        """The warm-up, its code, and of a supernet the seed that its weights came from."""
        own = {"seed": self.settings.seed} if self.by == "supernet" else {}
        return {"warmup": {**self.warmup.facts, **own, "code": code("foresee.supernets.warm")}}

    def prepare(
        self, folder: str | Path | None = None, *, resume: bool = False, observers: Iterable[Observer] = ()
    ) -> Mapping[str, Any]:
        """Train the supernet, or go on with it in the folder; returns what a run records of the warm-up."""
        if self.by == "supernet" and self._supernet is None:
            with threads(self.settings.threads):
                made = Supernet(self.space, self.task, seed=self.settings.seed, device=self.settings.device)
                how: dict[str, Any] = {"out": folder, "resume": resume, "observers": observers, "name": "warm-up"}
                made.train(self.data, self.warmup.steps, None, self.warmup.recipe, **how)
            self._supernet = made
            if folder is not None:
                self._kept = (str(folder), checkpoints.read_facts(Path(folder), NAME)[checkpoints.DIGEST])
        return self.warmup.facts

    @property
    def supernet(self) -> Supernet:
        """The trained supernet: made here, read from its file, or made now."""
        if self._supernet is None and self._kept is not None:
            folder, digest = self._kept
            self._supernet = Supernet.load(folder, space=self.space, device=self.settings.device, digest=digest)
        if self._supernet is None:
            self.prepare()
        assert self._supernet is not None
        return self._supernet

    # -- networks -----------------------------------------------------------------------------------------------------
    def network(self, text: str, seed: int | None = None) -> nn.Module:
        """The network of an architecture with inherited weights, or trained by itself from those that the seed draws."""
        if self.by == "network":
            return self.warmed(super().network(text, seed), seed)
        return self.supernet.inherit(text).train()

    def warmed(self, network: nn.Module, seed: int | None = None) -> nn.Module:
        """A network of anybody's, trained by itself."""
        chosen = self.settings.seed if seed is None else seed
        with threads(self.settings.threads):
            how: dict[str, Any] = {"seed": chosen, "device": self.settings.device, "task": self.task}
            return warmed(network, self.data, self.warmup.share, recipe=self.warmup.recipe, **how)
