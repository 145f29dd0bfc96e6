"""What a recipe asks for: laws, order, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from tests.training.augmentation.made import drawn, pixels, recipe

from foresee.data.normalising import Statistics
from foresee.errors import InputError, UnknownNameError
from foresee.training.augmentation import augment, changing, mixed

STATISTICS = Statistics((0.5, 0.4, 0.3), (0.2, 0.25, 0.3))

recipes = st.fixed_dictionaries(
    {},
    optional={
        "crop": st.integers(0, 3),
        "flip": st.booleans(),
        "cutout": st.integers(0, 6),
        "erasing": st.sampled_from([0.0, 0.5, 1.0]),
        "augment": st.sampled_from(["", "autoaugment", "randaugment"]),
        "magnitude": st.sampled_from([0, 4.5, 9, 10]),
        "operations": st.integers(0, 3),
        "resized_crop": st.sampled_from([0.0, 0.2, 1.0]),
    },
)


@given(recipes, st.integers(1, 5), st.integers(3, 12), st.integers(3, 12), st.integers(0, 99))
@examples(60)
def test_laws(asked: dict[str, Any], count: int, height: int, width: int, seed: int) -> None:
    """The shape is kept, the seed decides, the caller's images and the global random state stay as they are."""
    images = STATISTICS.apply(pixels(count, 3, height, width, seed))
    kept, state = images.clone(), torch.get_rng_state()
    found = augment(images, recipe(**asked), drawn(seed), STATISTICS)
    assert isinstance(found, torch.Tensor)
    assert found.shape == images.shape
    assert found.dtype == images.dtype
    assert torch.isfinite(found).all()
    assert torch.equal(found, augment(images, recipe(**asked), drawn(seed), STATISTICS))
    assert torch.equal(images, kept)
    assert torch.equal(torch.get_rng_state(), state)


def test_another_seed_another_batch() -> None:
    images = STATISTICS.apply(pixels(8))
    for asked in ({"crop": 2}, {"flip": True}, {"cutout": 4}, {"erasing": 1.0}, {"augment": "randaugment"}):
        first, second = (augment(images, recipe(**asked), drawn(seed), STATISTICS) for seed in (0, 1))
        assert not torch.equal(first, second), asked


def test_nothing_asked_is_the_same_object_and_draws_nothing() -> None:
    draws, images = drawn(), pixels(2)
    before = draws.get_state()
    assert augment(images, recipe(), draws) is images
    assert torch.equal(draws.get_state(), before)
    several = (torch.zeros(2, 3), torch.zeros(2, 1).long())
    assert augment(several, recipe(), draws) is several


def test_a_policy_of_no_operations_is_nearly_nothing() -> None:
    """Undone and done again: the last digits may differ."""
    images = STATISTICS.apply(pixels(4))
    found = augment(images, recipe(augment="randaugment", operations=0), drawn(), STATISTICS)
    torch.testing.assert_close(found, images)


def test_the_order_is_crop_flip_policy_cutout_erasing(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    for name in ("cropped", "resized_crop", "flipped", "auto_augment", "cutout", "erased"):

        def note(images: torch.Tensor, *_: Any, name: str = name) -> torch.Tensor:
            order.append(name)
            return images

        monkeypatch.setattr(changing, name, note)
    augment(
        pixels(2), recipe(crop=1, flip=True, cutout=1, erasing=1.0, augment="autoaugment", resized_crop=0.5), drawn()
    )
    assert order == ["cropped", "resized_crop", "flipped", "auto_augment", "cutout", "erased"]


def test_policies_see_pixels_whatever_normalised_them() -> None:
    images = pixels(16)
    plain = augment(images, recipe(augment="autoaugment"), drawn(2))
    assert isinstance(plain, torch.Tensor)
    found = augment(STATISTICS.apply(images), recipe(augment="autoaugment"), drawn(2), STATISTICS)
    torch.testing.assert_close(found, STATISTICS.apply(plain), rtol=0, atol=0.03)  # a level of 255, over std
    # Where no level is counted, only rounding is left.
    assert ((found - STATISTICS.apply(plain)).abs() < 1e-4).float().mean() > 0.9


def test_what_is_no_image_is_refused() -> None:
    with pytest.raises(InputError, match=r"crop, flip: made for images .* shape \(5,\)"):
        augment(torch.rand(2, 5), recipe(crop=1, flip=True), drawn())
    with pytest.raises(InputError, match=r"cutout: made for images .* several parts"):
        augment((torch.rand(2, 5), torch.zeros(2, 1).long()), recipe(cutout=1), drawn())
    with pytest.raises(InputError, match="erasing"):
        augment(torch.zeros(2, 1, 4, 4).long(), recipe(erasing=0.5), drawn())


def test_policies_refuse_what_is_no_pixel() -> None:
    normalised = STATISTICS.apply(pixels(2))
    with pytest.raises(InputError, match="hand over the statistics"):
        augment(normalised, recipe(augment="randaugment"), drawn())
    with pytest.raises(InputError, match="they are no pixels"):
        augment(normalised * 9, recipe(augment="randaugment"), drawn(), STATISTICS)
    with pytest.raises(UnknownNameError, match="did you mean randaugment"):
        augment(normalised, recipe(augment="rand-augment"), drawn())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("policy", ["", "autoaugment", "randaugment"])
def test_every_device_sees_the_same_draws(policy: str) -> None:
    images = STATISTICS.apply(pixels(32, 3, 16, 16))
    asked = recipe(crop=2, flip=True, cutout=4, erasing=0.5, augment=policy)
    here, there = (augment(images.to(device), asked, drawn(), STATISTICS) for device in ("cpu", "cuda"))
    assert isinstance(here, torch.Tensor)
    assert isinstance(there, torch.Tensor)
    # A point on the border between two pixels, or two levels, may fall to either side.
    assert ((there.cpu() - here).abs() < 1e-3).float().mean() > 0.99
    mixing = recipe(mixup=0.8, cutmix=1.0)
    labels = torch.arange(32) % 4
    (one, first), (other, second) = (
        mixed(images.to(device), labels.to(device), 4, mixing, drawn()) for device in ("cpu", "cuda")
    )
    assert isinstance(other, torch.Tensor)
    torch.testing.assert_close(other.cpu(), one)
    torch.testing.assert_close(second.cpu(), first)
