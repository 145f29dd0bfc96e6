"""The choices of an own space, learned by running its function: which picks there are, when they are asked, how many ways."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from foresee.seeds import stream
from foresee.spaces.own.listing import outcome, product
from foresee.spaces.own.picks import Answers, Decide, Interval, Listed, Picks, Value
from foresee.spaces.own.space import OwnSpace
from foresee.statistics import Estimate, mean_of

#: ways through the function that are looked at where there are too many to list
LOOKS = 300
#: answers that are written out
SHOWN = 8


@dataclass(frozen=True)
class Choice:
    """A pick: its answers, and when it is asked.

    `parent` is the earlier pick that decides it, with the `values` for which it is asked; without one it is asked in the
    `share` of all ways that were looked at.
    """

    name: str
    answers: str
    parent: str = ""
    values: tuple[Value, ...] = ()
    share: float = 1.0

    @property
    def when(self) -> str:
        """The condition in words; "" where there is none."""
        if self.parent:
            texts = [value if isinstance(value, str) else json.dumps(value) for value in self.values]
            numbers = [value for value in self.values if type(value) is int]
            if len(texts) > 2 and numbers == list(
                range(numbers[0] if numbers else 0, (numbers or [0])[0] + len(texts))
            ):
                return f"when {self.parent} is {texts[0]} to {texts[-1]}"
            return f"when {self.parent} is {' or '.join(texts[:SHOWN])}{' …' if len(texts) > SHOWN else ''}"
        return "" if self.share == 1 else f"asked in {100 * self.share:.2g} % of the ways"


@dataclass(frozen=True)
class Tree:
    """The choices in the order of asking, the number of architectures, and how that is known.

    `size` is None where a pick may be any real number; `whole` says that every way was looked at.
    """

    choices: tuple[Choice, ...]
    size: Estimate | None
    whole: bool
    looked: int
    rejected: float
    failed: float

    @property
    def size_in_words(self) -> str:
        """How many architectures there are, and how that is known."""
        if self.size is None:
            return "without end: a pick may be any real number"
        if self.whole:
            return f"{self.size.value:,.0f} architectures, all of them listed"
        how = f"estimated from {self.looked} random ways through the function"
        return f"about {_round(self.size.value)} ({how}; 95 %: {_round(self.size.low)} to {_round(self.size.high)})"


def tree_of(space: OwnSpace, seed: int = 0) -> Tree:
    """Run the function in every way, or where these are too many in random ways, and see what it asks.

    The size of a space that is not listed is Knuth's estimate: on a random way, the product of the numbers of answers is on
    average the number of ways.
    """
    whole = space.size is not None
    ways = list(space.ways()) if whole else [_descend(space, seed, number) for number in range(LOOKS)]
    asked = [picks for picks, wanted in ways if wanted] or [picks for picks, _ in ways]
    weights = [product(picks) if wanted else 0 for picks, wanted in ways]
    endless = any(isinstance(answers, Interval) for picks in asked for answers in picks.answers.values())
    size = None if endless else Estimate(float(space.size or 0)) if whole else mean_of(weights, seed=seed)
    names = dict.fromkeys(name for picks in asked for name in picks.values)
    many = max(len(ways), 1)
    return Tree(
        tuple(_choice(name, asked) for name in names),
        size,
        whole,
        len(ways),
        sum(not wanted for _, wanted in ways) / many,
        sum(bool(picks.problem) for picks, wanted in ways if wanted) / many,
    )


def _descend(space: OwnSpace, seed: int, number: int) -> tuple[Picks, bool]:
    """One random way, every answer as likely as the others."""

    def begin() -> Decide:
        rng = stream(seed, "way", number)
        return lambda name, answers: rng.choice(answers.values) if isinstance(answers, Listed) else answers.draw(rng)

    return outcome(space.ask, begin)


def _choice(name: str, ways: Sequence[Picks]) -> Choice:
    having = [picks for picks in ways if name in picks.values]
    answers = dict.fromkeys(picks.answers[name] for picks in having)
    text = _answers(next(iter(answers))) + (", or others, as other picks say" if len(answers) > 1 else "")
    if len(having) == len(ways):
        return Choice(name, text)
    order = list(having[0].values)
    for parent in reversed(order[: order.index(name)]):
        values = {json.dumps(picks.values[parent]): picks.values[parent] for picks in having if parent in picks.values}
        seen = [json.dumps(picks.values[parent]) for picks in ways if parent in picks.values]
        decides = sum(value in values for value in seen) == len(having) and not values.keys() >= set(seen)
        if decides and all(parent in picks.values for picks in having):
            return Choice(name, text, parent, tuple(sorted(values.values(), key=_order)))
    return Choice(name, text, share=len(having) / len(ways))


def _order(value: Value) -> tuple[bool, float, str]:
    number = isinstance(value, int | float)
    return not number, float(cast(float, value)) if number else 0.0, str(value)


def _answers(answers: Answers) -> str:
    if isinstance(answers, Interval):
        return f"{answers.low:g} to {answers.high:g}, any real number{', even in the logarithm' if answers.log else ''}"
    if isinstance(answers.values, range) and answers.size > 3:
        steps = f" in steps of {answers.values.step}" if answers.values.step > 1 else ""
        return f"{answers.values[0]} to {answers.values[-1]}{steps}{', even in the logarithm' if answers.log else ''}"
    texts = [value if isinstance(value, str) else json.dumps(value) for value in answers.values[:SHOWN]]
    return ", ".join(texts) + (f", … {answers.size} answers" if answers.size > SHOWN else "")


def _round(value: float) -> str:
    return f"{value:,.0f}" if value < 10_000 else f"{value:.2g}"
