"""Which picks of an own space moved the score: how much of the spread of the ranks goes with each, and how sure that is."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foresee.statistics import Estimate, mean_of, ranks_of, share_by_chance, share_explained

#: with fewer scored candidates nothing is said
FEW = 10
#: numbers with more different values than this are put into so many ranges of about equal size
VALUES, RANGES = 6, 4
#: characters of an answer
LETTERS = 40


@dataclass(frozen=True)
class Value:
    """One answer to a pick: how many scored candidates have it, and what they score on average."""

    text: str
    count: int
    mean: Estimate


@dataclass(frozen=True)
class Importance:
    """A pick: the share of the spread of the score's ranks that goes with it, and its answers, best on average first.

    `chance` is what a pick that does nothing reaches in all but 5 % of the cases; `asked` is how many candidates have the
    pick. Without a share `note` says why.
    """

    name: str
    asked: int
    share: Estimate
    chance: float
    values: tuple[Value, ...]
    note: str = ""

    @property
    def sure(self) -> bool:
        """Whether the share is more than luck explains."""
        return self.share.value > self.chance


def importance(scored: Sequence[tuple[Mapping[str, Any], float]], sign: float = 1.0) -> list[Importance]:
    """Every pick with at least two different answers, the most important first; nothing with few candidates.

    `scored` are the picks and the score of each candidate, `sign` is -1 where less is better.
    """
    if len(scored) < FEW:
        return []
    names = dict.fromkeys(name for picks, _ in scored for name in picks)
    found = [_one(name, [(picks[name], score) for picks, score in scored if name in picks], sign) for name in names]
    there = [one for one in found if one is not None]
    return sorted(
        there, key=lambda one: (math.isnan(one.share.value), -one.share.value if one.share.n else 0.0, one.name)
    )


def _one(name: str, answers: Sequence[tuple[Any, float]], sign: float) -> Importance | None:
    groups = grouped([answer for answer, _ in answers])
    labels, scores = list(dict.fromkeys(groups)), np.array([score for _, score in answers])
    if len(labels) < 2:
        return None
    held = {label: scores[[group == label for group in groups]] for label in labels}
    values = [Value(label, len(there), mean_of(there, bootstrap=400)) for label, there in held.items()]
    values.sort(key=lambda one: -sign * one.mean.value)
    if len(answers) < FEW or len(labels) > len(answers) / 2:
        note = f"{len(answers)} candidates with {len(labels)} answers are too few to say"
        return Importance(name, len(answers), Estimate(math.nan), math.nan, tuple(values), note)
    ranks = ranks_of(scores)
    share, chance = share_explained(ranks, groups, bootstrap=500), share_by_chance(ranks, groups, shuffles=500)
    note = "all scores are equal" if math.isnan(share.value) else ""
    return Importance(name, len(answers), share, chance, tuple(values), note)


def grouped(answers: Sequence[Any]) -> list[str]:
    """The answers as texts; many different numbers as ranges of about equal size.

    >>> grouped([True, None, "relu"]), grouped([1, 2, 3, 4, 5, 6, 7, 8])[::3]
    (['true', 'null', 'relu'], ['1 to 2', '3 to 4', '7 to 8'])
    """
    numbers = [
        one for one in answers if isinstance(one, int | float) and not isinstance(one, bool) and abs(one) < 1e300
    ]
    if len(numbers) < len(answers) or len(set(numbers)) <= VALUES:
        return [shown(one) for one in answers]
    ends = np.quantile(numbers, np.linspace(0, 1, RANGES + 1)[1:-1])
    places = np.searchsorted(ends, numbers, side="left")
    texts = {place: _range([n for n, at in zip(numbers, places, strict=True) if at == place]) for place in set(places)}
    return [texts[place] for place in places]


def shown(answer: Any) -> str:
    """An answer for people: text as it is, numbers with at most four digits.

    >>> shown("relu"), shown(0.123456), shown(16), shown(False)
    ('relu', '0.1235', '16', 'false')
    """
    if isinstance(answer, str):
        return answer if len(answer) <= LETTERS else f"{answer[: LETTERS - 1]}…"
    return f"{answer:.4g}" if isinstance(answer, float) else json.dumps(answer)


def _range(numbers: Iterable[float]) -> str:
    held = sorted(numbers)
    return shown(held[0]) if held[0] == held[-1] else f"{shown(held[0])} to {shown(held[-1])}"
