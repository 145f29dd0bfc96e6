"""Two samples made one, and their labels with them: mixup and CutMix."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

from foresee.batch import Inputs
from foresee.errors import InputError
from foresee.training.augmentation.draws import beta, chance, uniform
from foresee.training.augmentation.hiding import boxes


class Mixing(Protocol):
    """What of a recipe decides over mixing."""

    @property
    def mixup(self) -> float:
        """The alpha of mixup's Beta distribution; 0: none."""

    @property
    def cutmix(self) -> float:
        """The alpha of CutMix's Beta distribution; 0: none."""


def mixed(inputs: Inputs, labels: Tensor, classes: int, recipe: Mixing, generator: Generator) -> tuple[Inputs, Tensor]:
    """Inputs mixed with others of the batch, and targets of shape (N, classes) mixed alike.

    Every sample has a partner, by a permutation of the batch, and a share of its own (the papers draw one share for a whole
    batch). Where a recipe asks for both mixup and CutMix, a coin decides for each sample.

    - mixup (Zhang et al. 2018, Eq. 1): lambda x_i + (1 - lambda) x_j, lambda of Beta(alpha, alpha); any numbers will do.
    - CutMix (Yun et al. 2019, Eq. 1 and 2): a box of the share 1 - lambda of the area comes from the partner; lambda is
      then counted again from the pixels, since what hangs over the border is cut off. Images only.

    Classes (N,) become rows of zeros and a single one first; rows of targets (N, classes) are mixed as they are.

    >>> from types import SimpleNamespace
    >>> recipe = SimpleNamespace(mixup=1.0, cutmix=0.0)
    >>> _, targets = mixed(torch.randn(4, 3), torch.tensor([0, 1, 2, 0]), 3, recipe, torch.Generator().manual_seed(0))
    >>> targets.sum(1).allclose(torch.ones(4))
    True
    """
    targets = _targets(labels, classes)
    if not (recipe.mixup or recipe.cutmix):
        return inputs, targets
    if not isinstance(inputs, Tensor) or not inputs.is_floating_point():
        raise InputError("mixup and cutmix mix one tensor of numbers: leave them out (mixup=0, cutmix=0) for this data")
    if recipe.cutmix and inputs.ndim != 4:
        raise InputError(f"cutmix mixes images, not inputs of shape {tuple(inputs.shape[1:])}: leave it out (cutmix=0)")
    count = len(inputs)
    partners = torch.randperm(count, generator=generator)
    others = inputs[partners.to(inputs.device)]
    boxed = chance(0.5 if recipe.mixup else 1.0, count, generator) if recipe.cutmix else torch.zeros(count).bool()
    share = torch.ones(count, dtype=torch.float64)
    result = inputs
    if recipe.mixup:
        drawn = beta(recipe.mixup, count, generator)
        share = torch.where(boxed, share, drawn)
        own = share.to(inputs.device, inputs.dtype).view(-1, *(1,) * (inputs.ndim - 1))
        # At a share of 1 this is the sample itself, to the last digit.
        result = torch.where(own == 1, inputs, inputs * own + others * (1 - own))
    if recipe.cutmix:
        result, left = _pasted(result, others, boxed, recipe.cutmix, generator)
        share = torch.where(boxed, left, share)
    weight = share.to(targets.device, targets.dtype).view(-1, 1)
    return result, targets * weight + targets[partners.to(targets.device)] * (1 - weight)


def _pasted(inputs: Tensor, others: Tensor, boxed: Tensor, alpha: float, generator: Generator) -> tuple[Tensor, Tensor]:
    """A box of the others in the images that are to have one, and the share of the pixels that each keeps."""
    count, _, height, width = inputs.shape
    side = (1 - beta(alpha, count, generator)).sqrt()
    tall, wide = (side * height).long(), (side * width).long()
    top, left = (
        (uniform(count, generator) * whole).long() - size // 2 for whole, size in ((height, tall), (width, wide))
    )
    tall, wide = tall * boxed, wide * boxed
    rows, columns = (
        ((start + size).clamp(0, whole) - start.clamp(0, whole)).double()
        for start, size, whole in ((top, tall, height), (left, wide, width))
    )
    there = boxes(top, left, tall, wide, inputs)
    return torch.where(there, others, inputs), 1 - rows * columns / (height * width)


def _targets(labels: Tensor, classes: int) -> Tensor:
    if labels.is_floating_point():
        if labels.ndim != 2 or labels.shape[1] != classes:
            raise InputError(f"targets of shape {tuple(labels.shape)}: expected ({len(labels)}, {classes})")
        return labels
    return F.one_hot(labels, classes).float()
