"""A tiny classifier of 8 x 8 digits (0 to 4), and what other people's attacks did to it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

HERE = Path(__file__).parent
CLASSES, SAMPLES = 5, 60
#: what the attacks were run with; `make.py` and the tests read it here
EPS = 0.12
PGD = {"eps": 0.1, "step": 0.03, "steps": 20}
CW = {"steps": 50, "rate": 0.01}
ROUNDS = 5


def network() -> nn.Sequential:
    """About 500 weights, drawn at random."""
    return nn.Sequential(
        *(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 6, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten()),
        nn.Linear(6 * 16, CLASSES),
    )


@cache
def arrays() -> dict[str, Any]:
    """Everything that `make.py` wrote."""
    with np.load(HERE / "values.npz", allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def trained() -> tuple[nn.Sequential, Tensor, Tensor]:
    """The network with its weights, clean images in [0, 1] of shape (60, 1, 8, 8), and labels."""
    made, kept = network(), arrays()
    nn.utils.vector_to_parameters(torch.tensor(kept["weights"]), made.parameters())
    return made.eval(), torch.tensor(kept["images"]), torch.tensor(kept["labels"])


def doubted() -> Tensor:
    """Which samples the network leaves a doubt about, (60,): of the others the loss' gradient is near rounding in float32.

    Its sign, which is all that some attacks take, is another on another kind of processor.
    """
    made, images, labels = trained()
    with torch.no_grad():
        sure = made.double()(images.double()).softmax(-1)
    return 1 - sure[torch.arange(len(labels)), labels] > 1e-5
