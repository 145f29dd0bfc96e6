"""All changes that a recipe asks for, in the published order: crop, flip, policy, then what hides a box."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Generator, Tensor

from foresee.batch import Inputs
from foresee.data.normalising import Statistics
from foresee.errors import InputError, UnknownNameError
from foresee.training.augmentation.cropping import black, cropped, flipped, resized_crop
from foresee.training.augmentation.hiding import cutout, erased
from foresee.training.augmentation.policies import auto_augment, rand_augment

POLICIES = ("autoaugment", "randaugment")
#: how far beyond 0 and 1 a pixel may lie by rounding
ROUNDING = 1e-3


class Augmentations(Protocol):
    """What of a recipe decides over augmentation."""

    @property
    def crop(self) -> int:
        """Padding in pixels; 0: no crop."""

    @property
    def flip(self) -> bool:
        """Whether images are mirrored."""

    @property
    def cutout(self) -> int:
        """Side of the square that is hidden; 0: none."""

    @property
    def erasing(self) -> float:
        """Probability of random erasing; 0: none."""

    @property
    def augment(self) -> str:
        """A policy, or ""."""

    @property
    def magnitude(self) -> float:
        """Of RandAugment's operations, 0 to 10."""

    @property
    def operations(self) -> int:
        """How many RandAugment applies."""


def augment(
    inputs: Inputs, recipe: Augmentations, generator: Generator, statistics: Statistics | None = None
) -> Inputs:
    """Training images (N, C, H, W), normalised by `statistics`, with the recipe's changes; new tensors, never in place.

    `statistics` tell what a black pixel is, with which crops are padded, and how to get at the colours, which policies
    work on as numbers from 0 to 1. Without them inputs count as they are: a crop is padded with zeros, and a policy takes
    inputs from 0 to 1 and refuses others. Cutout and erasing work on normalised inputs, as published: zeros (the mean), and
    normal noise. A recipe may have a field `resized_crop`, the least share of the area of a box that is enlarged.

    Data that is no images is handed through where a recipe asks for nothing, and refused where it does.

    >>> from types import SimpleNamespace
    >>> recipe = SimpleNamespace(crop=2, flip=True, cutout=4, erasing=0.0, augment="", magnitude=9, operations=2)
    >>> augment(torch.ones(2, 3, 8, 8), recipe, torch.Generator().manual_seed(0)).mean() < 1
    tensor(True)
    """
    least: float = getattr(recipe, "resized_crop", 0.0)
    if recipe.augment and recipe.augment not in POLICIES:
        raise UnknownNameError("augmentation", recipe.augment, POLICIES)
    asked = {"crop": recipe.crop, "resized_crop": least, "flip": recipe.flip, "augment": recipe.augment}
    asked |= {"cutout": recipe.cutout, "erasing": recipe.erasing}
    wanted = [name for name, value in asked.items() if value]
    if not wanted:
        return inputs
    images = _images(inputs, wanted)
    if recipe.crop:
        mean_and_std = None if statistics is None else (statistics.mean, statistics.std)
        images = cropped(images, recipe.crop, generator, black(mean_and_std, images))
    if least:
        images = resized_crop(images, least, generator)
    if recipe.flip:
        images = flipped(images, generator)
    if recipe.augment:
        images = _policy(images, recipe, generator, statistics)
    if recipe.cutout:
        images = cutout(images, recipe.cutout, generator)
    if recipe.erasing:
        images = erased(images, recipe.erasing, generator)
    return images


def _images(inputs: Inputs, wanted: list[str]) -> Tensor:
    if not isinstance(inputs, Tensor) or inputs.ndim != 4 or not inputs.is_floating_point():
        shape = f"inputs of shape {tuple(inputs.shape[1:])}" if isinstance(inputs, Tensor) else "several parts"
        raise InputError(
            f"{', '.join(wanted)}: made for images (channels, height, width), not for {shape}; leave these out of the recipe"
        )
    return inputs


def _policy(images: Tensor, recipe: Augmentations, generator: Generator, statistics: Statistics | None) -> Tensor:
    """The colours looked up, the policy applied, and normalised again."""
    pixels = images if statistics is None else undone(images, statistics)
    low, high = (float(one) for one in torch.aminmax(pixels))
    if low < -ROUNDING or high > 1 + ROUNDING:
        remedy = "hand over the statistics that normalised them" if statistics is None else "they are no pixels"
        raise InputError(
            f"{recipe.augment}: works on pixels from 0 to 1, and these run from {low:.3g} to {high:.3g}: {remedy}, or leave "
            "it out of the recipe"
        )
    pixels = pixels.clamp(0, 1)
    if recipe.augment == "randaugment":
        pixels = rand_augment(pixels, recipe.operations, recipe.magnitude, generator)
    else:
        pixels = auto_augment(pixels, generator)
    return pixels if statistics is None else statistics.apply(pixels)


def undone(inputs: Tensor, statistics: Statistics) -> Tensor:
    """The inputs as they were before `statistics.apply`.

    >>> statistics = Statistics((0.5,), (0.25,))
    >>> undone(statistics.apply(torch.ones(1, 1, 2, 2)), statistics).unique()
    tensor([1.])
    """
    mean, std = (inputs.new_tensor(one).view(1, -1, 1, 1) for one in (statistics.mean, statistics.std))
    return inputs * std + mean
