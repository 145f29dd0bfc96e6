"""From how much each option of each choice is preferred to architectures, the most preferred first.

A search that ends with one number per option (logits of independent choices) has one answer, and more than one where limits
refuse it or somebody asks for others: the next likely, and the next.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

#: (number of the choice, rank of its option) of the choices that do not have their best option, by number
_Changes = tuple[tuple[int, int], ...]


def by_preference(logits: Mapping[str, Sequence[float]]) -> Iterator[dict[str, list[float]]]:
    """The logits as they are, then with other options in front, in the order of the probability that is lost.

    An option of a choice is put in front by moving it up: it gets the largest logit, and those before it the next ones. What
    is lost is the difference between the first logit and its own, summed over the choices: the logarithm of how much likelier
    the first answer is. Every combination comes once; ties go by the order of the choices.

    >>> list(by_preference({"op": [0.1, 0.5, 0.3]}))
    [{'op': [0.1, 0.5, 0.3]}, {'op': [0.1, 0.3, 0.5]}, {'op': [0.5, 0.3, 0.1]}]
    """
    names = list(logits)
    orders = [sorted(range(len(of)), key=of.__getitem__, reverse=True) for of in logits.values()]
    losses = [
        [of[order[0]] - of[option] for option in order] for of, order in zip(logits.values(), orders, strict=True)
    ]
    waiting: list[tuple[float, _Changes]] = [(0.0, ())]
    while waiting:
        _, changes = heapq.heappop(waiting)
        ranks = dict(changes)
        yield {name: _promoted(logits[name], orders[place], ranks.get(place, 0)) for place, name in enumerate(names)}
        for more in _next(changes, [len(order) for order in orders]):
            heapq.heappush(waiting, (sum(losses[place][rank] for place, rank in more), more))


def _next(changes: _Changes, sizes: Sequence[int]) -> Iterator[_Changes]:
    """One step further, so that every combination is reached on one way: the last change, or a choice after it."""
    first = 0
    if changes:
        place, rank = changes[-1]
        first = place + 1
        if rank + 1 < sizes[place]:
            yield (*changes[:-1], (place, rank + 1))
    yield from ((*changes, (place, 1)) for place in range(first, len(sizes)) if sizes[place] > 1)


def _promoted(logits: Sequence[float], order: Sequence[int], rank: int) -> list[float]:
    """The same numbers, dealt out so that the option of this rank comes first and the others keep their order."""
    moved = [order[rank], *order[:rank], *order[rank + 1 :]]
    found = [0.0] * len(order)
    for option, place in zip(moved, order, strict=True):
        found[option] = logits[place]
    return found
