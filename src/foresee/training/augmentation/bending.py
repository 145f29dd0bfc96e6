"""Changes of shape: shears, shifts and turns, each with one amount for each sample, (N, 1, 1, 1).

As Pillow does them: the pixel whose square holds the point, no blending; grey where a point lies outside of the image.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from foresee.training.augmentation.placing import taken

#: what is put where nothing was
GREY = 0.5


def sheared_x(pixels: Tensor, amount: Tensor) -> Tensor:
    """Row y taken from `amount * y` pixels to the right."""
    return _affine(pixels, 1.0, amount, 0.0, 0.0, 1.0, 0.0)


def sheared_y(pixels: Tensor, amount: Tensor) -> Tensor:
    """Column x taken from `amount * x` pixels below."""
    return _affine(pixels, 1.0, 0.0, 0.0, amount, 1.0, 0.0)


def shifted_x(pixels: Tensor, amount: Tensor) -> Tensor:
    """Taken from the share `amount` of the width to the right, in whole pixels."""
    return _affine(pixels, 1.0, 0.0, (amount * pixels.shape[3]).trunc(), 0.0, 1.0, 0.0)


def shifted_y(pixels: Tensor, amount: Tensor) -> Tensor:
    """Taken from the share `amount` of the height below, in whole pixels."""
    return _affine(pixels, 1.0, 0.0, 0.0, 0.0, 1.0, (amount * pixels.shape[2]).trunc())


def turned(pixels: Tensor, degrees: Tensor) -> Tensor:
    """Turned around its centre, against the clock."""
    height, width = pixels.shape[2:]
    angle = degrees * (-math.pi / 180)
    cos, sin = angle.cos(), angle.sin()
    across, down = width / 2, height / 2
    return _affine(pixels, cos, sin, across - cos * across - sin * down, -sin, cos, down + sin * across - cos * down)


def _affine(
    pixels: Tensor,
    a: Tensor | float,
    b: Tensor | float,
    c: Tensor | float,
    d: Tensor | float,
    e: Tensor | float,
    f: Tensor | float,
) -> Tensor:
    """The pixel at (x, y) is that at (a x + b y + c, d x + e y + f), counted from the centres of pixels."""
    shape = (len(pixels), 1, 1)
    a, b, c, d, e, f = (one.view(shape) if isinstance(one, Tensor) else one for one in (a, b, c, d, e, f))
    x = (torch.arange(pixels.shape[3], device=pixels.device) + 0.5).view(1, 1, -1)
    y = (torch.arange(pixels.shape[2], device=pixels.device) + 0.5).view(1, -1, 1)
    columns, rows = (a * x + b * y + c).floor().long(), (d * x + e * y + f).floor().long()
    return taken(pixels, rows, columns, GREY)
