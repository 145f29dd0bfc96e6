"""Networks that inherit the weights of one supernet that was warmed up for all of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from torch import nn

from foresee.devices import threads
from foresee.papers.sigeo.warming import Descent, Warming
from foresee.runs.events import Observer
from foresee.scoring.scorer import Scorer
from foresee.supernets.supernet import Supernet


class Sharing(Warming):
    """As `Warming`, but what a level trains is the space's one-shot network, one uniformly drawn path a step.

    Args:
        scorer: as in `Warming`.
        descent: likewise: a level has as many steps as for a network by itself.
        folder: where supernets are kept.
    """

    way = "one supernet"

    def __init__(self, scorer: Scorer, descent: Descent, folder: Path) -> None:
        super().__init__(scorer, descent)
        self.folder = folder
        self._supernets: dict[tuple[int, int], Supernet] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "folder": self.folder, "_supernets": {}}

    def prepare(self, seeds: Iterable[int], observers: Iterable[Observer] = ()) -> None:
        """Train the supernets that are not there yet; workers only read them."""
        how: dict[str, Any] = {"recipe": self.descent.recipe, "resume": True, "observers": observers}
        with threads(self.scorer.settings.threads):
            for seed in seeds:
                for steps in filter(None, self.descent.steps):
                    self._untrained(seed).train(self.scorer.data, steps, out=self._place(steps, seed), **how)

    def networks(self, text: str, seed: int) -> Iterator[nn.Module]:
        """The network with the weights it inherits at each level."""
        for steps in self.descent.steps:
            key = steps, seed
            if key not in self._supernets:
                there = self._place(steps, seed)
                device = self.scorer.settings.device
                found = Supernet.load(there, space=self.scorer.space, device=device) if steps else self._untrained(seed)
                self._supernets[key] = found
            yield self._supernets[key].inherit(text)

    def _untrained(self, seed: int) -> Supernet:
        return Supernet(self.scorer.space, self.scorer.task, seed=seed, device=self.scorer.settings.device)

    def _place(self, steps: int, seed: int) -> Path:
        """Another folder for everything that makes another supernet."""
        scorer = self.scorer
        said = [
            *(scorer.space.reference, scorer.space.settings(), scorer.task.to_json(), scorer.data.fingerprint),
            *(self.descent.recipe.to_json(), steps, seed, scorer.settings.device.partition(":")[0]),
        ]
        return self.folder / hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()[:16]
