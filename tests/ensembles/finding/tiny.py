"""Data and settings so small that a whole ensemble is found in a second."""

from __future__ import annotations

from typing import Any

import numpy as np

from foresee.data import Arrays

#: of all
TINY: dict[str, Any] = {
    **{"size": 2, "epochs": 1, "batch": 32, "iterations": 2, "posterior_epochs": 1},
    **{"supernet_epochs": 1, "supernet_batch": 32},
}
#: by space
NB201: dict[str, Any] = {"space": "nasbench201", "channels": 2, "cells": 1}
DARTS: dict[str, Any] = {"space": "darts", "channels": 2, "layers": 3}


def images(samples: int = 120, size: int = 8, classes: int = 3) -> Arrays:
    """Noise around one brightness for each class."""
    numbers = np.random.default_rng(0)
    labels = np.arange(samples) % classes
    pixels = numbers.normal(size=(samples, 3, size, size)) * 40 + 20 + 40 * labels[:, None, None, None]
    return Arrays(pixels.clip(0, 255).astype(np.uint8), labels)
