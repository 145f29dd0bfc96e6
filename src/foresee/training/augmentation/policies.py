"""Policies: which operations an image goes through. RandAugment and AutoAugment, one draw for each sample.

Samples that drew the same operation go through it together. What was drawn is known on the CPU, so nobody waits for the
device.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from foresee.training.augmentation.autoaugment_cifar10 import CIFAR10
from foresee.training.augmentation.draws import below, chance, signs
from foresee.training.augmentation.operations import OPERATIONS
from foresee.training.augmentation.placing import per_sample

#: RandAugment's 14 (Cubuk et al. 2020, section 3)
RAND = tuple(name for name in OPERATIONS if name != "invert")
#: the strongest magnitude of each, which is strength 1
RAND_MOST, AUTO_MOST = 10, 9


def rand_augment(pixels: Tensor, operations: int, magnitude: float, generator: Generator) -> Tensor:
    """So many operations one after the other, each uniform over the 14, all of the same magnitude (0 to 10).

    What has two sides (left or right, less or more) has a side drawn for it, so that magnitude 0 changes nothing but
    through autocontrast and equalize, which know no magnitude.

    >>> rand_augment(torch.rand(4, 3, 8, 8), 2, 9, torch.Generator().manual_seed(0)).shape
    torch.Size([4, 3, 8, 8])
    """
    for _ in range(operations):
        which, side = below(len(RAND), len(pixels), generator), signs(len(pixels), generator)
        strength = torch.full((len(pixels),), min(magnitude / RAND_MOST, 1.0))
        for number, name in enumerate(RAND):
            two_sided = OPERATIONS[name].sides in ("both", "factor")
            pixels = _changed(pixels, name, which == number, strength * side if two_sided else strength)
    return pixels


def auto_augment(pixels: Tensor, generator: Generator) -> Tensor:
    """One of the 25 pairs of the CIFAR-10 policy for each image, each step of it with its probability.

    A magnitude k of 9 is a strength of k/9; shears, shifts and turns go to either side with equal chances; factors run from
    their least (k = 0) to their largest (k = 9), as the table of the paper has them.
    """
    count = len(pixels)
    which = below(len(CIFAR10), count, generator)
    for place in range(2):
        steps = [pair[place] for pair in CIFAR10]
        done = chance(torch.tensor([step[1] for step in steps])[which], count, generator)
        share = torch.tensor([step[2] / AUTO_MOST for step in steps])[which]
        side = signs(count, generator)
        strengths = {"both": share * side, "factor": 2 * share - 1, "one": share, "none": share}
        for name in sorted({step[0] for step in steps}):
            of_it = torch.tensor([step[0] == name for step in steps])[which]
            pixels = _changed(pixels, name, of_it & done, strengths[OPERATIONS[name].sides])
    return pixels


def _changed(pixels: Tensor, name: str, chosen: Tensor, strength: Tensor) -> Tensor:
    """Pixels with the operation applied to the chosen samples."""
    rows = chosen.nonzero()[:, 0]
    if not len(rows):
        return pixels
    there = rows.to(pixels.device)
    some = pixels[there]
    return pixels.index_copy(0, there, OPERATIONS[name](some, per_sample(strength[rows], some)))
