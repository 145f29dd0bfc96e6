"""Images and recipes for the tests of augmentation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor


def drawn(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def pixels(count: int, channels: int = 3, height: int = 9, width: int = 12, seed: int = 0) -> Tensor:
    """Pixels of 256 levels, 0 to 1, smooth enough that neighbours matter."""
    noise = torch.rand(count, channels, height, width, generator=drawn(seed))
    return (noise * 255).round() / 255


def recipe(**changes: Any) -> Any:
    """A recipe that asks for nothing, but for the changes."""
    nothing = {"crop": 0, "flip": False, "cutout": 0, "erasing": 0.0, "augment": "", "magnitude": 9, "operations": 2}
    return SimpleNamespace(**{**nothing, "mixup": 0.0, "cutmix": 0.0, **changes})
