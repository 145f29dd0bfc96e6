"""Pixels taken from elsewhere, against a loop."""

from __future__ import annotations

import torch
from tests.training.augmentation.made import drawn, pixels

from foresee.training.augmentation.placing import taken


def test_against_a_loop() -> None:
    images = pixels(3, 2, 4, 5)
    rows = torch.randint(-2, 6, (3, 3, 6), generator=drawn(1))
    columns = torch.randint(-2, 7, (3, 3, 6), generator=drawn(2))
    fill = torch.tensor([7.0, 8.0]).view(1, 2, 1, 1)
    found = taken(images, rows, columns, fill)
    for n in range(3):
        for i in range(3):
            for j in range(6):
                row, column = int(rows[n, i, j]), int(columns[n, i, j])
                inside = 0 <= row < 4 and 0 <= column < 5
                expected = images[n, :, row, column] if inside else fill.flatten()
                assert torch.equal(found[n, :, i, j], expected)
