"""Laws of all operations: shapes, ranges, and nothing at strength 0."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from tests.training.augmentation.made import pixels

from foresee.training.augmentation.operations import OPERATIONS


@pytest.mark.parametrize("name", sorted(OPERATIONS))
@given(
    channels=st.integers(1, 4),
    height=st.integers(1, 9),
    width=st.integers(1, 9),
    strength=st.floats(0, 1),
    side=st.sampled_from([-1.0, 1.0]),
)
@examples(15)
def test_pixels_stay_pixels(name: str, channels: int, height: int, width: int, strength: float, side: float) -> None:
    images = pixels(2, channels, height, width)
    kept = images.clone()
    side = side if OPERATIONS[name].sides in ("both", "factor") else 1.0
    found = OPERATIONS[name](images, torch.tensor([strength * side, 0.0]).view(-1, 1, 1, 1))
    assert found.shape == images.shape
    assert found.min() >= 0
    assert found.max() <= 1
    assert torch.equal(images, kept)
    if OPERATIONS[name].sides != "none":
        assert torch.equal(found[1], images[1])


@pytest.mark.parametrize("name", sorted(set(OPERATIONS) - {"identity"}))
def test_each_changes_something_and_each_sample_by_itself(name: str) -> None:
    images = pixels(3) * 0.5 + 0.25
    strength = torch.tensor([0.5, 0.7, 1.0]).view(-1, 1, 1, 1)
    together = OPERATIONS[name](images, strength)
    assert (together != images).flatten(1).any(1).all() or name == "equalize"  # too few pixels to spread
    for n in range(3):
        assert torch.equal(OPERATIONS[name](images[n : n + 1], strength[n : n + 1]), together[n : n + 1])


def test_half_precision_is_kept() -> None:
    images = pixels(2).bfloat16()
    for operation in OPERATIONS.values():
        assert operation(images, torch.full((2, 1, 1, 1), 0.5).bfloat16()).dtype == torch.bfloat16
