"""Trainings so small that they take a moment, and an ensemble of them."""

from __future__ import annotations

from pathlib import Path

import foresee as fs
from foresee.ensembles import Ensemble
from foresee.spaces import get
from foresee.spaces.candidate import Candidate
from foresee.task import Task
from foresee.training.trained import Trained


def trained(folder: Path, seed: int = 0, text: str = "mlp(8)", data="digits") -> Trained:
    """A perceptron on digits of 4x4 pixels."""
    space = get("mlp")
    candidate = Candidate(space, space.parse(text), Task((3, 4, 4), 10))
    return fs.train(candidate, data, epochs=2, batch=128, seed=seed, out=folder)


def ensembled(folder: Path, size: int = 2, text: str = "mlp(8)") -> Path:
    """The folder of an ensemble as hands would make it: members and their weights together."""
    found = [trained(folder / "members" / str(one), one, text) for one in range(size)]
    Ensemble([one.network for one in found]).save(folder, [one.candidate for one in found])
    return folder
