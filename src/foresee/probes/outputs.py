"""Which tensor of a network's output is meant by "the outputs"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from foresee.errors import InputError, UnsupportedError, shown

#: which output counts: a function of what the network returns, the name of a key or an attribute, or a place in a tuple
Outputs = Callable[[Any], Any] | str | int
#: names of the tensor that counts, where nobody says which: those of classifiers, of Hugging Face's models, of segmentation
NAMES = ("logits", "last_hidden_state", "pooler_output", "out")


def logits_of(output: Any) -> Tensor:
    """The logits inside whatever a network returns.

    A tensor is itself. Something with `logits` (a dict's key, an attribute of a named tuple or dataclass) gives those, else
    the first of `NAMES` that it has. Of any other tuple or list the last tensor counts, because classifiers return
    `(features, logits)`; a single number among others is a loss, and does not.

    >>> import torch
    >>> features, logits = torch.zeros(2, 8), torch.ones(2, 3)
    >>> logits_of((features, logits)) is logits, logits_of({"logits": logits, "features": features}) is logits
    (True, True)
    >>> logits_of((logits, torch.tensor(0.7))) is logits
    True
    """
    if isinstance(output, Tensor):
        return output
    for name in NAMES:
        found = output.get(name) if isinstance(output, Mapping) else getattr(output, name, None)
        if isinstance(found, Tensor):
            return found
    if isinstance(output, tuple | list):
        tensors = [part for part in output if isinstance(part, Tensor)]
        rows = [part for part in tensors if part.ndim > 0]
        if tensors:
            return (rows or tensors)[-1]
    raise UnsupportedError(
        f"the network returns {type(output).__name__}: expected a tensor, a tuple with one, or something with `logits`; "
        "say which output counts: outputs=lambda out: ..., or a key"
    )


def selecting(outputs: Outputs | None) -> Callable[[Any], Tensor]:
    """How the outputs that count are found in what a network returns; None: `logits_of`.

    >>> selecting("mask")({"mask": torch.ones(2, 3), "logits": torch.zeros(2)}).shape
    torch.Size([2, 3])
    """
    if outputs is None:
        return logits_of
    if isinstance(outputs, bool) or not (callable(outputs) or isinstance(outputs, str | int)):
        raise InputError(
            f"outputs {shown(outputs)}: expected a function of what the network returns, a key or a number"
        )

    def select(output: Any) -> Tensor:
        found = outputs(output) if callable(outputs) else _part(output, outputs)
        if not isinstance(found, Tensor):
            name = "the function" if callable(outputs) else repr(outputs)
            raise UnsupportedError(f"outputs: {name} gives {type(found).__name__}, expected a tensor")
        return found

    return select


def _part(output: Any, name: str | int) -> Any:
    """A key, an attribute, or a place; where it is not there, what is."""
    if isinstance(name, str):
        if isinstance(output, Mapping) and name in output:
            return output[name]
        if not isinstance(output, Tensor) and hasattr(output, name):
            return getattr(output, name)
    elif isinstance(output, tuple | list | Mapping):
        values = list(output.values()) if isinstance(output, Mapping) else output
        if -len(values) <= name < len(values):
            return values[name]
    there = f" with {', '.join(map(str, output))}" if isinstance(output, Mapping) else ""
    there = f" of {len(output)}" if isinstance(output, tuple | list) else there
    raise UnsupportedError(f"outputs={name!r}: the network returns {type(output).__name__}{there}")


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
