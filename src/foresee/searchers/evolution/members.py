"""What the kinds of evolution share: members of a population, children that keep being new, and generations.

Mutation that keeps meeting known or infeasible architectures walks further: after every `patience` draws one more mutation
is applied in a row, and when even that finds nothing new, the searcher is `lost` and draws at random. The papers leave open
what happens then; in a space as small as NAS-Bench-201 it does happen.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, ClassVar

from foresee.checks import whole
from foresee.errors import InputError
from foresee.searchers.base import Sampler
from foresee.task import MOST

#: so many mutations more than at first a candidate may be away from its parent, before it is drawn at random
FURTHEST = 8


@dataclass(frozen=True)
class Member:
    """A candidate that has a score."""

    merit: float
    id: int
    architecture: Any

    @property
    def rank(self) -> tuple[float, int]:
        """By what members are compared: the merit, and of equals the older one."""
        return self.merit, -self.id


class Breeder(Sampler):
    """A searcher that makes candidates from earlier ones."""

    #: draws in vain after which one more mutation is applied in a row
    patience: ClassVar[int] = 20

    def lost(self, attempt: int) -> bool:
        """Whether mutations have walked as far as they may and found nothing new."""
        return attempt // self.patience >= FURTHEST

    def mutated(self, architecture: Any, rng: random.Random, attempt: int, times: int = 1) -> Any:
        """So many mutations in a row, and one more for every `patience` draws in vain."""
        for _ in range(times + attempt // self.patience):
            architecture = self.space.mutate(architecture, rng)
        return architecture

    def check(self, least: int = 1, **settings: int) -> None:
        """Each of these settings is a whole number, none too small."""
        for name, value in settings.items():
            whole(f"{self.name}.{name} =", value, least, most=MOST)

    def check_sample(self, sample: int, population: int) -> None:
        """No more members are drawn than there are."""
        if sample > population:
            raise InputError(f"{self.name}.sample = {sample}: cannot be more than the population of {population}")


@dataclass(frozen=True)
class Generations:
    """Candidates in generations: `first` of them are the first, then `children` each.

    >>> ages = Generations(first=3, children=2)
    >>> [ages.of(candidate) for candidate in range(8)], [ages.begin(number) for number in range(4)]
    ([0, 0, 0, 1, 1, 2, 2, 3], [0, 3, 5, 7])
    >>> ages.many(6), ages.words(4, 6)
    (3, 'generation 2 of 3')
    """

    first: int
    children: int

    def of(self, candidate: int) -> int:
        """The generation of a candidate, from 0 on."""
        return 0 if candidate < self.first else 1 + (candidate - self.first) // self.children

    def begin(self, generation: int) -> int:
        """The first candidate of a generation, which is also how many come before it."""
        return self.first + (generation - 1) * self.children if generation else 0

    def ends_with(self, candidate: int) -> bool:
        """Whether a candidate is the last of its generation."""
        return self.begin(self.of(candidate) + 1) == candidate + 1

    def many(self, evaluations: int) -> int:
        """How many generations, the last perhaps not whole, so many candidates are."""
        return 1 + self.of(evaluations - 1)

    def words(self, candidate: int, evaluations: int) -> str:
        """A candidate's place, counted from 1, for people to read."""
        return f"generation {1 + self.of(candidate)} of {self.many(evaluations)}"
