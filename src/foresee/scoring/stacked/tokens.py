"""Tokens with an architecture axis: maps (architectures, numbers, entries, tokens, 1), entries as in `layers`.

What is linear goes through as entries. So do relative positions: a query meets each vector of a table once, and the pairs of
tokens read what belongs to them; what is gathered from all tokens is summed by table entry first.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from foresee.scoring.stacked.layers import Samples


def rows(x: Tensor) -> Tensor:
    """A row for each token, as feature maps have it: (A, tokens, entries, numbers, 1), and back."""
    return x.transpose(1, 3)


def patched(x: Tensor, weights: Tensor, side: int) -> Tensor:
    """Each architecture's own filters at every patch: (A or 1, C, E, H, W) by (A, filters, C side^2)."""
    grid = torch.unflatten(torch.unflatten(x, 4, (-1, side)), 3, (-1, side))  # (A, C, E, rows, side, columns, side)
    patches = grid.permute(0, 1, 4, 6, 2, 3, 5).reshape(len(x), weights.shape[2], -1)
    size = x.shape[2], x.shape[3] // side, x.shape[4] // side
    return torch.matmul(weights, patches).view(*weights.shape[:2], *size)


def tokens_of(x: Tensor, first: Tensor, places: Tensor, constant: Tensor) -> Tensor:
    """The positions of maps behind a `first` token (A, 1, numbers), all with their `places` (A, tokens, numbers)."""
    begin = first.mT[:, :, None] * constant[:, None]
    joined = torch.cat([begin, x.flatten(3)], 3) + places.mT[:, :, None] * constant[:, None]
    return joined[..., None]


def mean_of_patches(x: Tensor) -> Tensor:
    """The mean of all tokens but the first, a map of one position."""
    return x[:, :, :, 1:].mean(3, keepdim=True)


def layer_normed(x: Tensor, entries: Samples) -> Tensor:
    """Layer norm of each token, as it is before training."""
    last = x.transpose(1, 4)  # (A, 1, entries, tokens, numbers)
    return entries.through(lambda one: F.layer_norm(one, one.shape[-1:]), last).transpose(1, 4)


def heads_of(x: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of heads of this width, interleaved in maps: (A, heads, entries, tokens, width) each."""
    queries, keys, values = torch.unflatten(x[..., 0], 1, (-1, width, 3)).permute(3, 0, 1, 4, 5, 2)
    return queries, keys, values


def likeness(queries: Tensor, keys: Tensor, tables: tuple[Tensor, ...], index: Tensor, entries: Samples) -> Tensor:
    """How alike queries and keys are, with what tables (A, entries of it, width) have for each pair: (A, heads, E, L, L)."""
    found = entries.through(torch.matmul, queries, keys.mT)
    shape, flat = queries.shape[:3], queries.flatten(1, 3)
    for table, places in zip(tables, index, strict=True):
        met = torch.matmul(flat, table.mT).view(*queries.shape[:4], -1)
        found = found + met.gather(4, places.expand(*shape, *places.shape))
    return found


def gathered(attention: Tensor, values: Tensor, tables: tuple[Tensor, ...], index: Tensor, entries: Samples) -> Tensor:
    """What attention (A, heads, E, L, L) gathers of values, and of tables for each pair; the heads joined, as tokens."""
    found = entries.through(torch.matmul, attention, values)
    shape = attention.shape
    for table, places in zip(tables, index, strict=True):
        sums = attention.new_zeros(*shape[:4], table.shape[1])
        sums = sums.scatter_add(4, places.expand(shape), attention)
        found = found + torch.matmul(sums.flatten(1, 3), table).view(found.shape)
    return found.permute(0, 1, 4, 2, 3).flatten(1, 2)[..., None]


def looked_up(tables: tuple[Tensor, ...], index: Tensor) -> Tensor:
    """What tables have for the first token and each other one, as rows: (A, tokens, 1, width, 1)."""
    vertical, horizontal = (table[:, places[0]] for table, places in zip(tables, index, strict=True))
    return (vertical + horizontal)[:, :, None, :, None]


def softmax(x: Tensor) -> Tensor:
    """Over the last axis."""
    return x.softmax(-1)
