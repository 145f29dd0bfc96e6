"""Which tensor of a network's output is meant by "the outputs"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from foresee.errors import UnsupportedError


def logits_of(output: Any) -> Tensor:
    """The logits inside whatever a network returns.

    A tensor is itself; something with `logits` (a dict's key, an attribute of a named tuple or dataclass) gives those; of
    any other tuple or list the last tensor counts, because classifiers return `(features, logits)`.

    >>> import torch
    >>> features, logits = torch.zeros(2, 8), torch.ones(2, 3)
    >>> logits_of((features, logits)) is logits, logits_of({"logits": logits, "features": features}) is logits
    (True, True)
    """
    if isinstance(output, Tensor):
        return output
    found = output.get("logits") if isinstance(output, Mapping) else getattr(output, "logits", None)
    if isinstance(found, Tensor):
        return found
    if isinstance(output, tuple | list):
        for part in reversed(output):
            if isinstance(part, Tensor):
                return part
    raise UnsupportedError(
        f"the network returns {type(output).__name__}: expected a tensor, a tuple with one, or something with `logits`"
    )


def check_rows(outputs: Tensor, samples: int) -> None:
    """Outputs that gradients are to be taken of are floating numbers, a row of them for each sample."""
    if outputs.is_nested or outputs.layout is not torch.strided or not outputs.is_floating_point():
        kind = "nested" if outputs.is_nested else str(outputs.layout).removeprefix("torch.")
        raise UnsupportedError(f"outputs of type {outputs.dtype}, {kind}: plain floating numbers are needed")
    if outputs.ndim == 0 or len(outputs) != samples:
        raise UnsupportedError(
            f"outputs of shape {tuple(outputs.shape)} for {samples} samples: one row per sample is needed"
        )
    if outputs.numel() == 0:
        raise UnsupportedError(f"outputs of shape {tuple(outputs.shape)}: there is no number in them")
