"""All ways through a function that asks for picks, one after the other; and how many there are, where they are few."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import islice
from typing import cast

from foresee.errors import InputError
from foresee.spaces.own.picks import Decide, Picks, RejectedError

#: runs the function with a new way to answer each time it is begun, and gives its picks
Ask = Callable[[Callable[[], Decide]], Picks]
#: random ways that are looked at before all are listed
LOOKS = 32


def ways(ask: Ask) -> Iterator[tuple[Picks, bool]]:
    """Every way, depth first in the order of asking, and whether the function wants it.

    Raises:
        InputError: a pick may be any real number.
    """
    path: list[int] = []  # number of the answer to each pick; the first answer from there on

    def begin() -> Decide:
        given = iter(path)
        return lambda name, answers: answers.values[next(given, 0)]

    while True:
        picks, wanted = outcome(ask, begin)
        yield picks, wanted
        sizes = [answers.size or 0 for answers in picks.answers.values()]
        path += [0] * (len(sizes) - len(path))
        while path and path[-1] + 1 == sizes[len(path) - 1]:
            path.pop()
        if not path:
            return
        path[-1] += 1


def outcome(ask: Ask, begin: Callable[[], Decide]) -> tuple[Picks, bool]:
    """The picks of one way, and whether the function wants them."""
    try:
        return ask(begin), True
    except RejectedError as error:
        return cast(Picks, error.picks), False


def count(ask: Ask, most: int) -> int | None:
    """How many ways the function wants; None where there are more than `most` in all, or without end.

    A space that is larger than that on the first way, or on average of some random ones (Knuth's estimate of the size of a
    tree), is not worth running through.
    """
    try:
        first, _ = next(ways(ask))
        if product(first) > most or sum(_random(ask, seed) for seed in range(LOOKS)) > most * LOOKS:
            return None
        found = [wanted for _, wanted in islice(ways(ask), most + 1)]
    except InputError:
        return None
    return sum(found) if len(found) <= most else None


def product(picks: Picks) -> int:
    """The numbers of answers on a way, multiplied: how many ways there would be if all were like it."""
    return math.prod(answers.size or 1 for answers in picks.answers.values())


def _random(ask: Ask, seed: int) -> int:
    def begin() -> Decide:
        rng = random.Random(seed)
        return lambda name, answers: rng.choice(answers.values)

    return product(outcome(ask, begin)[0])
