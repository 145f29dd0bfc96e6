"""What a search that trains keeps between its steps: the weights, in the folder of the run.

A run stores what each step gave, which is enough to propose; weights are too much for it. So after each step they are
written beside the run (`weights.safetensors`, `weights.json`), together with what the step gave: a process that is killed
between the two has lost neither. Where the files are gone, or damaged, the steps are done again, which on a CPU gives the
same to the last bit; if it does not, the run is refused, not continued into a mixture.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from foresee.errors import RunError
from foresee.training import checkpoints

#: the name of the files
NAME = "weights"
#: between the name of a part and what is in it
IN = "/"


class Kept:
    """The files of one search.

    Args:
        folder: of the run; None where it lives in memory, and nothing is kept.
        of: all that decides the weights, as plain values: files of anything else are not taken.
    """

    def __init__(self, folder: Path | None, of: Mapping[str, Any]) -> None:
        self._folder = folder
        self._key = hashlib.sha256(json.dumps(of, sort_keys=True, default=str).encode()).hexdigest()[:16]

    def write(self, steps: int, outcome: Mapping[str, Any], tensors: Mapping[str, Tensor], **facts: Any) -> None:
        """Keep the tensors after so many steps, with what the last one gave."""
        if self._folder is not None:
            told = {"of": self._key, "steps": steps, "outcome": dict(outcome), "facts": facts}
            checkpoints.write(self._folder, NAME, tensors, told)

    def read(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The tensors, and `steps`, `outcome` and `facts`; None where there is nothing of this search, or nothing whole."""
        if self._folder is None:
            return None
        try:
            tensors, told = checkpoints.read(self._folder, NAME)
        except RunError:
            return None
        return (tensors, told) if told.get("of") == self._key else None


def named(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of one part, under its name."""
    return {f"{part}{IN}{name}": tensor for name, tensor in tensors.items()}


def part_of(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Inverse of `named`, among the tensors of all parts."""
    start = f"{part}{IN}"
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


def optimiser_of(part: str, optimiser: Optimizer) -> dict[str, Tensor]:
    """What an optimiser remembers, under the name of its part."""
    return named(part, checkpoints.optimiser_tensors(optimiser))


def restore(part: str, optimiser: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Inverse of `optimiser_of`."""
    checkpoints.restore_optimiser(optimiser, part_of(part, tensors))
