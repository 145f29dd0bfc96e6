"""A batch: some inputs, and labels where there are any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from foresee.errors import DataError, InputError

#: what a network is called with: one tensor, several (dense and sparse features), or several by name
Inputs = Tensor | tuple[Tensor, ...] | Mapping[str, Tensor]


@dataclass(frozen=True, eq=False)
class Batch:
    """Inputs with the batch axis first, and labels or None.

    A tuple of inputs is passed to the network as separate arguments, a mapping as named ones. Whoever works on the inputs
    need not know which it is: `parts` are the tensors in a fixed order (names in sorted order), `call` hands them to a
    network, `rebuilt` puts others in their place.

    >>> batch = Batch({"x": torch.ones(2, 3), "scale": torch.full((2, 1), 5.0)})
    >>> batch.names, batch.call(lambda x, scale: (x * scale).sum().item())
    (('scale', 'x'), 30.0)
    """

    inputs: Inputs
    labels: Tensor | None = None

    def __post_init__(self) -> None:
        if isinstance(self.inputs, Mapping):
            # A copy of our own, in an order that does not depend on how it was written down.
            object.__setattr__(self, "inputs", {name: self.inputs[name] for name in sorted(self.inputs, key=str)})
        _check_kinds(self.inputs)
        for part in self.parts:
            _check_tensor(part, "inputs")
        if self.labels is not None:
            with torch._C.DisableTorchFunctionSubclass():  # of labels only the kind is asked, not the tensor itself
                _check_tensor(self.labels, "labels")
        sizes = {len(part) for part in self.parts}
        if len(sizes) != 1 or 0 in sizes:
            raise DataError(f"batch: inputs of {sorted(sizes)} samples; every part needs the same number, at least one")
        if self.labels is not None and len(self.labels) != len(self):
            raise DataError(f"batch: {len(self)} inputs but {len(self.labels)} labels")
        for part in self.parts:
            if not _finite(part):
                raise DataError("batch: the inputs hold NaN or infinite values; clean them first")

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """The inputs as a tuple, one or several; named ones in the order of `names`."""
        return parts_of(self.inputs)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the parts, sorted; None where they have none and go by position."""
        return tuple(self.inputs) if isinstance(self.inputs, Mapping) else None

    def call(self, network: Callable[..., Any], parts: Iterable[Tensor] | None = None) -> Any:
        """What the network answers to the inputs, or to other `parts` in their places."""
        return call(network, self.inputs if parts is None else alike(self.inputs, parts))

    def rebuilt(self, parts: Iterable[Tensor], labels: Tensor | Literal["same"] | None = "same") -> Batch:
        """A batch of the same structure with these parts, and these labels; the batch's own where nothing is said."""
        return Batch(alike(self.inputs, parts), self.labels if isinstance(labels, str) else labels)

    def each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """The same change made to every part and to the labels."""
        return self.rebuilt(map(change, self.parts), None if self.labels is None else change(self.labels))

    def placed(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """The same numbers on another device or in another layout; they are not looked at again, which would wait for it.

        >>> Batch(torch.ones(2, 3)).placed(lambda tensor: tensor.to("cpu")).inputs.shape
        torch.Size([2, 3])
        """
        made = object.__new__(Batch)
        object.__setattr__(made, "inputs", alike(self.inputs, map(change, self.parts)))
        object.__setattr__(made, "labels", None if self.labels is None else change(self.labels))
        return made

    def __len__(self) -> int:
        return len(self.parts[0])

    def first(self, count: int) -> Batch:
        """The first `count` samples."""
        return self[slice(0, count)]

    def __getitem__(self, chosen: slice | Tensor | list[int]) -> Batch:
        """Some of the samples: a slice, or their numbers in any order."""
        return self.each(lambda tensor: tensor[chosen])

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> Batch:
        """On a device, floating inputs in `dtype`; whole numbers stay whole numbers."""
        return self.each(lambda tensor: tensor.to(device, dtype if tensor.is_floating_point() else None))


def parts_of(inputs: Inputs) -> tuple[Tensor, ...]:
    """The tensors of inputs of any structure, in a fixed order."""
    if isinstance(inputs, Mapping):
        return tuple(inputs.values())
    return inputs if isinstance(inputs, tuple) else (inputs,)


def alike(inputs: Inputs, parts: Iterable[Tensor]) -> Inputs:
    """Inputs of the same structure with these tensors instead, in the order of `parts_of`."""
    given = tuple(parts)
    if len(given) != len(parts_of(inputs)):
        raise InputError(f"{len(given)} parts in the place of {len(parts_of(inputs))}")
    if isinstance(inputs, Mapping):
        return dict(zip(inputs, given, strict=True))
    return given if isinstance(inputs, tuple) else given[0]


def call(network: Callable[..., Any], inputs: Inputs) -> Any:
    """What a network answers to these inputs: a tuple is several arguments, a mapping named ones."""
    return network(**inputs) if isinstance(inputs, Mapping) else network(*parts_of(inputs))


def _check_kinds(inputs: Inputs) -> None:
    """Named inputs are texts to tensors."""
    if not isinstance(inputs, Mapping):
        return
    if not inputs:
        raise DataError("batch: an empty mapping; name at least one part")
    for name, part in inputs.items():
        if not isinstance(name, str) or not isinstance(part, Tensor):
            raise DataError(f"batch: part {name!r} is a {type(part).__name__}; expected a name and a tensor")


def _check_tensor(tensor: Any, what: str) -> None:
    """A tensor that can be looked at, sample by sample; nothing but its kind is touched."""
    if not isinstance(tensor, Tensor):
        raise DataError(f"batch: {what} of type {type(tensor).__name__}; expected a tensor")
    wrong = ""
    if tensor.is_nested:
        wrong = "nested; pad them to one tensor"
    elif tensor.layout is not torch.strided:
        wrong = f"sparse ({tensor.layout}); write .to_dense()"
    elif tensor.is_meta:
        wrong = "on the meta device; there are no numbers in them"
    elif tensor.is_quantized:
        wrong = "quantised; write .dequantize()"
    elif tensor.ndim == 0:
        wrong = "a single number; the first axis has to count the samples"
    elif tensor.dtype.is_complex:
        wrong = "complex numbers; write torch.view_as_real(...)"
    if wrong:
        raise DataError(f"batch: the {what} are {wrong}")


def _finite(part: Tensor) -> bool:
    if part.is_floating_point() and part.element_size() == 1:  # torch asks none of 8 bits
        part = part.to(torch.float32)
    return not part.is_floating_point() or bool(torch.isfinite(part).all())
