"""Crops and flips: another part of the image, or its mirror image."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from foresee.training.augmentation.draws import below, chance, uniform
from foresee.training.augmentation.placing import per_sample, taken

#: boxes drawn for a resized crop, of which the first that lies in the image is taken
TRIES = 10


def cropped(inputs: Tensor, padding: int, generator: Generator, fill: Tensor | float = 0.0) -> Tensor:
    """Each image padded by `padding` pixels of `fill` on every side, and cut to its old size at a place of its own.

    All (2 padding + 1)^2 places are equally likely.

    >>> cropped(torch.ones(2, 3, 8, 8), 4, torch.Generator().manual_seed(0)).shape
    torch.Size([2, 3, 8, 8])
    """
    count, _, height, width = inputs.shape
    down, right = (below(2 * padding + 1, count, generator) - padding for _ in range(2))
    rows = (down.view(-1, 1, 1) + torch.arange(height).view(1, -1, 1)).to(inputs.device)
    columns = (right.view(-1, 1, 1) + torch.arange(width).view(1, 1, -1)).to(inputs.device)
    return taken(inputs, rows, columns, fill)


def flipped(inputs: Tensor, generator: Generator) -> Tensor:
    """Left and right exchanged in each image with probability one half."""
    turned = chance(0.5, len(inputs), generator).to(inputs.device)
    return torch.where(turned.view(-1, 1, 1, 1), inputs.flip(3), inputs)


def resized_crop(inputs: Tensor, least: float, generator: Generator) -> Tensor:
    """A box of each image, enlarged (bilinear) to the image's size.

    The box has a share of the area that is uniform from `least` to 1 and a ratio of width to height between 3/4 and 4/3,
    uniform in its logarithm (Szegedy et al. 2015, "Going deeper with convolutions", section 6). Of `TRIES` boxes the first
    that fits into the image is taken; the whole image where none does.
    """
    count, _, height, width = inputs.shape
    share = uniform(TRIES * count, generator, least, 1.0).view(TRIES, count)
    ratio = uniform(TRIES * count, generator, math.log(3 / 4), math.log(4 / 3)).exp().view(TRIES, count)
    # As shares of the image's width and height: what fits is at most 1.
    wide = (share * ratio * height / width).sqrt()
    high = (share / ratio * width / height).sqrt()
    fits = (wide <= 1) & (high <= 1)
    first = fits.float().argmax(0)
    some = fits.any(0)
    wide, high = (torch.where(some, size.gather(0, first[None])[0], 1.0) for size in (wide, high))
    across, down = ((2 * uniform(count, generator) - 1) * (1 - size) for size in (wide, high))
    zero = torch.zeros(count)
    places = torch.stack([torch.stack([wide, zero, across], 1), torch.stack([zero, high, down], 1)], 1)
    grid = F.affine_grid(places.to(inputs.device, inputs.dtype), list(inputs.shape), align_corners=False)
    found = F.grid_sample(inputs, grid, mode="bilinear", padding_mode="border", align_corners=False)
    # A box that is the whole image is that image, to the last digit.
    whole = ((wide == 1) & (high == 1)).to(inputs.device)
    return torch.where(whole.view(-1, 1, 1, 1), inputs, found)


def black(statistics: tuple[tuple[float, ...], tuple[float, ...]] | None, inputs: Tensor) -> Tensor:
    """What a black pixel is after normalising by (mean, std), of shape (1, C, 1, 1); 0 where nothing was normalised."""
    if statistics is None:
        return torch.zeros(1, 1, 1, 1, dtype=inputs.dtype, device=inputs.device)
    mean, std = (torch.tensor(one, dtype=torch.float64) for one in statistics)
    return per_sample(-mean / std, inputs).transpose(0, 1)
