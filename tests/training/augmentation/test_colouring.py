"""Changes of colour against Pillow's, level by level."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageEnhance, ImageOps
from tests.properties import examples
from tests.training.augmentation.made import pixels
from torch import Tensor

from foresee.training.augmentation import colouring

factors = st.floats(0.1, 1.9)


def as_image(one: Tensor) -> Image.Image:
    levels = (one * 255).round().byte().permute(1, 2, 0).numpy()
    return Image.fromarray(levels if levels.shape[2] == 3 else levels[:, :, 0])


def as_pixels(image: Image.Image) -> Tensor:
    levels = np.asarray(image, np.float32) / 255
    return torch.from_numpy(levels.reshape(*levels.shape[:2], -1)).permute(2, 0, 1)


def compare(
    ours: Callable[[Tensor, Tensor], Tensor],
    theirs: Callable[[Image.Image, float], Image.Image],
    images: Tensor,
    amounts: list[float],
    levels: float,
) -> None:
    found = ours(images, torch.tensor(amounts).view(-1, 1, 1, 1))
    for one, image, amount in zip(found, images, amounts, strict=True):
        torch.testing.assert_close(one, as_pixels(theirs(as_image(image), amount)), rtol=0, atol=(levels + 0.01) / 255)


ENHANCED = {
    "brightened": ImageEnhance.Brightness,
    "contrasted": ImageEnhance.Contrast,
    "coloured": ImageEnhance.Color,
    "sharpened": ImageEnhance.Sharpness,
}


@pytest.mark.parametrize("name", sorted(ENHANCED))
@pytest.mark.parametrize("channels", [1, 3])
@given(seed=st.integers(0, 20), amounts=st.lists(factors, min_size=2, max_size=2))
@examples(15)
def test_enhancements(name: str, channels: int, seed: int, amounts: list[float]) -> None:
    """Pillow rounds in between, to a level of the other image and to one of the result."""
    images = pixels(2, channels, seed=seed)
    compare(getattr(colouring, name), lambda image, x: ENHANCED[name](image).enhance(x), images, amounts, levels=2)


@given(seed=st.integers(0, 20), bits=st.lists(st.integers(4, 8), min_size=2, max_size=2))
@examples(15)
def test_posterise(seed: int, bits: list[int]) -> None:
    compare(
        colouring.posterised,
        lambda image, x: ImageOps.posterize(image, int(x)),
        pixels(2, seed=seed),
        [float(one) for one in bits],
        levels=0,
    )


@given(seed=st.integers(0, 20), thresholds=st.lists(st.integers(0, 256), min_size=2, max_size=2))
@examples(15)
def test_solarise(seed: int, thresholds: list[int]) -> None:
    compare(
        colouring.solarised,
        lambda image, x: ImageOps.solarize(image, round(x * 255 + 0.5)),
        pixels(2, seed=seed),
        [(one - 0.5) / 255 for one in thresholds],  # between two levels, so that rounding decides nothing
        levels=0,
    )


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [(3, 4), (20, 30), (40, 40)])
def test_equalise_autocontrast_invert(channels: int, size: tuple[int, int]) -> None:
    images = pixels(3, channels, *size) * 0.5 + 0.1
    images = (images * 255).round() / 255
    images[2] = 0.4  # constant, as far as a level goes
    images[2] = (images[2] * 255).round() / 255
    nothing = [0.0] * 3
    compare(colouring.equalised, lambda image, _: ImageOps.equalize(image), images, nothing, levels=0)
    compare(colouring.stretched, lambda image, _: ImageOps.autocontrast(image), images, nothing, levels=1)
    compare(colouring.inverted, lambda image, _: ImageOps.invert(image), images, nothing, levels=0)


def test_other_numbers_of_channels_have_the_mean_as_grey() -> None:
    images = pixels(2, 4)
    torch.testing.assert_close(colouring.grey(images), images.mean(1, keepdim=True))
