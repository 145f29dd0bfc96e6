"""A made-up world of clicks whose truth is known: which rows there are, and how likely each of them is clicked.

The chance of a click is a logistic function of a sum of terms, each of which is planted on purpose:

- *single*: every category has an effect of its own, every number a slope, a missing value an effect. A logistic regression
  on the single features can learn these and nothing else.
- *match*: two categories (a visitor and an item, say) have hidden vectors, and what counts is how well they agree. This is
  what factorisation machines are made for, up to its saturation.
- *gated*: a second agreement of the same two is turned around by a number that is above or below its middle: a product of
  three, and not of numbers that can be multiplied.
- *bent*: how far a number lies from its middle, on either side, counts for one value of a category and against another.
- *crossed*: the signs of two numbers count together and not apart.

A product of embeddings has no part of the last three; a network can learn them. All terms are functions of what a row shows,
so no model of any kind can do better than the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from foresee.seeds import derive

#: share of rows that are clicked
RATE = 0.2
#: standard deviation of each planted term on the scale of the logit
STRENGTH = {"categories": 0.55, "numbers": 0.35, "match": 0.65, "gated": 0.75, "bent": 0.6, "crossed": 0.5}
#: length of the hidden vectors
HIDDEN = 3
#: rows of one day, where there are days
DAY = 2_000
#: rows by which the truth is levelled: strengths of its terms and the share of clicks
LEVELLING = 40_000

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Category:
    """A categorical column: how many values it has, how steeply their frequencies fall (Zipf), how many are missing."""

    name: str
    size: int
    fall: float = 1.05
    missing: float = 0.0

    def draw(self, rng: np.random.Generator, rows: int) -> Whole:
        """The ranks of drawn values, from 0; -1 where missing."""
        u = rng.random(rows)
        power = 1.0 - self.fall  # the distribution function of r ** -fall on [1, size + 1), turned around
        rank: Whole = ((((self.size + 1.0) ** power - 1.0) * u + 1.0) ** (1.0 / power)).astype(np.int64) - 1
        np.clip(rank, 0, self.size - 1, out=rank)
        if self.missing:
            rank[rng.random(rows) < self.missing] = -1
        return rank


@dataclass(frozen=True)
class Hours(Category):
    """Hours of days, one day after the other: rows come in the order of time, `DAY` of them in a day."""

    size: int = 24
    fall: float = 1.01

    def draw(self, rng: np.random.Generator, rows: int) -> Whole:
        """Hours of the day; of so many rows as are whole days."""
        hours = np.minimum(rng.beta(2.2, 1.6, (rows // DAY, DAY)) * 24, 23).astype(np.int64)
        return np.asarray(np.sort(hours, axis=1).ravel())


@dataclass(frozen=True)
class Number:
    """A numeric column of skewed counts: the whole part of exp(middle + spread z), where z is normal."""

    name: str
    middle: float = 2.0
    spread: float = 1.2
    missing: float = 0.0
    most: int = 65_535

    def draw(self, rng: np.random.Generator, rows: int) -> Whole:
        """The counts; -1 where missing."""
        count = np.minimum(np.exp(self.middle + self.spread * rng.standard_normal(rows)), self.most).astype(np.int64)
        if self.missing:
            count[rng.random(rows) < self.missing] = -1
        return count

    def standard(self, count: Whole) -> Floats:
        """What the truth sees of a count: about normal, exactly 0 where missing."""
        z = (np.log1p(np.maximum(count, 0) + 0.5) - np.log1p(np.exp(self.middle))) / self.spread
        return np.where(count < 0, 0.0, z)


@dataclass(frozen=True)
class World:
    """Columns, and which of them take part in the planted terms, by their places.

    `pair` are the two categories that match, `low` the one of few values whose numbers are bent, `numbers` the places of the
    gating number, the bent one and the two that are crossed. In a world without numbers the `dial` takes their place: a
    category whose values go round, such as hours of the day.
    """

    categories: Sequence[Category]
    counts: Sequence[Number]
    pair: tuple[int, int]
    low: int
    numbers: tuple[int, int, int, int] | None = None
    dial: int | None = None
    seed: int = 0

    def draw(self, rng: np.random.Generator, rows: int) -> tuple[list[Whole], list[Whole]]:
        """Rows: the ranks of the categories and the counts, column by column; -1 is missing."""
        return [one.draw(rng, rows) for one in self.categories], [one.draw(rng, rows) for one in self.counts]

    def probability(self, ranks: Sequence[Whole], counts: Sequence[Whole]) -> Floats:
        """How likely each row is clicked."""
        total = self._level + sum(self._factors[name] * term for name, term in self._terms(ranks, counts).items())
        return np.asarray(1.0 / (1.0 + np.exp(-total)))

    # -- the truth --------------------------------------------------------------------------------------------------------
    def _terms(self, ranks: Sequence[Whole], counts: Sequence[Whole]) -> dict[str, Floats]:
        """The planted terms, before they are brought to their strengths."""
        z = [one.standard(count) for one, count in zip(self.counts, counts, strict=True)]
        gate, bent = self._gating(ranks, z)
        first, second = self.pair
        own, other = self._tables["vectors"][first][ranks[first]], self._tables["vectors"][second][ranks[second]]
        agreement = np.tanh(1.5 * (own[:, :HIDDEN] * other[:, :HIDDEN]).sum(1))
        turned = np.tanh(1.5 * (own[:, HIDDEN:] * other[:, HIDDEN:]).sum(1))
        terms = {
            "categories": sum(table[rank] for table, rank in zip(self._tables["single"], ranks, strict=True)),
            "match": agreement,
            "gated": turned * np.where(gate > 0, 1.0, -1.0),
            "bent": self._tables["bent"][0][ranks[self.low]] * (np.abs(bent) - 0.8),
        }
        if self.numbers:
            slopes, gaps = self._tables["slopes"]
            terms["numbers"] = sum(slopes[k] * z[k] + gaps[k] * (counts[k] < 0) for k in range(len(z)))
            left, right = (z[k] for k in self.numbers[2:])
            terms["crossed"] = np.sign(left) * np.sign(right)
        return terms

    def _gating(self, ranks: Sequence[Whole], z: Sequence[Floats]) -> tuple[Floats, Floats]:
        """What turns the second agreement around, and what is bent."""
        if self.numbers:
            return z[self.numbers[0]], z[self.numbers[1]]
        assert self.dial is not None
        angle = 2 * np.pi * (ranks[self.dial] + 0.5) / self.categories[self.dial].size
        return np.sin(angle), 1.6 * np.sin(angle / 2 + 0.7)

    @cached_property
    def _tables(self) -> dict[str, list[Floats]]:
        """Effects of values by rank; the last row of each is that of a missing value, whose rank is -1."""
        rng = np.random.default_rng(derive(self.seed, "truth"))
        return {
            "single": [rng.standard_normal(one.size + 1) for one in self.categories],
            "vectors": [
                rng.standard_normal((one.size + 1, 2 * HIDDEN)) if place in self.pair else np.zeros((0, 2 * HIDDEN))
                for place, one in enumerate(self.categories)
            ],
            "bent": [_balanced(rng, self.categories[self.low].size + 1)],
            "slopes": [rng.standard_normal(len(self.counts)), rng.standard_normal(len(self.counts))],
        }

    @cached_property
    def _factors(self) -> dict[str, float]:
        """What brings each term to its strength."""
        return {
            name: STRENGTH[name] / max(float(np.std(term)), 1e-9) for name, term in self._terms(*self._sample).items()
        }

    @cached_property
    def _level(self) -> float:
        """The constant by which the share of clicks is `RATE`, found by halving."""
        total = sum(self._factors[name] * term for name, term in self._terms(*self._sample).items())
        low, high = -20.0, 20.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (low, middle) if np.mean(1 / (1 + np.exp(-total - middle))) > RATE else (middle, high)
        return low

    @cached_property
    def _sample(self) -> tuple[list[Whole], list[Whole]]:
        return self.draw(np.random.default_rng(derive(self.seed, "levelling")), LEVELLING)


def _balanced(rng: np.random.Generator, size: int) -> Floats:
    """As many values for as against, none of them near nothing, in a drawn order."""
    sides = np.where(np.arange(size) % 2 == 0, 1.0, -1.0) * rng.uniform(0.6, 1.4, size)
    # The most frequent values alternate, so that no single one decides the sign of the term.
    return np.asarray(sides if rng.random() < 0.5 else -sides)
