"""What tests of chapter 5 share: a few tiny images, and settings under which a seed takes a second or two."""

from __future__ import annotations

import numpy as np

from foresee.papers import Workshop, reproduce

TINY = {
    "channels": 2, "layers": 2, "cells": 1, "supernet_epochs": 1, "supernet_batch": 21, "posterior_epochs": 1, "epochs": 1,
    "batch": 21, "statistics": 1, "proxy_samples": 3,
}  # fmt: skip
SMALL = {**TINY, "size": 2, "iterations": 2, "pool": 3}


def images(folder, name="cifar10_tiny.npz"):
    """Sixty images of four classes, which brightness tells apart, and twenty to test on."""
    draws, held = np.random.default_rng(0), {}
    for part, count in (("train", 60), ("test", 20)):
        labels = np.arange(count) % 4
        noise = draws.integers(0, 120, (count, 8, 8, 3)) + 40 * labels[:, None, None, None]
        held |= {f"x_{part}": np.clip(noise, 0, 255).astype(np.uint8), f"y_{part}": labels}
    np.savez(folder / name, **held)
    return str(folder / name)


def shop(folder, settings, **changes):
    """A workshop that keeps its work in the folder."""
    return Workshop(
        **{"data": images(folder), "cache": folder / "scores.sqlite", "table_settings": settings, **changes}
    )


def cells(page):
    """By (group, row, column)."""
    return {(line.group, line.row, line.column): line for line in page.lines}


def made(name, folder, settings, **changes):
    """A page."""
    return reproduce(name, shop(folder, settings, **changes))
