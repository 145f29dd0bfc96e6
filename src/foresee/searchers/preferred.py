"""From how much each option of each choice is preferred to architectures, the most preferred first.

A search that ends with one number per option (logits of independent choices) has one answer, and more than one where limits
refuse it or somebody asks for others: the next likely, and the next.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

#: (number of the choice, rank of its option) of the choices that do not have their best option, by number
_Changes = tuple[tuple[int, int], ...]


def by_preference(logits: Mapping[str, Sequence[float]]) -> Iterator[dict[str, Tensor]]:
    """The weights of the logits (their softmax), then with other options in front, in the order of probability.

    An option of a choice is put in front by moving it up: it gets the largest weight, and those before it the next ones. What
    is lost by that is the difference between the first logit and its own, summed over the choices: the logarithm of how much
    likelier the first answer is. Every combination comes once; ties go by the order of the choices.

    >>> [one["op"].argmax().item() for one in by_preference({"op": [0.1, 0.5, 0.3]})]
    [1, 2, 0]
    """
    names, ranked = list(logits), [_ranked(of) for of in logits.values()]
    sizes = [len(losses) for losses, _ in ranked]
    waiting: list[tuple[float, _Changes]] = [(0.0, ())]
    while waiting:
        _, changes = heapq.heappop(waiting)
        ranks = dict(changes)
        yield {name: ranked[place][1][ranks.get(place, 0)] for place, name in enumerate(names)}
        for more in _next(changes, sizes):
            heapq.heappush(waiting, (sum(ranked[place][0][rank] for place, rank in more), more))


def _ranked(logits: Sequence[float]) -> tuple[list[float], list[Tensor]]:
    """By rank of an option: what is lost where it comes first, and the weights with which it does."""
    order = sorted(range(len(logits)), key=logits.__getitem__, reverse=True)
    weights = torch.tensor(logits, dtype=torch.float64).softmax(0)[order]
    found = []
    for rank in range(len(order)):
        moved = torch.empty_like(weights)
        moved[[order[rank], *order[:rank], *order[rank + 1 :]]] = weights
        found.append(moved)
    return [logits[order[0]] - logits[option] for option in order], found


def _next(changes: _Changes, sizes: Sequence[int]) -> Iterator[_Changes]:
    """One step further, so that every combination is reached on one way: the last change, or a choice after it."""
    first = 0
    if changes:
        place, rank = changes[-1]
        first = place + 1
        if rank + 1 < sizes[place]:
            yield (*changes[:-1], (place, rank + 1))
    yield from ((*changes, (place, 1)) for place in range(first, len(sizes)) if sizes[place] > 1)
