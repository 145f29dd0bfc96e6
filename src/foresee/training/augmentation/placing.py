"""Pixels taken from elsewhere in their image: the one way in which crops, shears, shifts and turns move them."""

from __future__ import annotations

import torch
from torch import Tensor


def taken(inputs: Tensor, rows: Tensor, columns: Tensor, fill: Tensor | float) -> Tensor:
    """Output pixel (i, j) of sample n is input pixel (rows[n, i, j], columns[n, i, j]); `fill` where that is outside.

    Args:
        inputs: (N, C, H, W).
        rows: whole numbers that broadcast to (N, height, width).
        columns: likewise.
        fill: a number, or one for each channel, of shape (1, C, 1, 1).

    >>> image = torch.arange(4.0).view(1, 1, 2, 2)
    >>> taken(image, torch.tensor([[[0], [1]]]), torch.tensor([[[1, 2]]]), -1.0).flatten().tolist()
    [1.0, -1.0, 3.0, -1.0]
    """
    count, channels, height, width = inputs.shape
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    places = rows.clamp(0, height - 1) * width + columns.clamp(0, width - 1)
    places = places.expand(count, *places.shape[-2:])
    found = inputs.reshape(count, channels, -1).gather(2, places.reshape(count, 1, -1).expand(-1, channels, -1))
    found = found.view(count, channels, *places.shape[-2:])
    there = torch.as_tensor(fill, dtype=inputs.dtype, device=inputs.device)
    return torch.where(inside.expand_as(places)[:, None], found, there)


def per_sample(values: Tensor, like: Tensor) -> Tensor:
    """Numbers of shape (N,) on the device and in the type of images (N, C, H, W), as (N, 1, 1, 1)."""
    return values.to(like.device, like.dtype).view(-1, 1, 1, 1)
