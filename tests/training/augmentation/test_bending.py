"""Shears, shifts and turns against Pillow's affine transform."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image
from tests.training.augmentation.made import pixels

from foresee.training.augmentation import bending

AMOUNTS = [-0.3, -0.11, 0.0, 0.07, 0.25]
GREY = 200  # no level of ours: what is filled is seen


def compare(found: torch.Tensor, expected: list[Image.Image]) -> float:
    """The share of pixels that differ; those filled have to be the same ones."""
    wrong = 0.0
    for one, image in zip(found, expected, strict=True):
        theirs = torch.from_numpy(np.asarray(image, np.float32).copy()) / 255
        theirs = torch.where(theirs == GREY / 255, bending.GREY, theirs)
        wrong += float(((one[0] - theirs).abs() > 1e-4).float().mean())
    return wrong / len(found)


@pytest.mark.parametrize(("height", "width"), [(9, 12), (16, 16)])
def test_affine_maps(height: int, width: int) -> None:
    images = (pixels(len(AMOUNTS), 1, height, width) * 100).round() / 255
    plain = [Image.fromarray((one[0] * 255).round().byte().numpy()) for one in images]
    amounts = torch.tensor(AMOUNTS).view(-1, 1, 1, 1)

    def theirs(*coefficients: tuple[float, ...]) -> list[Image.Image]:
        return [
            image.transform(image.size, Image.Transform.AFFINE, data, fillcolor=GREY)
            for image, data in zip(plain, coefficients, strict=True)
        ]

    assert compare(bending.sheared_x(images, amounts), theirs(*((1, v, 0, 0, 1, 0) for v in AMOUNTS))) < 0.01
    assert compare(bending.sheared_y(images, amounts), theirs(*((1, 0, 0, v, 1, 0) for v in AMOUNTS))) < 0.01
    shifts = [(1, 0, int(v * width), 0, 1, 0) for v in AMOUNTS]
    assert compare(bending.shifted_x(images, amounts), theirs(*shifts)) == 0
    shifts = [(1, 0, 0, 0, 1, int(v * height)) for v in AMOUNTS]
    assert compare(bending.shifted_y(images, amounts), theirs(*shifts)) == 0
    turned = [image.rotate(100 * v, fillcolor=GREY) for image, v in zip(plain, AMOUNTS, strict=True)]
    assert compare(bending.turned(images, 100 * amounts), turned) < 0.02  # Pillow rounds the sines


def test_a_quarter_turn_is_torchs() -> None:
    images = pixels(2, 3, 8, 8)
    found = bending.turned(images, torch.tensor([90.0, -90.0]).view(-1, 1, 1, 1))
    assert torch.equal(found[0], images[0].rot90(1, (1, 2)))
    assert torch.equal(found[1], images[1].rot90(-1, (1, 2)))
