"""Which architectures are promising, by those that were seen: a tree-structured Parzen estimator over choices.

What was seen is split into the better ones and the others, and a kernel density over the choices is made of each. Draws from
the density of the better ones are ranked by the ratio of both densities: likely among the better ones, unlikely among the
others (Bergstra et al. 2011; with the kernel of Aitchison & Aitken as BOHB has it, Falkner et al. 2018, Section 4).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.spaces.base import Space

#: the share of what was seen that counts as the better ones
BETTER = 0.15
#: draws of which the most promising is taken
DRAWS = 64
#: how likely a choice is to be another one than that of the architecture it is drawn near
BANDWIDTH = 0.3

Picks = tuple[int | None, ...]


class Promising:
    """Draws architectures that are promising by what was seen.

    Args:
        space: made of independent choices.
        architectures: what was seen, each with its merit; there must be `needed(space)` of them.
        merits: more is better.
    """

    def __init__(self, space: Space[Any], architectures: Sequence[Any], merits: Sequence[float]) -> None:
        self.space = space
        self.sizes = [len(choice.options) for choice in space.choices]
        order = sorted(range(len(merits)), key=lambda place: (-merits[place], place))
        picks = [space.picks(architectures[place]) for place in order]
        many = max(len(self.sizes) + 1, round(BETTER * len(picks)))
        self.better, self.others = picks[:many], picks[many:]

    @staticmethod
    def needed(space: Space[Any]) -> int:
        """How many must have been seen: one more than there are choices on either side."""
        return 2 * (len(space.choices) + 1)

    def draw(self, rng: random.Random) -> Any:
        """The most promising of some draws near the better ones."""
        drawn = [self._near(rng.choice(self.better), rng) for _ in range(DRAWS)]
        gains = self.log_density(drawn, self.better) - self.log_density(drawn, self.others)
        return self.space.assemble(drawn[int(np.argmax(gains))])

    def _near(self, picks: Picks, rng: random.Random) -> list[int]:
        """A draw from the kernel around an architecture; a choice that did not matter there is drawn uniformly."""
        drawn = []
        for pick, size in zip(picks, self.sizes, strict=True):
            if pick is None or size == 1 or rng.random() >= BANDWIDTH:
                drawn.append(rng.randrange(size) if pick is None else pick)
            else:
                drawn.append((pick + rng.randrange(1, size)) % size)
        return drawn

    def log_density(self, points: Sequence[Sequence[int]], seen: Sequence[Picks]) -> NDArray[np.float64]:
        """The log of the mean, over what was seen, of the kernel at each point: (points,).

        The kernel is a product over the choices: 1 - h for the same option, h / (options - 1) for each other one, and
        1 / options where the choice did not matter.
        """
        at = np.array(points)
        total = np.zeros((len(at), len(seen)))
        for column, size in enumerate(self.sizes):
            if size == 1:
                continue
            there = np.array([-1 if picks[column] is None else picks[column] for picks in seen])
            same = np.where(at[:, column, None] == there, 1 - BANDWIDTH, BANDWIDTH / (size - 1))
            total += np.log(np.where(there == -1, 1 / size, same))
        most = total.max(axis=1, keepdims=True)
        return np.asarray(most[:, 0] + np.log(np.exp(total - most).mean(axis=1)))
