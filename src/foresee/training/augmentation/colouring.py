"""Changes of colour: each takes pixels from 0 to 1, (N, C, H, W), and one amount for each sample, (N, 1, 1, 1).

Each is defined as Pillow's operation of that name, on 256 levels where the definition counts levels (posterize, equalise);
the others do not round in between.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

#: the share of red, green and blue in what the eye takes for brightness (ITU-R 601)
LUMA = (0.299, 0.587, 0.114)


def brightened(pixels: Tensor, factor: Tensor) -> Tensor:
    """Black at factor 0, the image at 1, brighter above."""
    return (pixels * factor).clamp(0, 1)


def contrasted(pixels: Tensor, factor: Tensor) -> Tensor:
    """The image's mean grey at factor 0, the image at 1, more contrast above."""
    mean = (grey(pixels).mean(dim=(1, 2, 3), keepdim=True) * 255 + 0.5).floor() / 255
    return _blended(mean, pixels, factor)


def coloured(pixels: Tensor, factor: Tensor) -> Tensor:
    """The image in grey at factor 0, the image at 1, stronger colours above."""
    return _blended(grey(pixels), pixels, factor)


def sharpened(pixels: Tensor, factor: Tensor) -> Tensor:
    """The image smoothed at factor 0 (5 parts itself, 1 part each neighbour), the image at 1, sharper above.

    The pixels of the border stay as they are.
    """
    channels = pixels.shape[1]
    smooth = pixels.clone()
    if min(pixels.shape[2:]) > 2:
        kernel = torch.ones(3, 3, dtype=pixels.dtype, device=pixels.device)
        kernel[1, 1] = 5
        kernel = (kernel / 13).expand(channels, 1, 3, 3)
        smooth[:, :, 1:-1, 1:-1] = F.conv2d(pixels, kernel, groups=channels)
    return _blended(smooth, pixels, factor)


def inverted(pixels: Tensor, _: Tensor) -> Tensor:
    """The negative; there is no amount."""
    return 1 - pixels


def solarised(pixels: Tensor, threshold: Tensor) -> Tensor:
    """What is as bright as the threshold or brighter is inverted."""
    return torch.where(pixels < threshold, pixels, 1 - pixels)


def posterised(pixels: Tensor, bits: Tensor) -> Tensor:
    """Only the highest `bits` of the 8 bits of a level are kept."""
    step = (2 ** (8 - bits.round())).to(torch.int32)
    kept = levels(pixels) // step * step
    return torch.where(step == 1, pixels, kept.to(pixels.dtype) / 255)


def stretched(pixels: Tensor, _: Tensor) -> Tensor:
    """Each channel from its darkest to its brightest value becomes 0 to 1 (autocontrast); a constant one stays."""
    low, high = pixels.amin(dim=(2, 3), keepdim=True), pixels.amax(dim=(2, 3), keepdim=True)
    span = high - low
    return torch.where(span > 0, (pixels - low) / span.clamp(min=1e-12), pixels)


def equalised(pixels: Tensor, _: Tensor) -> Tensor:
    """Each channel with its levels spread so that as many pixels have one as another (histogram equalisation).

    Level i becomes (step // 2 + how many pixels have less) // step, where a step is a 255th of all pixels but those of the
    highest level; a channel of a single level, or of so few pixels that a step is none, stays.
    """
    flat = levels(pixels).flatten(2).long()
    counts = torch.zeros(*flat.shape[:2], 256, dtype=torch.int64, device=flat.device)
    counts.scatter_add_(2, flat, torch.ones_like(flat))  # whole numbers: in whatever order they are added
    highest = counts.gather(2, flat.amax(2, keepdim=True))
    step = (flat.shape[2] - highest) // 255
    less = counts.cumsum(2) - counts
    table = ((less + step // 2) // step.clamp(min=1)).clamp(max=255)
    spread = table.gather(2, flat).view_as(pixels).to(pixels.dtype) / 255
    return torch.where((step > 0).unsqueeze(-1), spread, pixels)


def grey(pixels: Tensor) -> Tensor:
    """(N, 1, H, W): how bright a pixel is to the eye; of other than three channels, their mean."""
    if pixels.shape[1] != 3:
        return pixels.mean(1, keepdim=True)
    weights = torch.tensor(LUMA, dtype=pixels.dtype, device=pixels.device).view(1, 3, 1, 1)
    return (pixels * weights).sum(1, keepdim=True)


def levels(pixels: Tensor) -> Tensor:
    """Pixels from 0 to 1 as levels from 0 to 255."""
    return (pixels * 255).round().clamp(0, 255).to(torch.int32)


def _blended(other: Tensor, pixels: Tensor, factor: Tensor) -> Tensor:
    """The other image at 0, the image at 1, beyond it above; exactly the image at 1."""
    return torch.where(factor == 1, pixels, (other + (pixels - other) * factor).clamp(0, 1))
