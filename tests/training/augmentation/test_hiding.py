"""Cutout and random erasing: boxes against loops, and how often and how large they are."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.properties import examples
from tests.training.augmentation.made import drawn

from foresee.training.augmentation.hiding import AREA, RATIO, boxes, cutout, erased


def test_boxes_against_a_loop() -> None:
    draws = drawn()
    top, left = (torch.randint(-4, 8, (20,), generator=draws) for _ in range(2))
    height, width = (torch.randint(0, 6, (20,), generator=draws) for _ in range(2))
    found = boxes(top, left, height, width, torch.zeros(20, 3, 6, 7))
    expected = torch.zeros(20, 1, 6, 7, dtype=torch.bool)
    for n in range(20):
        first, second = int(top[n]), int(left[n])
        expected[
            n, 0, max(first, 0) : max(first + int(height[n]), 0), max(second, 0) : max(second + int(width[n]), 0)
        ] = 1
    assert torch.equal(found, expected)


@given(st.integers(1, 12), st.integers(1, 10), st.integers(1, 10), st.integers(0, 99))
@examples(40)
def test_cutout_hides_one_square_around_a_pixel(side: int, height: int, width: int, seed: int) -> None:
    found = cutout(torch.ones(3, 2, height, width), side, drawn(seed))
    draws = drawn(seed)
    rows, columns = (torch.randint(size, (3,), generator=draws) for size in (height, width))
    for n in range(3):
        expected = torch.ones(height, width)
        for i in range(height):
            for j in range(width):
                down, right = i - int(rows[n]) + side // 2, j - int(columns[n]) + side // 2
                if 0 <= down < side and 0 <= right < side:
                    expected[i, j] = 0
        assert torch.equal(found[n, 0], expected)
        assert torch.equal(found[n, 1], expected)


def test_cutout_centres_are_everywhere() -> None:
    hidden = (cutout(torch.ones(6400, 1, 8, 8), 1, drawn()) == 0).sum(0).flatten()
    assert hidden.sum() == 6400
    assert stats.chisquare(hidden.numpy()).pvalue > 0.01


def test_erasing_has_its_probability_area_and_ratio() -> None:
    found = erased(torch.full((3000, 1, 64, 64), 9.0), 0.25, drawn())
    hidden = found != 9.0
    some = hidden.flatten(1).any(1)
    assert abs(some.float().mean() - 0.25) < 0.03
    chosen = hidden[some][:, 0]
    tall, wide = chosen.any(2).sum(1).double(), chosen.any(1).sum(1).double()
    area = chosen.sum((1, 2)).double() / 64**2
    assert torch.equal(tall * wide, chosen.sum((1, 2)).double())  # a box each
    assert AREA[0] * 0.9 < area.min()
    assert area.max() < AREA[1] * 1.1
    assert RATIO[0] * 0.9 < (tall / wide).min()
    assert (tall / wide).max() < RATIO[1] * 1.1
    noise = found[some][hidden[some]]
    assert abs(noise.mean()) < 0.02
    assert abs(noise.std() - 1) < 0.02


def test_erasing_never_or_always() -> None:
    images = torch.full((200, 3, 8, 8), 9.0)
    assert torch.equal(erased(images, 0.0, drawn()), images)
    assert (erased(images, 1.0, drawn()) != 9.0).flatten(1).any(1).all()
    assert (images == 9.0).all()


def test_erasing_images_too_small_for_a_box_leaves_them() -> None:
    images = torch.ones(20, 1, 1, 1)
    assert torch.equal(erased(images, 1.0, drawn()), images)
