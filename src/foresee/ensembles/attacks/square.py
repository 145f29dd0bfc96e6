"""Random squares: an attack that needs no gradient."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from foresee.ensembles.attacks.base import attack
from foresee.ensembles.attacks.margins import margin
from foresee.ensembles.attacks.victim import Victim, spread
from foresee.errors import UnsupportedError

SQUARE = 'Andriushchenko et al., "Square attack: a query-efficient black-box adversarial attack via random search", ECCV 2020'
#: after so many of 10,000 queries the share of the image that a square covers is halved once more
HALVED = (10, 50, 200, 500, 1000, 2000, 4000, 6000, 8000)
#: queries whose random numbers are drawn together
_TOGETHER = 100


@attack("square", norm="linf", paper=f"{SQUARE}, Algorithms 1 and 2", cost="`queries` queries at most", white_box=False)
def square(victim: Victim, *, eps: float = 0.01, queries: int = 5000, share: float = 0.8) -> Tensor:
    """Square attack: begin with vertical stripes of ±ε, then try random squares of ±ε.

    A try is kept where it lowers `z_y - max_{i≠y} z_i`, until that is below zero. Each channel has its sign, and all of
    them one place. A square covers a share p of the image, its side is `round(√(p h w))`; p falls from `share` by halves
    as the queries go (`HALVED`). It sees outputs alone.

    Args:
        victim: network, images (n, channels, height, width), labels; only samples that are right.
        eps: the largest change of a pixel.
        queries: at most, for each sample.
        share: p at the beginning.

    >>> from torch import nn
    >>> from foresee.ensembles.attacks import attacks
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
    >>> found = attacks["square"](network, torch.rand(5, 1, 2, 2), torch.tensor([0, 1, 2, 0, 1]), eps=0.5, queries=20)
    >>> int(found.gradients.sum()), int(found.queries.max()) <= 20
    (0, True)
    """
    if victim.images.ndim != 4:
        shape = tuple(victim.images.shape)
        raise UnsupportedError(f"attack square: inputs of shape {shape}, expected (samples, channels, height, width)")
    _, channels, height, width = victim.images.shape
    stripes = victim.uniform((channels, 1, width), "square", "stripes") < 0.5
    best = victim.inside(victim.images + eps * _signs(stripes), eps)
    lowest = margin(victim.logits(best), victim.labels)
    drawn = torch.empty(0)
    down, across = (torch.arange(size, device=best.device) for size in (height, width))
    for query in range(1, queries):
        turn = (query - 1) % _TOGETHER
        alive = (lowest >= 0).nonzero()[:, 0]
        if not len(alive):
            break
        if turn == 0:
            drawn = torch.zeros(len(victim), _TOGETHER, channels + 2, device=best.device)
            drawn[alive] = victim.part(alive).uniform((_TOGETHER, channels + 2), "square", query)
        part, draw = victim.part(alive), drawn[alive, turn]
        side = side_of(share, query, queries, height, width)
        top, left = place_of(draw[:, 0], height, side), place_of(draw[:, 1], width, side)
        rows, columns = _covered(down, top, side), _covered(across, left, side)
        window = rows[:, None, :, None] & columns[:, None, None, :]
        signs = _signs(draw[:, 2:, None, None] < 0.5)
        tried = part.inside(torch.where(window, part.images + eps * signs, best[alive]), eps)
        value = margin(part.logits(tried), part.labels)
        lower = value < lowest[alive]
        best[alive] = torch.where(spread(lower, tried), tried, best[alive])
        lowest[alive] = torch.where(lower, value, lowest[alive])
    return torch.where(spread(lowest < 0, best), best, victim.images)


def side_of(share: float, query: int, queries: int, height: int, width: int) -> int:
    """How long a square's side is, from 1 to the image's shorter side.

    >>> [side_of(0.8, query, 5000, 32, 32) for query in (1, 20, 100, 4999)]
    [29, 20, 14, 1]
    """
    now = query * 10_000 / queries
    covered = share / 2 ** sum(now > one for one in HALVED)
    return min(max(round(math.sqrt(covered * height * width)), 1), height, width)


def place_of(drawn: Tensor, size: int, side: int) -> Tensor:
    """Where squares begin on an axis, from numbers between 0 and 1: anywhere from 0 to `size - side`.

    The last place counts, as in the paper. Public codes leave it out, and so the last row and column of an image: on small
    images that makes much of a difference.

    >>> place_of(torch.tensor([0.0, 0.5, 0.99]), 8, 6)
    tensor([0, 1, 2])
    """
    return (drawn * (size - side + 1)).long()


def _covered(axis: Tensor, first: Tensor, side: int) -> Tensor:
    return (axis >= first[:, None]) & (axis < first[:, None] + side)


def _signs(which: Tensor) -> Tensor:
    return torch.where(which, 1.0, -1.0)
