"""Small click logs for judging: as an .npz, as a raw file, in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from foresee.data.features import Features

#: little enough to be trained in a moment
FAST = {"epochs": 1, "batch": 64, "optimiser": "adam", "lr": 0.01}
SMALL = {"deepfm": {"deep": (8,)}, "trees": {"rounds": 5}}


def rows(count: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    sparse, dense = draws.integers(0, 4, (count, 2)), draws.normal(size=(count, 2))
    return dense, sparse, ((sparse[:, 0] == sparse[:, 1]) | (dense[:, 0] > 1)).astype(int)


def features() -> Features:
    return Features(*rows(), name="small")


def npz(folder: Path) -> Path:
    dense, sparse, labels = rows()
    np.savez(folder / "log.npz", dense=dense, sparse=sparse, labels=labels)
    return folder / "log.npz"


def csv(folder: Path) -> tuple[Path, Path]:
    """A raw log, and the file of its schema."""
    dense, sparse, labels = rows()
    lines = ["clicked,size,price,site,app"]
    lines += [
        f"{label},{a:.3f},{b:.3f},s{one},a{other}"
        for label, (a, b), (one, other) in zip(labels, dense, sparse, strict=True)
    ]
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    (folder / "log.toml").write_text(
        'label = "clicked"\nnumeric = ["size", "price"]\ncategories = ["site", "app"]\nleast = 2\n'
    )
    return folder / "log.csv", folder / "log.toml"
