"""Random search: the baseline every other searcher has to beat."""

from __future__ import annotations

import random
from typing import Any

from foresee.searchers.base import Sampler, searchers


@searchers.register("random")
class RandomSearch(Sampler):
    """Draw from the space, again and again; no architecture twice."""

    name = "random"
    summary = "draws from the space; the baseline"
    source = "Li & Talwalkar 2020"
    objectives = None

    def propose(self, rng: random.Random, attempt: int) -> tuple[Any, int | None]:
        """A sample of the space."""
        return self.space.sample(rng), None
