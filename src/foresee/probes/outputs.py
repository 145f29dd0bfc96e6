"""Which tensor of a network's output is meant by "the outputs"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
