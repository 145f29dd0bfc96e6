"""A box of each image hidden: cutout and random erasing."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from foresee.training.augmentation.draws import below, chance, uniform

#: random erasing (Zhong et al. 2017, section 4.2): least and largest share of the area, least and largest ratio of the sides
AREA, RATIO = (0.02, 0.4), (0.3, 1 / 0.3)
#: boxes drawn for one image, of which the first that fits is taken
TRIES = 10


def boxes(top: Tensor, left: Tensor, height: Tensor, width: Tensor, like: Tensor) -> Tensor:
    """Which pixels lie in the box of each sample: bool of shape (N, 1, H, W) on the device of `like`.

    What hangs over the border is cut off.

    >>> one = torch.tensor([1])
    >>> boxes(-one, one, 2 * one, one, torch.zeros(1, 1, 2, 2)).int().flatten().tolist()
    [0, 1, 0, 0]
    """
    top, left, height, width = (one.to(like.device).view(-1, 1, 1, 1) for one in (top, left, height, width))
    rows = torch.arange(like.shape[2], device=like.device).view(1, 1, -1, 1)
    columns = torch.arange(like.shape[3], device=like.device).view(1, 1, 1, -1)
    return (rows >= top) & (rows < top + height) & (columns >= left) & (columns < left + width)


def cutout(inputs: Tensor, side: int, generator: Generator) -> Tensor:
    """A square of `side` pixels around a pixel of each image set to 0, the mean of normalised inputs.

    The centre is uniform over all pixels, and what hangs over the border is cut off (DeVries and Taylor 2017, section 3.2).
    """
    count, _, height, width = inputs.shape
    top, left = (below(size, count, generator) - side // 2 for size in (height, width))
    sides = torch.full((count,), side)
    return inputs.masked_fill(boxes(top, left, sides, sides, inputs), 0.0)


def erased(inputs: Tensor, probability: float, generator: Generator) -> Tensor:
    """A box filled with normal noise in each image with this probability (random erasing, Zhong et al. 2017).

    The area and the ratio of the sides are uniform in `AREA` and `RATIO`. The paper draws until a box fits: here the first
    of `TRIES` that does is taken, and none where none does.
    """
    count, channels, height, width = inputs.shape
    share = uniform(TRIES * count, generator, *AREA).view(TRIES, count)
    ratio = uniform(TRIES * count, generator, *RATIO).view(TRIES, count)
    tall = (share * ratio * height * width).sqrt().round().long()
    wide = (share / ratio * height * width).sqrt().round().long()
    fits = (tall < height) & (wide < width) & (tall > 0) & (wide > 0)
    first = fits.float().argmax(0, keepdim=True)
    tall, wide = tall.gather(0, first)[0], wide.gather(0, first)[0]
    top, left = (
        (uniform(count, generator) * (whole - size + 1).clamp(min=1)).long()
        for whole, size in ((height, tall), (width, wide))
    )
    chosen = (chance(probability, count, generator) & fits.any(0)).nonzero()[:, 0]
    if not len(chosen):
        return inputs
    # Noise is drawn for the chosen ones alone: it costs more than all the rest.
    noise = torch.randn(len(chosen), channels, height, width, generator=generator).to(inputs.device, inputs.dtype)
    there = chosen.to(inputs.device)
    some = inputs[there]
    hidden = boxes(top[chosen], left[chosen], tall[chosen], wide[chosen], some)
    return inputs.index_copy(0, there, torch.where(hidden, noise, some))
