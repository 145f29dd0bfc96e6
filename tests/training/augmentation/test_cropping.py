"""Crops and flips against torch's own padding and slicing, and how often each place is drawn."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.properties import examples
from tests.training.augmentation.made import drawn, pixels
from torch.nn import functional as F

from foresee.data.normalising import Statistics
from foresee.training.augmentation.cropping import black, cropped, flipped, resized_crop


@given(
    st.integers(1, 5), st.integers(1, 4), st.integers(1, 9), st.integers(1, 9), st.integers(0, 5), st.integers(0, 99)
)
@examples(40)
def test_a_crop_is_one_place_of_the_padded_image(
    count: int, channels: int, height: int, width: int, padding: int, seed: int
) -> None:
    images = pixels(count, channels, height, width) + 1  # no pixel is the padding
    found = cropped(images, padding, drawn(seed))
    assert found.shape == images.shape
    draws = drawn(seed)
    down, right = (torch.randint(2 * padding + 1, (count,), generator=draws) for _ in range(2))
    padded = F.pad(images, (padding,) * 4)
    for n in range(count):
        i, j = int(down[n]), int(right[n])
        assert torch.equal(found[n], padded[n, :, i : i + height, j : j + width])


def test_every_place_is_as_likely() -> None:
    image = torch.zeros(1, 1, 5, 5)
    image[0, 0, 2, 2] = 1
    found = cropped(image.expand(5000, -1, -1, -1), 2, drawn())
    counts = found.sum(0).flatten()
    assert counts.sum() == 5000  # the pixel in the middle never leaves the image
    assert stats.chisquare(counts.numpy()).pvalue > 0.01


def test_padding_is_black_after_normalising() -> None:
    statistics = Statistics((0.5, 0.2), (0.25, 0.1))
    images = torch.rand(8, 2, 4, 4, generator=drawn())
    first = cropped(statistics.apply(images), 2, drawn(3), black((statistics.mean, statistics.std), images))
    torch.testing.assert_close(first, statistics.apply(cropped(images, 2, drawn(3))))


def test_half_of_the_images_are_mirrored() -> None:
    images = pixels(1000, 1, 2, 3)
    found = flipped(images, drawn())
    same = (found == images).flatten(1).all(1)
    mirrored = (found == images.flip(3)).flatten(1).all(1)
    assert (same | mirrored).all()
    assert 0.45 < mirrored.float().mean() < 0.55


def test_a_resized_crop_is_a_box_of_the_image() -> None:
    """Of an image that is a ramp, the crop is a ramp of a smaller slope: the slopes say the area and the ratio."""
    size = 64
    across = torch.linspace(0, 1, size).expand(1, size, size)
    ramps = torch.stack([across, across.transpose(1, 2)], 1).expand(400, -1, -1, -1)
    found = resized_crop(ramps, 0.25, drawn())
    assert found.shape == ramps.shape
    middle = slice(size // 4, 3 * size // 4)
    wide = (found[:, 0, :, middle].diff(dim=2).mean(dim=(1, 2)) * (size - 1)).double()
    high = (found[:, 1, middle].diff(dim=1).mean(dim=(1, 2)) * (size - 1)).double()
    area, ratio = wide * high, wide / high
    assert 0.25 - 1e-3 < area.min() < 0.3
    assert 0.85 < area.max() < 1 + 1e-3
    assert 0.75 - 1e-3 < ratio.min() < 0.8
    assert 1.25 < ratio.max() < 4 / 3 + 1e-3
    assert found.min() >= 0
    assert found.max() <= 1


def test_a_resized_crop_of_everything_is_nearly_the_image() -> None:
    images = pixels(4, 3, 8, 8)
    assert torch.equal(resized_crop(images, 1.0, drawn()), images)
